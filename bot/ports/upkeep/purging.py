"""Removing every text of an incident for good."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bot.ports.unit_of_work import Changes


class Purging(Protocol):
    """Removing every text of an incident for good. Raises StoreUnavailable."""

    async def purge(self, incident_id: str, marks: Sequence[str], changes: Changes) -> bool:
        """Remove record, index entry, life, briefs, notices, what was received and is owed about it, and what was said in
        every delivered message that names it, belongs to a brief that does, or holds one of the `marks`; its own messages
        are deleted. Earlier audit lines about it keep a hash of what they said. `changes` (the audit line, what is owed)
        is written with it. Again is fine: False, and only `changes` is written."""
        ...

    async def compact(self) -> None:
        """Overwrite what was deleted, so that no byte of it is left in the store's files. Raises StoreUnavailable where
        somebody reads an older state for so long that it must be tried again."""
        ...
