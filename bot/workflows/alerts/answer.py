"""Answer an alert: incident, recall, decision, and what is owed to its thread, in one durable commit.

Must not render, call Slack for anything but facts, or read what is no alert.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from bot.domain.access.visibility import Viewer
from bot.domain.alerts.alert import Alert, AlertState, Delivery, NotAlert, Severity
from bot.domain.alerts.notification import FIRES, Notice, notice_of
from bot.domain.alerts.suppression import ANSWERED, Admission, Outcome
from bot.domain.brief.decide import Brief, SameOutage, decide, same_advice, with_evidence, with_life
from bot.domain.brief.then_and_now import snapshot
from bot.domain.delivery.ids import (
    build_brief_id,
    build_incident_key,
    build_looked_id,
    build_repeat_id,
    build_superseding_id,
)
from bot.domain.delivery.kinds import Operation
from bot.domain.incidents.alert_history import AlertHistory
from bot.domain.incidents.lifecycle import Happened, IncidentState, Life, flapping, happened
from bot.domain.incidents.opening import IncidentView, opened_record, posted_at, view_of
from bot.domain.incidents.outages import NEAR, near_in_time, shared_names
from bot.domain.incidents.reconstruction import Chapter, replay
from bot.domain.incidents.record import Incident, Source
from bot.domain.operations.storms import Opening, Place, Placed, lead_of, opening_of
from bot.domain.recall.query import build_query
from bot.domain.recall.ranking import Recalled
from bot.ports.chat import Channel, Chat, ChatMessage, Posting, read_event_channel
from bot.ports.clock import Clock
from bot.ports.delivery.inbox import InboxRow
from bot.ports.delivery.outbox import EDIT_EVERY_S, OutboxEntry, build_brief_edit, build_outbox_entry
from bot.ports.errors import StoreConflict
from bot.ports.evidence import NO_SOURCES, EvidenceSources, attach_evidence, build_completion_work, build_refresh_work
from bot.ports.incidents import IncidentStore, RelatedIncidents, build_opening_key, find_moved_notifications
from bot.ports.memory import Recall, RecordIndex
from bot.ports.posts import IncidentPost, PostedBrief
from bot.ports.surfaces import Surfaces
from bot.ports.unit_of_work import Changes, add_storm_placement, merge_changes

HISTORY_DAYS = 30
REPEAT_NOTICE_AFTER = timedelta(minutes=30)
QUIET = frozenset({Severity.WARNING, Severity.INFO})
LOOKED_REACTION = "mag"
GENERIC_TOOL = "generic"
AGAIN = frozenset({Happened.REOPENED, Happened.ESCALATED, Happened.REPEATED})
# What is seen now may have changed with it.
LOOK_AGAIN = AGAIN | {Happened.CLEARED}


@dataclass(frozen=True, slots=True)
class AlertPost:
    """One alert post: where it stands, when, and what it says. `root_ts` is the thread that an answer belongs to;
    `refers_to` are the messages (channel, ts) that it links to; `read_at` is when it was read back after a gap; `past`: it
    was read long after it was posted."""

    channel: Channel
    ts: str
    root_ts: str
    at: datetime
    alert: Alert
    url: str | None
    refers_to: tuple[tuple[str, str], ...] = ()
    admission: Admission = ANSWERED
    read_at: datetime | None = None
    past: bool = False


@dataclass(frozen=True, slots=True)
class PreviewBrief:
    """The brief of an alert, for whoever may see it; nothing is stored or posted."""

    recall: Recall
    index: RecordIndex

    async def __call__(
        self,
        alert: Alert,
        viewer: Viewer,
        at: datetime,
        *,
        incident: IncidentView | None = None,
        history: AlertHistory | None = None,
        use_memory: bool = True,
    ) -> Brief:
        """Query, recall, decide; `at` is the alert's own time. Raises StoreUnavailable if nothing at all can be asked."""
        if not use_memory:
            return decide(alert, Recalled(), (), at, incident=incident, memory_mode="off")
        exclude = frozenset({incident.incident_id}) if incident else frozenset()
        query = build_query(alert, await self.index.list_known_names(), exclude)
        recalled = await self.recall.precedents(query, viewer)
        return decide(alert, recalled, (), at, incident=incident, history=history)


async def place_alone(_new: Opening) -> Placed:
    """Where storms are not looked for: each incident has its own brief."""
    return Placed(Place.OWN, "storms are not looked for")


async def admit_all(_row: InboxRow, _channel: Channel, _alert: Alert, _at: datetime) -> Admission:
    """Where nothing can be agreed in channels."""
    return ANSWERED


@dataclass(frozen=True, slots=True)
class AnswerAlert:
    """An alert's post becomes an incident's brief, or changes the one it has."""

    store: IncidentStore
    recall: Recall
    index: RecordIndex
    chat: Chat
    surfaces: Surfaces
    clock: Clock
    read: Callable[[Mapping[str, Any]], Alert | NotAlert]
    admit: Callable[[InboxRow, Channel, Alert, datetime], Awaitable[Admission]] = admit_all
    group: Callable[[Opening], Awaitable[Placed]] = place_alone
    sources: EvidenceSources = NO_SOURCES

    async def __call__(self, row: InboxRow) -> None:
        """Work one inbox row off. Raises StoreUnavailable (StoreConflict: take it again), ChatUnavailable."""
        post = await self._read_post(row.body)
        if post is None:
            await self.store.commit(Changes(done=row))
            return
        read_at = row.received_at if row.body["event"].get("read_back") else None
        post = replace(post, admission=await self.admit(row, post.channel, post.alert, post.at), read_at=read_at)
        if post.admission.outcome is Outcome.IGNORE:
            await self.store.commit(Changes(done=row))
            return
        notice, kept = await self._load_history(post)
        if any(notice.key == known.key for known in kept.notifications):
            await self.store.commit(Changes(done=row))
            return
        told = replay((*kept.notifications, notice), kept.lifecycles)
        changes = Changes(done=row, notifications=find_moved_notifications(told, kept))
        for chapter in told.chapters:
            changes = await self._apply_timeline(changes, chapter, kept, post, notice)
        changes = replace(changes, received=changes.received + build_completion_work(changes.briefs))
        if not await self.store.commit(changes):
            raise StoreConflict("Another worker opened this incident at the same moment; it is taken again.")

    async def _load_history(self, post: AlertPost) -> tuple[Notice, RelatedIncidents]:
        """The notice that the post is, and what is kept around it. An edit or an answer belongs to its post's incident,
        and so does an unknown bot's post about one."""
        notice = notice_of(post.alert, post.at, post.channel.visibility, post.channel.id, post.ts, post.root_ts)
        notice = replace(notice, past=post.past)
        known = await self._find_lifecycle(post)
        if known is None and post.alert.tool == GENERIC_TOOL and (known := await self._find_linked_incident(post)):
            notice = replace(notice, state=AlertState.UPDATE)
        if known is None:
            return notice, await self.store.find_related(notice)
        like = replace(notice, fingerprint=known.fingerprint, visibility=known.visibility)
        return notice, await self.store.find_related(like, known=known.incident_id)

    async def _find_lifecycle(self, post: AlertPost) -> Life | None:
        known = await self.store.find_incident(post.channel.id, post.ts)
        if known is None and post.root_ts != post.ts:
            known = await self.store.find_incident(post.channel.id, post.root_ts)
        return await self.store.read_lifecycle(known) if known else None

    async def _find_linked_incident(self, post: AlertPost) -> Life | None:
        """The incident that a post links to, unless it is the post's own alert that is told again."""
        for channel, ts in post.refers_to:
            if known := await self.store.find_incident(channel, ts):
                life = await self.store.read_lifecycle(known)
                if life.fingerprint != post.alert.fingerprint and life.visibility in (
                    "public",
                    post.channel.visibility,
                ):
                    return life
        return None

    async def _apply_timeline(
        self, changes: Changes, chapter: Chapter, kept: RelatedIncidents, post: AlertPost, notice: Notice
    ) -> Changes:
        """The changes, with what this incident owes for the notice that arrived."""
        before = next((life for life in kept.lifecycles if life.incident_id == chapter.life.incident_id), None)
        is_ours = any(n.key == notice.key for n in chapter.notices)
        if before is None:
            opened = await self._open(chapter, post, notice)
            return merge_changes(changes, opened, once=build_opening_key(kept, notice))
        did = happened(before, chapter.life, notice) if is_ours else Happened.UPDATED
        if not is_ours and before == replace(chapter.life, base=before.base):
            return changes
        seen = (IncidentPost(post.channel.id, post.ts, before.incident_id),) if is_ours else ()
        counted = (chapter.life,) if chapter.life != before else ()
        about = Changes(lifecycles=counted, posts=seen, dropped_notifications=chapter.dropped)
        if did is not Happened.NOTHING:
            fires = is_ours and post.alert.state in FIRES
            about = merge_changes(about, await self._change(post, before, chapter.life, did, fires=fires))
        if did in LOOK_AGAIN and self.sources.names:
            about = replace(about, received=build_refresh_work(chapter.life.incident_id, notice.key))
        return merge_changes(changes, about)

    async def _read_post(self, body: Mapping[str, Any]) -> AlertPost | None:
        event = body["event"]
        reading = self.read(event)
        if isinstance(reading, NotAlert):
            return None
        channel = await read_event_channel(self.chat, event)
        if channel.is_silent:
            return None
        is_edit = reading.delivery is Delivery.EDIT
        inner = event.get("message") if is_edit else event
        inner = inner if isinstance(inner, Mapping) else event
        ts = str(inner.get("ts") or event["ts"])
        by_slack = is_edit and not inner.get("edited")
        if by_slack and await self.store.find_incident(channel.id, ts):
            return None  # Slack added a preview of a link; the tool said nothing new
        said_at = str(event.get("event_ts") or event.get("ts") or ts) if is_edit and not by_slack else ts
        said_at = str(event.get("told_at") or said_at)  # of alerts that the bot posts itself
        at = posted_at(said_at) or self.clock.now()
        root_ts = str(inner.get("thread_ts") or ts)
        refers_to = tuple((str(c), str(t)) for c, t in event.get("refers_to") or ())
        url, past = await self.chat.get_permalink(channel.id, ts), bool(event.get("past"))
        return AlertPost(channel, ts, root_ts, at, reading, url, refers_to, past=past)

    async def _open(self, chapter: Chapter, post: AlertPost, notice: Notice) -> Changes:
        """A new incident: what its first notice opens. That is this post's, or an older one's that turned out to be
        another incident than was thought."""
        life = replace(chapter.life, incident_id=await self.store.new_incident_id())
        first = post if chapter.opening.key == notice.key else await self._rebuild_post(post, chapter.opening)
        source = Source("slack", first.url, first.channel.id, first.channel.visibility)
        record = opened_record(life.incident_id, first.alert.title or "Alert", first.at, source, first.alert)
        told = await self._announce(first, life, record, but=None, is_new=True)
        notices = tuple(replace(n, incident_id=life.incident_id) for n in chapter.notices)
        seen = tuple(IncidentPost(n.channel, n.ts, life.incident_id) for n in notices)
        records = told.records or (record,)
        return replace(told, lifecycles=(life,), records=records, notifications=notices, posts=seen)

    async def _announce(
        self, post: AlertPost, life: Life, record: Incident, *, but: str | None, is_new: bool = False
    ) -> Changes:
        """What a firing brings to a channel that has no brief of its incident: that brief, or its part in a storm."""
        if post.admission.outcome is Outcome.COUNT_ONLY:
            return Changes()
        opening = opening_of(post.channel.id, post.root_ts, post.at, record, life.severity)
        opening = replace(opening, goes_on=but is not None)
        placed = await self.group(opening)
        if placed.place is Place.SUMMARY_ONLY or placed.is_told:
            return add_storm_placement(Changes(), placed)
        brief = replace(await self._decide(post, life, but=but), read_at=post.read_at)
        placed = await self.group(replace(opening, lead=lead_of(brief)))  # others may have opened meanwhile
        if placed.place is not Place.OWN:
            return add_storm_placement(Changes(), placed)
        if is_new:
            brief = replace(brief, same_outage=await self._find_same_outage(post, life))
        briefs, due = self._build_answer(post, life, brief)
        seen = (replace(record, evidence=snapshot(brief.evidence)),) if is_new else ()
        told = Changes(briefs=briefs, deliveries=due, records=seen)
        return add_storm_placement(told, placed) if briefs else told

    async def _rebuild_post(self, post: AlertPost, opening: Notice) -> AlertPost:
        """The post of an older notice, as far as it is known: the same alert at another time and place."""
        alert = replace(post.alert, state=opening.state, delivery=opening.delivery, fingerprint=opening.fingerprint)
        url = await self.chat.get_permalink(opening.channel, opening.ts)
        channel = await self.chat.read_channel(opening.channel)
        return AlertPost(channel, opening.ts, opening.root_ts, opening.at, alert, url)

    async def _find_same_outage(self, post: AlertPost, life: Life) -> SameOutage | None:
        """The earliest incident that another tool announced within half an hour of this one, on the same service or
        vendor."""
        lives = await self.store.list_lifecycles(life.opened_at - NEAR, life.opened_at + NEAR, post.channel.viewer)
        near = [one for one in lives if one.state is not IncidentState.DISMISSED and near_in_time(one, life)]
        found = await self.store.find_records([one.incident_id for one in near])
        own = opened_record(life.incident_id, "", post.at, Source(), post.alert)
        for record in (found[one.incident_id] for one in near if one.incident_id in found):
            tool = next((a.tool for a in record.alerts if a.tool), None)
            if tool and tool != post.alert.tool and shared_names(own, record):
                return SameOutage(record.incident_id, tool, record.title[:80], record.source.url)
        return None

    async def _change(self, post: AlertPost, before: Life, life: Life, did: Happened, *, fires: bool) -> Changes:
        """The briefs as they are now, and what is owed. `fires`: the post says of this incident that it fires, so that
        there must be a brief in its channel."""
        posted = await self.store.list_briefs(life.incident_id)
        briefs = tuple(replace(b, brief=with_life(b.brief, view_of(life))) for b in posted)
        if did is Happened.REOPENED:
            past = await self.store.read_alert_history(life.fingerprint, life.visibility, post.at, HISTORY_DAYS, None)
            briefs = tuple(replace(b, brief=replace(b.brief, history=past)) for b in briefs)
        due = tuple(self._build_edit(b) for b in briefs)
        here = next((b for b in briefs if b.channel == post.channel.id), None)
        if did not in AGAIN and (here or not fires):
            return Changes(briefs=briefs, deliveries=due)
        went_on = before.state is IncidentState.OPEN or (before.past and before.cleared_at is None)
        but = life.incident_id if went_on else None
        if here is None:
            told = await self._announce(post, life, await self._find_record(post, life), but=but)
            return merge_changes(Changes(briefs=briefs, deliveries=due), told)
        briefs, more = await self._refire(post, life, did, here, briefs, but=but)
        return Changes(briefs=briefs, deliveries=due + more)

    async def _refire(
        self,
        post: AlertPost,
        life: Life,
        did: Happened,
        here: PostedBrief,
        briefs: tuple[PostedBrief, ...],
        but: str | None,
    ) -> tuple[tuple[PostedBrief, ...], tuple[OutboxEntry, ...]]:
        """What a firing that is not the first owes: the brief where there is none yet, one line under a new root, and
        a reply where memory now recommends something else. While it flaps, the brief alone says so."""
        if post.admission.outcome is Outcome.COUNT_ONLY:
            return briefs, ()
        if flapping(life):
            return briefs, ()
        due = await self._build_repeat_line(post, here)
        if did is Happened.REPEATED:
            return briefs, due
        fresh = replace(await self._recall_brief(post, life, but=but), same_outage=here.brief.same_outage)
        fresh = with_evidence(fresh, here.brief.evidence, here.brief.evidence_at)  # what is seen now comes by an edit
        if same_advice(fresh, here.brief):
            return briefs, due
        newer = replace(
            here, brief=fresh, delivery_id=build_superseding_id(here.delivery_id, life.fired), message_ts=None
        )
        others = tuple(b for b in briefs if b.channel != post.channel.id)
        return (*others, newer), (*due, *self._supersede(here, newer))

    async def _find_record(self, post: AlertPost, life: Life) -> Incident:
        """What the incident's record says; where it is gone, what this alert does."""
        found = await self.store.find_records((life.incident_id,))
        source = Source("slack", post.url, post.channel.id, post.channel.visibility)
        made = opened_record(life.incident_id, post.alert.title or "Alert", post.at, source, post.alert)
        return found.get(life.incident_id, made)

    async def _decide(self, post: AlertPost, life: Life, *, but: str | None) -> Brief:
        """The brief now, with what sources show by their deadline: they are asked while memory is."""
        asked = self.sources.ask(post.alert, f"{life.incident_id}/{post.channel.id}")
        brief = await self._recall_brief(post, life, but=but)
        return attach_evidence(brief, await asked.collect())

    async def _recall_brief(self, post: AlertPost, life: Life, *, but: str | None) -> Brief:
        """What memory says now. Of incident `but` the last firing is left out of the history, for it is told of."""
        history = await self.store.read_alert_history(life.fingerprint, life.visibility, post.at, HISTORY_DAYS, but)
        preview = PreviewBrief(self.recall, self.index)
        return await preview(post.alert, post.channel.viewer, post.at, incident=view_of(life), history=history)

    def _build_answer(
        self, post: AlertPost, life: Life, brief: Brief
    ) -> tuple[tuple[PostedBrief, ...], tuple[OutboxEntry, ...]]:
        key = build_incident_key(post.channel.id, life.incident_id)
        if brief.insufficient_memory and post.alert.severity in QUIET:
            looked = Posting(
                Operation.REACT,
                post.channel.id,
                build_looked_id(post.channel.id, life.incident_id),
                ts=post.ts,
                reaction=LOOKED_REACTION,
                incident_id=life.incident_id,
            )
            return (), (build_outbox_entry(looked, key=key),)
        delivery = build_brief_id(life.incident_id, post.channel.id)
        message = self.surfaces.render_brief(brief, post.admission.tell)
        posting = _build_posting(
            Operation.POST, post.channel.id, delivery, message, life.incident_id, thread_ts=post.root_ts
        )
        return (PostedBrief(life.incident_id, post.channel.id, post.root_ts, delivery, brief),), (
            build_outbox_entry(posting, key=key),
        )

    def _build_edit(self, posted: PostedBrief) -> OutboxEntry:
        return build_brief_edit(posted, self.surfaces.render_brief(posted.brief), EDIT_EVERY_S)

    async def _build_repeat_line(self, post: AlertPost, here: PostedBrief) -> tuple[OutboxEntry, ...]:
        is_new_root = post.root_ts == post.ts and post.ts != here.root_ts and post.alert.delivery is Delivery.POST
        posted = posted_at(here.message_ts or "")
        if not is_new_root or posted is None or post.at - posted <= REPEAT_NOTICE_AFTER:
            return ()
        link = await self._find_link(here)
        message = self.surfaces.render_repeat(here.brief, link)
        delivery = build_repeat_id(here.incident_id, post.channel.id, post.ts)
        posting = _build_posting(
            Operation.POST, post.channel.id, delivery, message, here.incident_id, thread_ts=post.ts
        )
        return (build_outbox_entry(posting, key=build_incident_key(post.channel.id, here.incident_id)),)

    async def _find_link(self, here: PostedBrief) -> str | None:
        where = (here.message_channel, here.message_ts) if here.message_ts else (here.channel, here.root_ts)
        return await self.chat.get_permalink(*where)

    def _supersede(self, old: PostedBrief, new: PostedBrief) -> tuple[OutboxEntry, ...]:
        reply = self.surfaces.render_superseded(new.brief)
        posting = _build_posting(
            Operation.POST, new.channel, new.delivery_id, reply, new.incident_id, thread_ts=new.root_ts
        )
        outdated = replace(old.brief, verdict=f"Superseded by a newer brief below. {old.brief.verdict}"[:140])
        return (
            build_outbox_entry(posting, key=build_incident_key(new.channel, new.incident_id)),
            self._build_edit(replace(old, brief=outdated)),
        )


def _build_posting(
    operation: Operation, channel: str, delivery: str, message: ChatMessage, incident: str, thread_ts: str | None = None
) -> Posting:
    return Posting(
        operation, channel, delivery, message.text, message.blocks, thread_ts=thread_ts, incident_id=incident
    )
