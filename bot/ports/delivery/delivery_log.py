"""What became of single deliveries to Slack, and what came last of an alert. Must not deliver or change anything."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class DeliveryOutcome:
    """A delivery: `result` is what it produced (a message ts), None until then; `dead` where it was given up."""

    delivery_id: str
    result: str | None = None
    dead: bool = False
    error: str | None = None


@dataclass(frozen=True, slots=True)
class LastReceivedEvent:
    """What came last of something: its number, name and time; `dead` where it was given up."""

    number: int
    name: str
    at: datetime
    dead: bool = False


class DeliveryLog(Protocol):
    """Raises StoreUnavailable."""

    async def find(self, delivery_id: str) -> DeliveryOutcome | None:
        """The delivery of this id; None if it was never owed."""
        ...

    async def find_last_received(self, order_key: str, prefix: str) -> LastReceivedEvent | None:
        """The newest thing received under this order key whose name begins with `prefix`."""
        ...

    async def list_queued(self, prefix: str, since: datetime) -> tuple[tuple[str, datetime], ...]:
        """The deliveries whose id begins with `prefix` that were first owed since then, with that time, oldest first."""
        ...

    async def find_latest_post(self, key: str) -> DeliveryOutcome | None:
        """The newest "post" that was owed to Slack under this key."""
        ...
