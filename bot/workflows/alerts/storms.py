"""Group incidents of a channel into storms, and post one summary for each storm.

The domain decides what a storm is. The summary is written by whichever replica looks next, not by the incidents that
join, so these need not agree on its text. It is posted in the thread of the storm's first alert, and nowhere else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace

from bot.domain.delivery.ids import build_storm_id
from bot.domain.delivery.kinds import Operation
from bot.domain.operations.load import LoadShedding
from bot.domain.operations.storms import (
    OVER_AFTER,
    OpenedIncident,
    PlacementDecision,
    Storm,
    StormSummary,
    is_watched,
    place_incident,
    summarize_storm,
)
from bot.ports.alerts.storms import StormStore
from bot.ports.chat import Posting
from bot.ports.clock import Clock
from bot.ports.delivery.outbox import EDIT_EVERY_S, OutboxEntry, build_outbox_entry
from bot.ports.surfaces import Surfaces
from bot.ports.unit_of_work import Changes

EVERY_S = 1.0


@dataclass(frozen=True, slots=True)
class GroupStorms:
    """Decide where a new incident is announced, given what else opened in the channel."""

    storms: StormStore
    load: Callable[[], LoadShedding]

    async def __call__(self, new: OpenedIncident) -> PlacementDecision:
        """Return where this incident is announced; commit the result with `after_openings`. Raises StoreUnavailable."""
        near, opening_count = await self.storms.read_openings(
            new.channel, new.at - OVER_AFTER, new.at + OVER_AFTER, new.incident_id
        )
        placed = place_incident(near, new, self.load())
        return replace(placed, seen=opening_count)


@dataclass(frozen=True, slots=True)
class PostStormSummaries:
    """Post each storm's summary in the thread of its first alert, and edit it as the storm grows.

    Any number of replicas may do so: the store lets one of them record the summary that is shown.
    """

    storms: StormStore
    surfaces: Surfaces
    clock: Clock

    async def __call__(self) -> float:
        """Look at each storm once, and return the seconds until the next look. Raises StoreUnavailable."""
        for storm in await self.storms.list_watched():
            await self._update_summary(storm)
        return EVERY_S

    async def _update_summary(self, storm: Storm) -> None:
        members, now = await self.storms.list_members(storm.name), self.clock.now()
        if not members:
            await self.storms.save_summary(storm, storm.told, Changes(), watched=False)
            return
        summary = summarize_storm(storm, members, now)
        digest, watched = _hash_summary(summary), is_watched(summary, now)
        if digest == storm.told and watched:
            return
        news = Changes(deliveries=(self._build_row(storm, summary),)) if digest != storm.told else Changes()
        await self.storms.save_summary(storm, digest, news, watched=watched)

    def _build_row(self, storm: Storm, summary: StormSummary) -> OutboxEntry:
        message = self.surfaces.render_storm(summary)
        name = build_storm_id(storm.name)
        posting = Posting(
            Operation.POST,
            storm.channel,
            name,
            message.text,
            message.blocks,
            thread_ts=storm.root_ts,
            incident_id=storm.first,
        )
        return build_outbox_entry(posting, key=name, replaces=True, every_s=EDIT_EVERY_S)


def _hash_summary(summary: StormSummary) -> str:
    return hashlib.sha256(repr(summary).encode()).hexdigest()[:16]
