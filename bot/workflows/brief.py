"""Answer an alert: incident, recall, decision, and what is owed to its thread, in one durable commit (design 6, 7).

Must not render, call Slack for anything but facts, or read what is no alert.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from bot.domain.admission import ANSWERED, Admission, Outcome
from bot.domain.alert import Alert, Delivery, NotAlert, Severity
from bot.domain.brief import AlertHistory, Brief, IncidentView, decide, same_advice, with_life
from bot.domain.incident import Source
from bot.domain.lifecycle import Happened, Life, advance, opens
from bot.domain.opening import opened_record, posted_at, view_of
from bot.domain.query import Viewer, build_query
from bot.domain.ranking import Recalled
from bot.ports import StoreConflict
from bot.ports.chat import Channel, Chat, Message, Posting, Surfaces
from bot.ports.clock import Clock
from bot.ports.memory import Index, Recall
from bot.ports.parts import owed
from bot.ports.store import Changes, InboxRow, IncidentStore, Owed, PostedBrief, SeenPost

HISTORY_DAYS = 30
REPEAT_NOTICE_AFTER = timedelta(minutes=30)
QUIET = frozenset({Severity.WARNING, Severity.INFO})
LOOKED = "mag"


@dataclass(frozen=True, slots=True)
class Post:
    """One alert post: where it stands, when, and what it says. `root_ts` is the thread that an answer belongs to."""

    channel: Channel
    ts: str
    root_ts: str
    at: datetime
    alert: Alert
    url: str | None
    admission: Admission = ANSWERED


@dataclass(frozen=True, slots=True)
class PreviewBrief:
    """The brief of an alert, for whoever may see it; nothing is stored or posted."""

    recall: Recall
    index: Index

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
        query = build_query(alert, await self.index.known_names(), exclude)
        recalled = await self.recall.precedents(query, viewer)
        return decide(alert, recalled, (), at, incident=incident, history=history)


async def answer_all(_row: InboxRow, _channel: Channel, _alert: Alert, _at: datetime) -> Admission:
    """Where nothing can be agreed in channels."""
    return ANSWERED


@dataclass(frozen=True, slots=True)
class AnswerAlert:
    """An alert's post becomes an incident's brief, or changes the one it has."""

    store: IncidentStore
    recall: Recall
    index: Index
    chat: Chat
    surfaces: Surfaces
    clock: Clock
    read: Callable[[Mapping[str, Any]], Alert | NotAlert]
    admit: Callable[[InboxRow, Channel, Alert, datetime], Awaitable[Admission]] = answer_all

    async def __call__(self, row: InboxRow) -> None:
        """Work one inbox row off. Raises StoreUnavailable (StoreConflict: take it again), ChatUnavailable."""
        post = await self._post(row.body)
        if post is None:
            await self.store.commit(Changes(done=row))
            return
        post = replace(post, admission=await self.admit(row, post.channel, post.alert, post.at))
        if post.admission.outcome is Outcome.IGNORE:
            await self.store.commit(Changes(done=row))
            return
        before = await self._life_of(post)
        new_id = await self.store.new_incident_id() if opens(before, post.alert, post.at) else None
        step = advance(before, post.alert, post.at, new_id=new_id, visibility=post.channel.visibility)
        if step.life is None:
            await self.store.commit(Changes(done=row))
        elif step.happened is Happened.NOTHING:
            counted = (step.life,) if step.life != before else ()
            seen = (SeenPost(post.channel.id, post.ts, step.life.incident_id),)
            await self.store.commit(Changes(lives=counted, done=row, seen_posts=seen))
        elif step.happened is Happened.OPENED:
            await self._open(row, post, step.life, before)
        else:
            await self._change(row, post, step.life, step.happened)

    async def _post(self, body: Mapping[str, Any]) -> Post | None:
        event = body["event"]
        reading = self.read(event)
        if isinstance(reading, NotAlert):
            return None
        channel = await self.chat.channel(event["channel"])
        if channel.is_silent:
            return None
        is_edit = reading.delivery is Delivery.EDIT
        inner = event.get("message") if is_edit else event
        inner = inner if isinstance(inner, Mapping) else event
        ts = str(inner.get("ts") or event["ts"])
        by_slack = is_edit and not inner.get("edited")
        if by_slack and await self.store.incident_at(channel.id, ts):
            return None  # Slack added a preview of a link; the tool said nothing new
        said_at = str(event.get("event_ts") or event.get("ts") or ts) if is_edit and not by_slack else ts
        at = posted_at(said_at) or self.clock.now()
        root_ts = str(inner.get("thread_ts") or ts)
        return Post(channel, ts, root_ts, at, reading, await self.chat.permalink(channel.id, ts))

    async def _life_of(self, post: Post) -> Life | None:
        known = await self.store.incident_at(post.channel.id, post.ts)
        if known is None and post.root_ts != post.ts:
            known = await self.store.incident_at(post.channel.id, post.root_ts)
        if known:
            return await self.store.life(known)
        return await self.store.latest_life(post.alert.fingerprint, post.channel.visibility)

    async def _open(self, row: InboxRow, post: Post, life: Life, before: Life | None) -> None:
        source = Source("slack", post.url, post.channel.id, post.channel.visibility)
        record = opened_record(life.incident_id, post.alert.title or "Alert", post.at, source, post.alert)
        brief = await self._decided(post, life)
        briefs, due = self._answer(post, life, brief)
        opening = f"open/{post.channel.visibility}/{post.alert.fingerprint}/{before.incident_id if before else '-'}"
        changes = Changes(
            lives=(life,),
            records=(record,),
            briefs=briefs,
            owed=due,
            done=row,
            once=opening,
            seen_posts=(SeenPost(post.channel.id, post.ts, life.incident_id),),
        )
        if not await self.store.commit(changes):
            raise StoreConflict("Another worker opened this incident at the same moment; it is taken again.")

    async def _change(self, row: InboxRow, post: Post, life: Life, happened: Happened) -> None:
        posted = await self.store.briefs(life.incident_id)
        briefs = tuple(replace(b, brief=with_life(b.brief, view_of(life))) for b in posted)
        due = tuple(self._edit(b) for b in briefs)
        if happened in (Happened.REOPENED, Happened.ESCALATED, Happened.REPEATED):
            here = next((b for b in briefs if b.channel == post.channel.id), None)
            briefs, more = await self._again(post, life, happened, here, briefs)
            due += more
        seen = (SeenPost(post.channel.id, post.ts, life.incident_id),)
        await self.store.commit(Changes(lives=(life,), briefs=briefs, owed=due, done=row, seen_posts=seen))

    async def _again(
        self, post: Post, life: Life, happened: Happened, here: PostedBrief | None, briefs: tuple[PostedBrief, ...]
    ) -> tuple[tuple[PostedBrief, ...], tuple[Owed, ...]]:
        """What a firing that is not the first owes: the brief where there is none yet, one line under a new root, and
        a reply where memory now recommends something else."""
        if post.admission.outcome is Outcome.COUNT_ONLY:
            return briefs, ()
        if here is None:
            added, due = self._answer(post, life, await self._decided(post, life))
            return (*briefs, *added), due
        due = await self._repeat_line(post, here)
        if happened is Happened.REPEATED:
            return briefs, due
        fresh = await self._decided(post, life)
        if same_advice(fresh, here.brief):
            return briefs, due
        newer = replace(here, brief=fresh, delivery_id=f"{here.delivery_id}+{life.fired}", message_ts=None)
        others = tuple(b for b in briefs if b.channel != post.channel.id)
        return (*others, newer), (*due, *self._supersede(here, newer))

    async def _decided(self, post: Post, life: Life) -> Brief:
        viewer = post.channel.viewer
        history = await self.store.history(
            post.alert.fingerprint, post.channel.visibility, post.at, HISTORY_DAYS, life.incident_id
        )
        preview = PreviewBrief(self.recall, self.index)
        return await preview(post.alert, viewer, post.at, incident=view_of(life), history=history)

    def _answer(self, post: Post, life: Life, brief: Brief) -> tuple[tuple[PostedBrief, ...], tuple[Owed, ...]]:
        if post.admission.outcome is Outcome.COUNT_ONLY:
            return (), ()
        key = f"{post.channel.id}/{life.incident_id}"
        if brief.insufficient_memory and post.alert.severity in QUIET:
            looked = Posting(
                "react", post.channel.id, f"looked/{key}", ts=post.ts, reaction=LOOKED, incident_id=life.incident_id
            )
            return (), (owed(looked, key=key),)
        delivery = f"brief/{life.incident_id}/{post.channel.id}"
        message = self.surfaces.brief(brief, post.admission.tell)
        posting = _posting("post", post.channel.id, delivery, message, life.incident_id, thread_ts=post.root_ts)
        return (PostedBrief(life.incident_id, post.channel.id, post.root_ts, delivery, brief),), (
            owed(posting, key=key),
        )

    def _edit(self, posted: PostedBrief) -> Owed:
        message = self.surfaces.brief(posted.brief)
        posting = _posting("update", posted.channel, f"{posted.delivery_id}/edit", message, posted.incident_id)
        return owed(posting, key=f"{posted.channel}/{posted.incident_id}", replaces=True, target=posted.delivery_id)

    async def _repeat_line(self, post: Post, here: PostedBrief) -> tuple[Owed, ...]:
        is_new_root = post.root_ts == post.ts and post.ts != here.root_ts and post.alert.delivery is Delivery.POST
        posted = posted_at(here.message_ts or "")
        if not is_new_root or posted is None or post.at - posted <= REPEAT_NOTICE_AFTER:
            return ()
        link = await self.chat.permalink(here.channel, here.message_ts or here.root_ts)
        message = self.surfaces.repeat_notice(here.brief, link)
        delivery = f"repeat/{here.incident_id}/{post.channel.id}/{post.ts}"
        posting = _posting("post", post.channel.id, delivery, message, here.incident_id, thread_ts=post.ts)
        return (owed(posting, key=f"{post.channel.id}/{here.incident_id}"),)

    def _supersede(self, old: PostedBrief, new: PostedBrief) -> tuple[Owed, ...]:
        reply = self.surfaces.superseded(new.brief)
        posting = _posting("post", new.channel, new.delivery_id, reply, new.incident_id, thread_ts=new.root_ts)
        outdated = replace(old.brief, verdict=f"Superseded by a newer brief below. {old.brief.verdict}"[:140])
        return (owed(posting, key=f"{new.channel}/{new.incident_id}"), self._edit(replace(old, brief=outdated)))


def _posting(
    operation: str, channel: str, delivery: str, message: Message, incident: str, thread_ts: str | None = None
) -> Posting:
    return Posting(
        operation, channel, delivery, message.text, message.blocks, thread_ts=thread_ts, incident_id=incident
    )
