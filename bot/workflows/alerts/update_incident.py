"""Update the briefs of an incident when another notification about it arrives.

Each brief is edited to the incident's current state. A firing that is not the first one may also need to be noticed, for
Slack notifies nobody of an edit: a repeat under a new root gets one line that links to the brief, and if memory by now
recommends something else, a new brief supersedes the old one. While the alert flaps, the edit alone has to do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

from bot.domain.alerts.alert import PostDelivery
from bot.domain.alerts.suppression import Disposition
from bot.domain.brief.decide import add_evidence, add_lifecycle, is_same_advice
from bot.domain.delivery.ids import build_incident_key, build_repeat_id, build_superseding_id
from bot.domain.delivery.kinds import Operation
from bot.domain.incidents.lifecycle import IncidentState, Lifecycle, Transition, count_flaps
from bot.domain.incidents.opening import build_view, open_record, parse_ts
from bot.domain.incidents.record import Incident, Source
from bot.ports.chat import Chat, ChatMessage, Posting
from bot.ports.delivery.outbox import EDIT_EVERY_S, OutboxEntry, build_brief_edit, build_outbox_entry
from bot.ports.incidents import IncidentStore
from bot.ports.posts import PostedBrief
from bot.ports.surfaces import Surfaces
from bot.ports.unit_of_work import Changes, merge_changes
from bot.workflows.alerts.announce import HISTORY_DAYS, AnnounceIncident
from bot.workflows.alerts.read_post import AlertPost

REPEAT_NOTICE_AFTER = timedelta(minutes=30)
AGAIN = frozenset({Transition.REOPENED, Transition.ESCALATED, Transition.REPEATED})


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateIncident:
    """Edit an incident's briefs, and say what is new about it."""

    store: IncidentStore
    chat: Chat
    surfaces: Surfaces
    announce: AnnounceIncident

    async def __call__(
        self, post: AlertPost, before: Lifecycle, life: Lifecycle, did: Transition, *, fires: bool
    ) -> Changes:
        """Return the briefs as they are now, and what to send.

        `fires`: the post reports this incident as firing, so its channel must have a brief of it. Raises
        StoreUnavailable, ChatUnavailable.
        """
        posted = await self.store.list_briefs(life.incident_id)
        briefs = tuple(replace(b, brief=add_lifecycle(b.brief, build_view(life))) for b in posted)
        if did is Transition.REOPENED:
            past = await self.store.read_alert_history(life.fingerprint, life.visibility, post.at, HISTORY_DAYS, None)
            briefs = tuple(replace(b, brief=replace(b.brief, history=past)) for b in briefs)
        changes = Changes(briefs=briefs, deliveries=tuple(self._build_edit(b) for b in briefs))
        here = next((b for b in briefs if b.channel == post.channel.id), None)
        if did not in AGAIN and (here or not fires):
            return changes
        went_on = before.state is IncidentState.OPEN or (before.past and before.cleared_at is None)
        but = life.incident_id if went_on else None
        if here is None:
            announced = await self.announce(post, life, await self._find_record(post, life), but=but)
            return merge_changes(changes, announced)
        if post.admission.outcome is Disposition.COUNT_ONLY or count_flaps(life):
            return changes
        return await self._add_news(changes, post, life, did, here, but=but)

    async def _add_news(
        self, changes: Changes, post: AlertPost, life: Lifecycle, did: Transition, here: PostedBrief, but: str | None
    ) -> Changes:
        """Add the line under a new root, and the new brief if memory now recommends something else."""
        changes = replace(changes, deliveries=changes.deliveries + await self._build_repeat_line(post, here))
        if did is Transition.REPEATED:
            return changes
        fresh = replace(await self.announce.recall_brief(post, life, but=but), same_outage=here.brief.same_outage)
        fresh = add_evidence(fresh, here.brief.evidence, here.brief.evidence_at)  # new evidence comes by an edit
        if is_same_advice(fresh, here.brief):
            return changes
        newer = replace(
            here, brief=fresh, delivery_id=build_superseding_id(here.delivery_id, life.fired), message_ts=None
        )
        others = tuple(b for b in changes.briefs if b.channel != post.channel.id)
        return replace(changes, briefs=(*others, newer), deliveries=changes.deliveries + self._supersede(here, newer))

    async def _find_record(self, post: AlertPost, life: Lifecycle) -> Incident:
        """Return the incident's record; if it is gone, one made of this alert."""
        found = await self.store.find_records((life.incident_id,))
        source = Source("slack", post.url, post.channel.id, post.channel.visibility)
        made = open_record(life.incident_id, post.alert.title or "Alert", post.at, source, post.alert)
        return found.get(life.incident_id, made)

    def _build_edit(self, posted: PostedBrief) -> OutboxEntry:
        return build_brief_edit(posted, self.surfaces.render_brief(posted.brief), EDIT_EVERY_S)

    async def _build_repeat_line(self, post: AlertPost, here: PostedBrief) -> tuple[OutboxEntry, ...]:
        """Build the line under a new root post, unless the brief itself is still fresh."""
        is_new_root = post.root_ts == post.ts and post.ts != here.root_ts and post.alert.delivery is PostDelivery.POST
        posted = parse_ts(here.message_ts or "")
        if not is_new_root or posted is None or post.at - posted <= REPEAT_NOTICE_AFTER:
            return ()
        where = (here.message_channel, here.message_ts) if here.message_ts else (here.channel, here.root_ts)
        message = self.surfaces.render_repeat(here.brief, await self.chat.get_permalink(*where))
        return (_build_post(here, build_repeat_id(here.incident_id, post.channel.id, post.ts), message, post.ts),)

    def _supersede(self, old: PostedBrief, new: PostedBrief) -> tuple[OutboxEntry, ...]:
        """Post the new brief, and mark the old one as superseded."""
        message = self.surfaces.render_superseded(new.brief)
        outdated = replace(old.brief, verdict=f"Superseded by a newer brief below. {old.brief.verdict}"[:140])
        return (
            _build_post(new, new.delivery_id, message, new.root_ts),
            self._build_edit(replace(old, brief=outdated)),
        )


def _build_post(about: PostedBrief, delivery_id: str, message: ChatMessage, thread_ts: str) -> OutboxEntry:
    posting = Posting(
        Operation.POST,
        about.channel,
        delivery_id,
        message.text,
        message.blocks,
        thread_ts=thread_ts,
        incident_id=about.incident_id,
    )
    return build_outbox_entry(posting, key=build_incident_key(about.channel, about.incident_id))
