"""What became of single deliveries to Slack, and what came last of an alert."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class DeliveryOutcome:
    """A delivery and what it produced."""

    delivery_id: str
    result: str | None = None  # what it produced (a message ts), None until then
    dead: bool = False  # it was given up
    error: str | None = None


@dataclass(frozen=True, slots=True)
class LastReceivedEvent:
    """The newest event about something."""

    number: int
    name: str
    at: datetime
    dead: bool = False  # it was given up


class DeliveryLog(Protocol):
    """Read the outbox and the inbox by id. Raises StoreUnavailable."""

    async def find(self, delivery_id: str) -> DeliveryOutcome | None:
        """Return the delivery of this id, None if it was never queued."""
        ...

    async def find_last_received(self, order_key: str, prefix: str) -> LastReceivedEvent | None:
        """Return the newest event received under this order key whose name begins with `prefix`."""
        ...

    async def list_queued(self, prefix: str, since: datetime) -> tuple[tuple[str, datetime], ...]:
        """Return (delivery id, time) of the deliveries whose id begins with `prefix` and that were first queued since
        then, oldest first."""
        ...

    async def find_latest_post(self, key: str) -> DeliveryOutcome | None:
        """Return the newest post to Slack that was queued under this key."""
        ...
