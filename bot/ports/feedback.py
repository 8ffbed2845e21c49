"""What persons say of precedents and fixes, kept. Must not know SQL or decide what follows from it.

Whatever is said is written with its audit line, and with what is owed for it, in one transaction.
"""

from __future__ import annotations

from typing import Protocol

from bot.domain.fixes.grouping import FixesSaid
from bot.domain.recall.dismissed import SetAside
from bot.domain.recall.query import Query
from bot.ports.unit_of_work import Changes


class SaidStore(Protocol):
    """Raises StoreUnavailable; then nothing was changed. A purge of an incident takes what was said of it along."""

    async def set_aside(self, aside: SetAside, changes: Changes) -> int:
        """Keep it; its number, or 0 (and nothing written) if `changes.once` was done. It takes the place of what was said
        of the same precedent for the same alert in the same visibility."""
        ...

    async def asides(self, query: Query | None = None, channel: str | None = None) -> tuple[SetAside, ...]:
        """What holds, oldest first: of what may concern this query; of what was said in this channel."""
        ...

    async def take_back(self, aside: SetAside, by: str, changes: Changes) -> bool:
        """End it; False (and nothing written) if it was ended before."""
        ...

    async def say_fixes(self, said: FixesSaid, changes: Changes) -> int:
        """Keep it; its number, or 0 (and nothing written) if `changes.once` was done."""
        ...

    async def fixes_said(self) -> tuple[FixesSaid, ...]:
        """What holds, oldest first."""
        ...

    async def take_back_fixes(self, said: FixesSaid, by: str, changes: Changes) -> bool:
        """End it; False (and nothing written) if it was ended before."""
        ...
