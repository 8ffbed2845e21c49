"""What became of single deliveries to Slack, and what came last of an alert. Must not deliver or change anything."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Delivered:
    """A delivery: `result` is what it produced (a message ts), None until then; `dead` where it was given up."""

    delivery_id: str
    result: str | None = None
    dead: bool = False
    error: str | None = None


@dataclass(frozen=True, slots=True)
class LastReceived:
    """What came last of something: its number, name and time; `dead` where it was given up."""

    number: int
    name: str
    at: datetime
    dead: bool = False


class Deliveries(Protocol):
    """Raises StoreUnavailable."""

    async def of(self, delivery_id: str) -> Delivered | None:
        """The delivery of this id; None if it was never owed."""
        ...

    async def last_received(self, order_key: str, prefix: str) -> LastReceived | None:
        """The newest thing received under this order key whose name begins with `prefix`."""
        ...

    async def owed_since(self, prefix: str, since: datetime) -> tuple[tuple[str, datetime], ...]:
        """The deliveries whose id begins with `prefix` that were first owed since then, with that time, oldest first."""
        ...

    async def latest_post(self, key: str) -> Delivered | None:
        """The newest "post" that was owed to Slack under this key."""
        ...
