"""The store of incidents: records, lifecycles, notifications and briefs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.domain.access.visibility import Viewer
from bot.domain.alerts.notification import Notification
from bot.domain.incidents.alert_history import AlertHistory
from bot.domain.incidents.lifecycle import Lifecycle
from bot.domain.incidents.reconstruction import Timeline
from bot.domain.incidents.record import Incident
from bot.ports.errors import IncidentNotFound
from bot.ports.posts import PostedBrief
from bot.ports.unit_of_work import Changes


@dataclass(frozen=True, slots=True)
class RelatedIncidents:
    """What is stored about an alert around one moment."""

    lifecycles: tuple[Lifecycle, ...] = ()
    notifications: tuple[Notification, ...] = ()


class IncidentStore(Protocol):
    """Incidents, their lifecycles and briefs. Raises StoreUnavailable (StoreConflict from `commit`), IncidentNotFound."""

    async def commit(self, changes: Changes) -> bool:
        """Write everything durably in one transaction; False if `once` was already done (nothing is written)."""
        ...

    async def new_incident_id(self) -> str:
        """Return the next "INC-<n>": never the same twice, never one that an import brought."""
        ...

    async def read_record(self, incident_id: str) -> Incident:
        """Return the record. Raises IncidentNotFound."""
        ...

    async def find_records(self, incident_ids: Sequence[str]) -> Mapping[str, Incident]:
        """Return those of these records that exist, by id."""
        ...

    async def find_retracted(self, incident_ids: Sequence[str]) -> frozenset[str]:
        """Return those of these ids that were retracted: nothing may bring them back by itself."""
        ...

    async def list_records(self, viewer: Viewer, *, recallable_only: bool = False) -> tuple[Incident, ...]:
        """Return all records the viewer may see, by id (for digests and export)."""
        ...

    def stream_records(self, viewer: Viewer) -> AsyncIterator[Incident]:
        """Yield all records the viewer may see, by id, without holding them all in memory."""
        ...

    async def read_lifecycle(self, incident_id: str) -> Lifecycle:
        """Return the lifecycle of one incident. Raises IncidentNotFound."""
        ...

    async def find_latest_lifecycle(self, fingerprint: str, visibility: str) -> Lifecycle | None:
        """Return the most recently opened incident of this fingerprint in this visibility."""
        ...

    async def find_related(self, notice: Notification, *, known: str | None = None) -> RelatedIncidents:
        """Return what this notification may touch: of its fingerprint and visibility the last incident opened by then
        and the first one after, the incident `known`, and the notifications of no incident that have its fingerprint or
        speak of its post."""
        ...

    async def list_lifecycles(self, since: datetime, until: datetime, viewer: Viewer) -> tuple[Lifecycle, ...]:
        """Return lifecycles opened in [since, until), oldest first."""
        ...

    async def list_open_lifecycles(self, viewer: Viewer) -> tuple[Lifecycle, ...]:
        """Return lifecycles that are open or cleared but not resolved, newest first, at most 100."""
        ...

    async def read_alert_history(
        self, fingerprint: str, visibility: str, now: datetime, days: int, but: str | None
    ) -> AlertHistory:
        """Return what alerts alone show of this fingerprint in the last `days`, leaving out the last firing of incident
        `but`."""
        ...

    async def list_briefs(self, incident_id: str) -> tuple[PostedBrief, ...]:
        """Return the incident's briefs, one per channel; `message_ts` is filled once delivered."""
        ...

    async def find_incident(self, channel: str, ts: str) -> str | None:
        """The incident a message belongs to: an alert's post, a repeat, the brief itself, or the thread's root."""
        ...

    async def count_posts(self, since: datetime) -> Mapping[str, int]:
        """How many messages and files were posted about each incident since then, by id, as far as rows are kept."""
        ...

    async def find_briefs_naming(self, incident_id: str, since: datetime | None = None) -> tuple[PostedBrief, ...]:
        """The briefs of other incidents that speak of this one; with `since`, of those only the ones that were first
        posted since then, or whose incident is not resolved."""
        ...

    async def list_brief_channels(self, since: datetime) -> tuple[str, ...]:
        """Channels in which a brief was posted since then (they get the digest)."""
        ...


async def find_lifecycle(store: IncidentStore, incident_id: str) -> Lifecycle | None:
    """Return the lifecycle of one incident; None for an imported record, or one that is gone. Raises StoreUnavailable."""
    try:
        return await store.read_lifecycle(incident_id)
    except IncidentNotFound:
        return None


async def require_brief(store: IncidentStore, incident_id: str, channel_id: str) -> PostedBrief:
    """Return the incident's brief in a channel. Raises IncidentNotFound if it has none there, StoreUnavailable."""
    for brief in await store.list_briefs(incident_id):
        if brief.channel == channel_id:
            return brief
    raise IncidentNotFound(f"{incident_id} has no brief in this channel.")


def find_moved_notifications(told: Timeline, kept: RelatedIncidents) -> tuple[Notification, ...]:
    """Return the notifications that are new, or belong to another incident than was thought; those of new incidents
    come later."""
    known = {notice.key: notice for notice in kept.notifications}
    now = [n for chapter in told.incidents for n in chapter.notifications if chapter.life.incident_id]
    return tuple(n for n in (*now, *told.early) if known.get(n.key) != n)


def build_opening_key(kept: RelatedIncidents, notice: Notification) -> str:
    """Name the gap between two incidents in which a new one opens: only one can."""
    before = [life.incident_id for life in kept.lifecycles if life.opened_at <= notice.at]
    after = [life.incident_id for life in kept.lifecycles if life.opened_at > notice.at]
    between = f"{before[-1] if before else '-'}/{after[0] if after else '-'}"
    return f"open/{notice.visibility}/{notice.fingerprint}/{between}"
