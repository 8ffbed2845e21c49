"""People's judgements on precedents and fixes.

Each is written with its audit line, and with what is queued for it, in one transaction.
"""

from __future__ import annotations

from typing import Protocol

from bot.domain.fixes.grouping import FixEquivalence
from bot.domain.recall.dismissed import DismissedPrecedent
from bot.domain.recall.query import Query
from bot.ports.unit_of_work import Changes


class FeedbackStore(Protocol):
    """Store judgements. Raises StoreUnavailable; then nothing was changed. A purge of an incident takes them along."""

    async def dismiss_precedent(self, aside: DismissedPrecedent, changes: Changes) -> int:
        """Store it and return its number, or 0 (and write nothing) if `changes.once` was done. It replaces a dismissal
        of the same precedent for the same alert in the same visibility."""
        ...

    async def list_dismissed(
        self, query: Query | None = None, channel: str | None = None
    ) -> tuple[DismissedPrecedent, ...]:
        """Return the dismissals in force, oldest first: those that may concern this query, and those made in this
        channel."""
        ...

    async def undo_dismissal(self, aside: DismissedPrecedent, by: str, changes: Changes) -> bool:
        """End it; False (and nothing written) if it was ended before."""
        ...

    async def add_fix_equivalence(self, said: FixEquivalence, changes: Changes) -> int:
        """Store it and return its number, or 0 (and write nothing) if `changes.once` was done."""
        ...

    async def list_fix_equivalences(self) -> tuple[FixEquivalence, ...]:
        """Return those in force, oldest first."""
        ...

    async def undo_fix_equivalence(self, said: FixEquivalence, by: str, changes: Changes) -> bool:
        """End it; False (and nothing written) if it was ended before."""
        ...
