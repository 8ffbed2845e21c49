"""Claims on periodic work: at most one replica does it."""

from __future__ import annotations

from datetime import date
from typing import Protocol

from bot.ports.unit_of_work import Changes


class ClaimStore(Protocol):
    """At most one owner for a named piece of periodic work, such as the digest of a local date."""

    async def claim(self, work: str, channel: str, period: date, changes: Changes) -> bool:
        """Claim and commit `changes` in one transaction; False (and nothing written) if it was claimed before."""
        ...
