"""Incidents that nobody was asked about yet, and asking exactly once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Protocol

from bot.domain.incidents.lifecycle import Lifecycle
from bot.ports.unit_of_work import Changes


class NudgeStore(Protocol):
    """Claims on asking people. Must not decide whom, when or how. Raises StoreUnavailable; then nothing was changed."""

    async def list_unasked(self, since: datetime) -> tuple[Lifecycle, ...]:
        """Return incidents that cleared, have a brief, no recorded end, were opened since then and were not asked
        about, newest first, at most 500."""
        ...

    async def claim(self, person: str, day: date, incident_ids: Sequence[str], changes: Changes) -> bool:
        """Ask this person on this day about these incidents, with `changes` in one transaction; False (and nothing
        written) if the person was asked on this day before, or anybody was about one of the incidents."""
        ...

    async def close(self, incident_id: str) -> None:
        """Note that nobody is to be asked about this incident any more."""
        ...
