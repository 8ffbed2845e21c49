"""Report what a channel's past amounts to: its alerts, how often they fired, and the threads worth recording.

It reports what `Backfill` read. Must not read the channel, or render.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from bot.domain.incidents.lifecycle import IncidentState
from bot.domain.operations.backfill import AlertFamily, ThreadActivity, ThreadToRecord, choose_threads, group_families
from bot.domain.recall.query import OPERATOR
from bot.ports.alerts.backfill_progress import BackfillProgress, BackfillStore
from bot.ports.errors import IncidentNotFound
from bot.ports.incidents import IncidentStore

NOTHING_READ = "Nothing was read of {} yet: precedent backfill '{}' reads it."


@dataclass(frozen=True, slots=True)
class BackfillReport:
    """What was read of one channel since a moment."""

    progress: BackfillProgress
    since: datetime
    incidents: int
    # How many incidents are still open.
    open: int
    families: tuple[AlertFamily, ...]
    worth: tuple[ThreadToRecord, ...]


@dataclass(frozen=True, slots=True)
class ReportBackfill:
    """Sum up what the store holds of a channel."""

    backfills: BackfillStore
    store: IncidentStore

    async def __call__(self, channel: str, since: datetime, until: datetime) -> BackfillReport:
        """Return the report; `channel` is an id, or the name that the channel had when it was read.

        Raises IncidentNotFound if nothing of it was read yet, StoreUnavailable.
        """
        name = channel.removeprefix("#")
        found = await self.backfills.read_progress(name) or await self._find_by_name(name)
        if found is None:
            raise IncidentNotFound(NOTHING_READ.format(channel, channel))
        lives = await self.store.list_lifecycles(since, until, OPERATOR)
        records = await self.store.find_records([life.incident_id for life in lives])
        here = {key: r for key, r in records.items() if r.source.channel == found.channel}
        told = tuple(life for life in lives if life.incident_id in here)
        worth = choose_threads(told, here, await self._read_talks(found.channel))
        return BackfillReport(
            found,
            since,
            len(told),
            sum(life.state is IncidentState.OPEN for life in told),
            group_families(told, here),
            worth,
        )

    async def _find_by_name(self, name: str) -> BackfillProgress | None:
        channel = await self.backfills.find_channel(name)
        return await self.backfills.read_progress(channel) if channel else None

    async def _read_talks(self, channel: str) -> Mapping[str, tuple[str, ThreadActivity]]:
        """Return for each incident the thread in which most was written."""
        found: dict[str, tuple[str, ThreadActivity]] = {}
        for ts, talk in (await self.backfills.read_talks(channel)).items():
            incident = await self.store.find_incident(channel, ts)
            if incident and (incident not in found or talk.messages > found[incident][1].messages):
                found[incident] = (ts, talk)
        return found
