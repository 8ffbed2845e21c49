"""What the store keeps of how an alert became a brief, and of when alerts were seen last. Must not decide or change anything."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from bot.domain.access.visibility import Viewer
from bot.domain.brief.timings import Traced


class BriefTimingStore(Protocol):
    """Raises StoreUnavailable."""

    async def read_timings(self, incident_id: str, channel: str) -> Traced:
        """What is kept of this incident's brief in this channel; what is not kept (any more) is None."""
        ...

    async def list_last_alerts(self, viewer: Viewer, since: datetime, limit: int) -> tuple[tuple[str, datetime], ...]:
        """Channels with the time of the last alert seen there, latest first, of alerts that the viewer may see."""
        ...
