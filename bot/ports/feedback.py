"""What persons say of precedents and fixes, kept. Must not know SQL or decide what follows from it.

Whatever is said is written with its audit line, and with what is owed for it, in one transaction.
"""

from __future__ import annotations

from typing import Protocol

from bot.domain.fixes.grouping import FixEquivalence
from bot.domain.recall.dismissed import DismissedPrecedent
from bot.domain.recall.query import Query
from bot.ports.unit_of_work import Changes


class FeedbackStore(Protocol):
    """Raises StoreUnavailable; then nothing was changed. A purge of an incident takes what was said of it along."""

    async def dismiss_precedent(self, aside: DismissedPrecedent, changes: Changes) -> int:
        """Keep it; its number, or 0 (and nothing written) if `changes.once` was done. It takes the place of what was said
        of the same precedent for the same alert in the same visibility."""
        ...

    async def list_dismissed(
        self, query: Query | None = None, channel: str | None = None
    ) -> tuple[DismissedPrecedent, ...]:
        """What holds, oldest first: of what may concern this query; of what was said in this channel."""
        ...

    async def undo_dismissal(self, aside: DismissedPrecedent, by: str, changes: Changes) -> bool:
        """End it; False (and nothing written) if it was ended before."""
        ...

    async def add_fix_equivalence(self, said: FixEquivalence, changes: Changes) -> int:
        """Keep it; its number, or 0 (and nothing written) if `changes.once` was done."""
        ...

    async def list_fix_equivalences(self) -> tuple[FixEquivalence, ...]:
        """What holds, oldest first."""
        ...

    async def undo_fix_equivalence(self, said: FixEquivalence, by: str, changes: Changes) -> bool:
        """End it; False (and nothing written) if it was ended before."""
        ...
