"""Storms: the openings of a channel, and the storms whose summary may still change.

Openings and storms are written by `IncidentStore.commit` (`Changes.openings`, `Changes.storm`).
"""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from bot.domain.operations.storms import OpenedIncident, Storm, StormMember
from bot.ports.unit_of_work import Changes


class StormStore(Protocol):
    """Read openings and storms. Must not decide what a storm is. Raises StoreUnavailable."""

    async def read_openings(
        self, channel: str, since: datetime, until: datetime, incident_id: str
    ) -> tuple[tuple[OpenedIncident, ...], int]:
        """Return what opened there between these moments (those with a brief, and the last others), that of this
        incident whenever it was, and how many openings the channel has had: the number to name in
        `Changes.after_openings`."""
        ...

    async def list_watched(self) -> tuple[Storm, ...]:
        """Return the storms whose summary may still change, oldest first."""
        ...

    async def list_members(self, storm: str) -> tuple[StormMember, ...]:
        """Return a storm's incidents with their states."""
        ...

    async def save_summary(self, storm: Storm, told: str, changes: Changes, *, watched: bool) -> bool:
        """Note what the summary says now, and commit `changes` with it; False, and nothing is written, if the storm
        changed since it was read."""
        ...
