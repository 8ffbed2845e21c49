"""Announce an incident in a channel that has no brief of it yet: by that brief, or by its part in a storm.

A channel is checked for a storm twice: before the brief is decided, for in the thick of a storm there may be no time
for that, and after it, for other incidents may have opened in the meantime.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from bot.domain.alerts.alert import Severity
from bot.domain.alerts.suppression import Disposition
from bot.domain.brief.decide import Brief, SameOutage
from bot.domain.brief.then_and_now import take_snapshot
from bot.domain.delivery.ids import build_brief_id, build_incident_key, build_looked_id
from bot.domain.delivery.kinds import Operation
from bot.domain.incidents.lifecycle import IncidentState, Lifecycle
from bot.domain.incidents.opening import build_view, open_record
from bot.domain.incidents.outages import NEAR, has_shared_name, is_near_in_time
from bot.domain.incidents.record import Incident, Source
from bot.domain.operations.storms import AnswerPlace, OpenedIncident, PlacementDecision, build_opening, summarize_lead
from bot.ports.brief_preview import BriefPreview
from bot.ports.chat import Posting
from bot.ports.delivery.outbox import build_outbox_entry
from bot.ports.evidence import NO_SOURCES, EvidenceSources, attach_evidence
from bot.ports.incidents import IncidentStore
from bot.ports.posts import PostedBrief
from bot.ports.surfaces import Surfaces
from bot.ports.unit_of_work import Changes, add_storm_placement
from bot.workflows.alerts.read_post import AlertPost

HISTORY_DAYS = 30
# An alert of these severities about which memory knows nothing gets a reaction instead of a brief.
QUIET = frozenset({Severity.WARNING, Severity.INFO})
LOOKED_REACTION = "mag"


async def place_alone(_new: OpenedIncident) -> PlacementDecision:
    """Give each incident its own brief, where nobody looks for storms."""
    return PlacementDecision(AnswerPlace.OWN, "storms are not looked for")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnounceIncident:
    """Decide an incident's brief and queue it for a channel."""

    store: IncidentStore
    preview: BriefPreview
    surfaces: Surfaces
    group: Callable[[OpenedIncident], Awaitable[PlacementDecision]] = place_alone
    sources: EvidenceSources = NO_SOURCES

    async def __call__(
        self, post: AlertPost, life: Lifecycle, record: Incident, *, but: str | None, is_new: bool = False
    ) -> Changes:
        """Return the brief and its delivery, or the incident's place in a storm.

        `but` as in `recall_brief`; it is set if the incident was open before. Raises StoreUnavailable.
        """
        if post.admission.outcome is Disposition.COUNT_ONLY:
            return Changes()
        opening = build_opening(post.channel.id, post.root_ts, post.at, record, life.severity)
        opening = replace(opening, goes_on=but is not None)
        placed = await self.group(opening)
        if placed.place is AnswerPlace.SUMMARY_ONLY or placed.is_told:
            return add_storm_placement(Changes(), placed)
        brief = replace(await self._decide(post, life, but=but), read_at=post.read_at)
        placed = await self.group(
            replace(opening, lead=summarize_lead(brief))
        )  # others may have opened in the meantime
        if placed.place is not AnswerPlace.OWN:
            return add_storm_placement(Changes(), placed)
        if is_new:
            brief = replace(brief, same_outage=await self._find_same_outage(post, life))
        if brief.insufficient_memory and post.alert.severity in QUIET:
            answer = self._react(post, life)
        else:
            answer = add_storm_placement(self._reply(post, life, brief), placed)
        return replace(answer, records=(replace(record, evidence=take_snapshot(brief.evidence)),)) if is_new else answer

    async def recall_brief(self, post: AlertPost, life: Lifecycle, *, but: str | None) -> Brief:
        """Return the brief that memory gives now, without evidence.

        The last firing of incident `but` is left out of the alert's history, for the brief itself shows it.
        """
        history = await self.store.read_alert_history(life.fingerprint, life.visibility, post.at, HISTORY_DAYS, but)
        return await self.preview(post.alert, post.channel.viewer, post.at, incident=build_view(life), history=history)

    async def _decide(self, post: AlertPost, life: Lifecycle, *, but: str | None) -> Brief:
        """Decide the brief with the evidence that arrives by the deadline; sources are asked while memory is."""
        pending = self.sources.ask(post.alert, f"{life.incident_id}/{post.channel.id}")
        brief = await self.recall_brief(post, life, but=but)
        return attach_evidence(brief, await pending.collect())

    async def _find_same_outage(self, post: AlertPost, life: Lifecycle) -> SameOutage | None:
        """Return the earliest incident within half an hour, on the same service or vendor, that another tool announced."""
        lives = await self.store.list_lifecycles(life.opened_at - NEAR, life.opened_at + NEAR, post.channel.viewer)
        near = [one for one in lives if one.state is not IncidentState.DISMISSED and is_near_in_time(one, life)]
        found = await self.store.find_records([one.incident_id for one in near])
        own = open_record(life.incident_id, "", post.at, Source(), post.alert)
        for record in (found[one.incident_id] for one in near if one.incident_id in found):
            tool = next((a.tool for a in record.alerts if a.tool), None)
            if tool and tool != post.alert.tool and has_shared_name(own, record):
                return SameOutage(record.incident_id, tool, record.title[:80], record.source.url)
        return None

    def _react(self, post: AlertPost, life: Lifecycle) -> Changes:
        """Queue the reaction that says: looked at, nothing to report."""
        channel, incident_id = post.channel.id, life.incident_id
        posting = Posting(
            Operation.REACT,
            channel,
            build_looked_id(channel, incident_id),
            ts=post.ts,
            reaction=LOOKED_REACTION,
            incident_id=incident_id,
        )
        return Changes(deliveries=(build_outbox_entry(posting, key=build_incident_key(channel, incident_id)),))

    def _reply(self, post: AlertPost, life: Lifecycle, brief: Brief) -> Changes:
        """Queue the brief as a reply in the alert's thread."""
        channel, incident_id = post.channel.id, life.incident_id
        delivery = build_brief_id(incident_id, channel)
        message = self.surfaces.render_brief(brief, post.admission.tell)
        posting = Posting(
            Operation.POST,
            channel,
            delivery,
            message.text,
            message.blocks,
            thread_ts=post.root_ts,
            incident_id=incident_id,
        )
        return Changes(
            briefs=(PostedBrief(incident_id, channel, post.root_ts, delivery, brief),),
            deliveries=(build_outbox_entry(posting, key=build_incident_key(channel, incident_id)),),
        )
