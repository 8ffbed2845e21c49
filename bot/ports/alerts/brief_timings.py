"""What the store keeps of how an alert became a brief, and of when alerts were last seen."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from bot.domain.access.visibility import Viewer
from bot.domain.brief.timings import BriefTimings


class BriefTimingStore(Protocol):
    """Timings, read from rows that are stored anyway. Raises StoreUnavailable."""

    async def read_timings(self, incident_id: str, channel: str) -> BriefTimings:
        """Return the timings of an incident's brief in a channel; what is no longer stored is None."""
        ...

    async def list_last_alerts(self, viewer: Viewer, since: datetime, limit: int) -> tuple[tuple[str, datetime], ...]:
        """Return (channel, time of the last alert there), latest first, of alerts that the viewer may see."""
        ...
