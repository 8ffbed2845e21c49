"""Show everything behind a brief, or the same brief without memory, to one person who may see it now.

Must not post or store anything, or show what the viewer may no longer see.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from bot.domain.access.visibility import Viewer
from bot.domain.brief.decide import Brief, add_evidence
from bot.domain.brief.timings import TimingStep, list_timing_steps
from bot.domain.recall.query import build_query
from bot.domain.recall.ranking import OutsideMemory
from bot.ports.alerts.brief_timings import BriefTimingStore
from bot.ports.brief_preview import BriefPreview
from bot.ports.clock import Clock
from bot.ports.errors import IncidentNotFound
from bot.ports.incidents import IncidentStore
from bot.ports.memory import Recall, RecordIndex
from bot.ports.posts import PostedBrief

NO_BRIEF = "{} has no brief in this channel."


@dataclass(frozen=True, slots=True)
class BriefDetails:
    """A brief in full."""

    brief: Brief
    # True if this is not the brief as posted, because something in that one is gone or not for this viewer.
    anew: bool = False
    # Texts that a shared bank holds without a record; never counted.
    outside: tuple[OutsideMemory, ...] = ()
    # How the alert became this brief, step by step.
    trace: tuple[TimingStep, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowDetails:
    """Show the details of an incident's brief in a channel."""

    store: IncidentStore
    recall: Recall
    index: RecordIndex
    preview: BriefPreview
    clock: Clock
    traces: BriefTimingStore | None = None

    async def __call__(self, incident_id: str, channel_id: str, viewer: Viewer) -> BriefDetails:
        """Return the details for this viewer. Raises IncidentNotFound (no brief in this channel), StoreUnavailable."""
        brief, anew = await self._read_visible(await self._find_posted(incident_id, channel_id), viewer)
        query = build_query(brief.alert, await self.index.list_known_names(), frozenset({incident_id}))
        traced = await self.traces.read_timings(incident_id, channel_id) if self.traces else None
        trace = list_timing_steps(traced, brief) if traced else ()
        return BriefDetails(brief, anew, (await self.recall.precedents(query, viewer)).outside, trace)

    async def read_brief(self, incident_id: str, channel_id: str, viewer: Viewer) -> Brief:
        """Return the brief as this viewer may see it now. Raises IncidentNotFound, StoreUnavailable."""
        return (await self._read_visible(await self._find_posted(incident_id, channel_id), viewer))[0]

    async def compare(self, incident_id: str, channel_id: str, viewer: Viewer) -> tuple[Brief, Brief]:
        """Return the brief with memory, and without. Raises IncidentNotFound, StoreUnavailable."""
        brief, _ = await self._read_visible(await self._find_posted(incident_id, channel_id), viewer)
        at = brief.now or self.clock.now()
        without = await self.preview(brief.alert, viewer, at, incident=brief.incident, use_memory=False)
        return brief, add_evidence(without, brief.evidence, brief.evidence_at)

    async def _find_posted(self, incident_id: str, channel_id: str) -> PostedBrief:
        here = [b for b in await self.store.list_briefs(incident_id) if b.is_shown_here(channel_id)]
        if not here:
            raise IncidentNotFound(NO_BRIEF.format(incident_id))
        return here[0]

    async def _read_visible(self, posted: PostedBrief, viewer: Viewer) -> tuple[Brief, bool]:
        """Return the brief as posted if the viewer may see all that it rests on, else one computed for them (True)."""
        brief = posted.brief
        named = tuple(dict.fromkeys(_list_incidents(brief)))
        found = await self.store.find_records(named)
        if all(n in found and viewer.may_see(found[n].source.visibility) for n in named):
            return brief, False
        at = brief.now or self.clock.now()
        fresh = await self.preview(brief.alert, viewer, at, incident=brief.incident, history=brief.history)
        return replace(add_evidence(fresh, brief.evidence, brief.evidence_at), same_outage=None), True


def _list_incidents(brief: Brief) -> Iterator[str]:
    """Yield the incidents that a brief rests on or lists."""
    yield from (source.incident_id for source in (*brief.sources, *brief.possible))
    if brief.same_outage:
        yield brief.same_outage.incident_id
    if brief.root_cause:
        yield brief.root_cause.incident_id
    rated = (*((brief.recommendation,) if brief.recommendation else ()), *brief.alternatives)
    for group in (*rated, *brief.did_not_work, *brief.skip, *brief.later):
        yield from group.incidents
