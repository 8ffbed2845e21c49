"""Deleting what is past its retention period."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class DeletedCounts:
    """How many rows were deleted, by what they were."""

    sent: int
    once: int
    dead_events: int
    audit: int
    early: int = 0
    silences: int = 0
    notices: int = 0
    model_sent: int = 0
    deploys: int = 0


class Retention(Protocol):
    """Delete what has expired. Raises StoreUnavailable."""

    async def delete_expired(
        self,
        *,
        before: datetime,
        audit_before: datetime,
        notices_before: datetime | None = None,
        sent_before: datetime | None = None,
    ) -> DeletedCounts:
        """Delete what is older than its limit and return how much that was.

        Older than `before`: sent rows, `once` keys, dead events, deploys, notifications of no incident (`early`), mutes
        that ended, and undone rules and mutes with what they silenced (`silences`). Older than `audit_before`: audit
        lines; than `notices_before`: notifications of incidents that are not open; than `sent_before`: what models were
        sent. Undelivered rows stay, however old; so does the address of a brief's message.
        """
        ...
