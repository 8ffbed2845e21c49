"""Removing every text of an incident for good."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bot.ports.unit_of_work import Changes


class Purging(Protocol):
    """Remove texts. Raises StoreUnavailable."""

    async def purge(self, incident_id: str, marks: Sequence[str], changes: Changes) -> bool:
        """Remove an incident and everything that quotes it; False where nothing of it was left (then only `changes` is
        written).

        Removed are record, index entry, lifecycle, briefs, notifications, what was received and queued about it, and
        the text of every delivered message that names it, belongs to a brief that does, or holds one of the `marks`;
        its own messages are deleted from Slack. Earlier audit lines about it keep a hash of their text. `changes` (the
        audit line, what is queued) is written in the same transaction.
        """
        ...

    async def compact(self) -> None:
        """Overwrite what was deleted, so that no byte of it is left in the store's files. Raises StoreUnavailable where
        somebody reads an older state for so long that it must be tried again."""
        ...
