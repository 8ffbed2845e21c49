"""Deleting what is past its retention period."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class DeletedCounts:
    """How much was deleted."""

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
    """Deleting what is kept no longer. Raises StoreUnavailable."""

    async def delete_expired(
        self,
        *,
        before: datetime,
        audit_before: datetime,
        notices_before: datetime | None = None,
        sent_before: datetime | None = None,
    ) -> DeletedCounts:
        """Delete sent rows, `once` keys, dead events, deploys and notices of no incident (`early`) older than `before`; mutes that
        ended and rules and mutes that were undone before then (`silences`), with what they silenced; audit lines older
        than `audit_before`; notices older than `notices_before` of incidents that are not open; and what models were sent
        before `sent_before`.
        What is still owed stays, however old; so does the address of a brief's message."""
        ...
