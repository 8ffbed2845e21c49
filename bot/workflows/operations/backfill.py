"""Read a channel's past: store the lifecycles of its alerts as if the bot had been there, in silence.

Must not post anything, ask memory, or learn a cause or a fix from what people wrote: of that it counts only how many
wrote how much. Each portion is stored before the next is read, and a post is never taken twice, so it can be
interrupted at any moment and run again.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from bot.domain.alerts.alert import AlertState, PostDelivery
from bot.domain.incidents.opening import format_ts, parse_ts
from bot.domain.operations.backfill import (
    FIRST,
    BackfillTally,
    ReadSpan,
    ThreadActivity,
    add_span,
    add_tallies,
    choose_next_length,
    find_unread,
)
from bot.ports.alerts.backfill_progress import BackfillProgress, BackfillStore
from bot.ports.channel_history import ChannelArchive, ConnectionWatermark, HistoryPage, MessageReader, PageCursors
from bot.ports.chat import Channel, Chat, may_speak
from bot.ports.clock import Clock
from bot.ports.delivery.inbox import InboxRow
from bot.ports.errors import ChatRejected, ChatUnavailable, NotAllowedHere
from bot.ports.incidents import IncidentStore
from bot.ports.unit_of_work import retry_conflicts

T = TypeVar("T")
WAIT_S, WAIT_MOST_S = 5.0, 120.0
# How often in a row Slack may fail without naming a time to wait.
TRIES = 10
CONFLICTS = 20
# An older post need not be true any more.
PAST_AFTER = timedelta(hours=24)
# The newest posts are left to the running bot: what it may not have received yet, and what it reads back after a gap.
LEFT_TO_LISTENER, READ_BACK_AT_MOST = timedelta(minutes=6), timedelta(hours=6)
ENDS = {AlertState.RESOLVED.value, AlertState.ACKNOWLEDGED.value}
SHARED = "{} is shared with another organisation, so nothing is read there. A steward can allow it: /precedent channel."
UNSEEN = "The bot is not in {}. Invite it there: /invite @Precedent."


@dataclass(slots=True, kw_only=True)
class PacedCaller:
    """Make many calls to Slack: at most `a_minute` of each kind, and again after as long as Slack demands."""

    clock: Clock
    a_minute: float
    # Called with the seconds of each wait, and the reason.
    on_wait: Callable[[float, ChatUnavailable], None]
    sleep: Callable[[float], Awaitable[Any]] = asyncio.sleep
    _free_at: dict[str, datetime] = field(default_factory=dict)

    async def __call__(self, kind: str, ask: Callable[[], Awaitable[T]]) -> T:
        """Return the answer.

        Raises ChatRejected; ChatUnavailable if Slack fails again and again without naming a time.
        """
        failed = 0
        while True:
            await self._wait_turn(kind)
            try:
                return await ask()
            except ChatUnavailable as problem:
                failed = 0 if problem.retry_after_s else failed + 1
                if failed >= TRIES:
                    raise
                wait_s = min(problem.retry_after_s or WAIT_S, WAIT_MOST_S)
                self.on_wait(wait_s, problem)
                await self.sleep(wait_s)

    async def _wait_turn(self, kind: str) -> None:
        """Wait until the next call of this kind may be made."""
        now = self.clock.now()
        free_at = max(self._free_at.get(kind, now), now)
        self._free_at[kind] = free_at + timedelta(minutes=1 / self.a_minute)
        if free_at > now:
            await self.sleep((free_at - now).total_seconds())


@dataclass(slots=True)
class _Portion:
    """What one stretch of a channel contains."""

    # The alert posts: (ts, its one or two events, natural key).
    posts: list[tuple[str, tuple[Mapping[str, Any], ...], str]] = field(default_factory=list)
    tally: BackfillTally = field(default_factory=BackfillTally)
    talks: dict[str, ThreadActivity] = field(default_factory=dict)

    def count(self, **more: Any) -> None:
        self.tally = add_tallies(self.tally, BackfillTally(**more))


@dataclass(frozen=True, slots=True, kw_only=True)
class Backfill:
    """Read the past of one channel."""

    history: ChannelArchive
    backfills: BackfillStore
    store: IncidentStore
    chat: Chat
    heard: ConnectionWatermark
    clock: Clock
    reader: MessageReader
    # Processes an alert's event like any other but posts nothing; returns False if the channel's rules ignore it.
    answer: Callable[[InboxRow], Awaitable[bool]]
    patiently: PacedCaller
    # Called with the progress after each portion.
    on_progress: Callable[[BackfillProgress, ReadSpan], None]

    async def find_channel(self, name: str) -> str:
        """Return the id of the channel with this name or id.

        Raises ChatRejected if the bot is in no such channel, ChatUnavailable.
        """
        searched, cursor, cursors = name.removeprefix("#"), "", PageCursors()
        while True:
            at = cursor
            some, cursor = await self.patiently("channels", lambda at=at: self.history.list_named_channels(at))  # type: ignore[misc]  # mypy cannot infer a lambda with a default
            if found := some.get(searched) or next((one for one in some.values() if one == searched), None):
                return found
            if not cursors.follow(cursor):
                raise ChatRejected(UNSEEN.format(name), "channel_not_found")

    async def __call__(self, channel_id: str, since: datetime) -> BackfillProgress:
        """Read whatever has not been read yet of the channel's past since then.

        Raises NotAllowedHere, ChatRejected, ChatUnavailable, StoreUnavailable; what was read by then is stored.
        """
        channel = await self.patiently("channel", lambda: self.chat.read_channel(channel_id))
        if not may_speak(channel):
            raise NotAllowedHere(SHARED.format(f"#{channel.name}"))
        if not channel.is_joined:
            raise ChatRejected(UNSEEN.format(f"#{channel.name}"), "not_in_channel")
        known = await self.backfills.read_progress(channel_id) or BackfillProgress(channel_id)
        progress = replace(known, name=channel.name, at=self.clock.now())
        whole = (since, await self._find_end())
        for gap in find_unread(progress.done, *whole):
            progress = await self._read_gap(channel, progress, gap, whole)
        await self.backfills.save(progress, {})
        return progress

    async def _find_end(self) -> datetime:
        """Return where the past ends; now, if no bot has been listening yet."""
        now, heard = self.clock.now(), await self.heard.read()
        return now if heard is None else max(heard - LEFT_TO_LISTENER, now - READ_BACK_AT_MOST)

    async def _read_gap(
        self, channel: Channel, progress: BackfillProgress, gap: ReadSpan, whole: ReadSpan
    ) -> BackfillProgress:
        """Read an unread stretch portion by portion, oldest first, as it happened."""
        at, length = gap[0], FIRST
        while at < gap[1]:
            end = min(at + length, gap[1])
            portion = await self._read_portion(channel.id, at, end, whole[1])
            await self._store_portion(channel, portion)
            tally, done = add_tallies(progress.tally, portion.tally), add_span(progress.done, (at, end))
            progress = replace(progress, done=done, tally=tally)
            await self.backfills.save(progress, portion.talks)
            self.on_progress(progress, whole)
            at, length = end, choose_next_length(length, portion.tally.messages + portion.tally.replies)
        return progress

    async def _read_portion(self, channel: str, start: datetime, end: datetime, until: datetime) -> _Portion:
        """Read [start, end) with the threads of its alerts.

        Slack returns the newest first; only what is needed is held.
        """
        portion = _Portion()
        oldest, latest = format_ts(start), format_ts(end)

        async def page(cursor: str) -> HistoryPage:
            return await self.patiently("history", lambda: self.history.read_range(channel, oldest, latest, cursor))

        async for message in _read_all(page):
            at = parse_ts(str(message.get("ts") or ""))
            if at is not None and start <= at < end:
                portion.count(messages=1)
                if self._count_message(channel, message, portion, in_thread=False):
                    await self._read_thread(channel, message, portion, until)
        portion.posts.sort(key=lambda post: tuple(int(part) for part in post[0].split(".")))
        return portion

    def _count_message(self, channel: str, message: Mapping[str, Any], portion: _Portion, *, in_thread: bool) -> bool:
        """Count the message, and return whether it is an alert. Remarks of bots in threads are only counted."""
        received, poster = self.reader.read_event(channel, message), self.reader.find_poster(message)
        if received is None:
            portion.count(own=1)
            return False
        event = received.body["event"] if received.body and received.kind == "message" else {}
        if "alert" in event:
            portion.posts.append((str(message["ts"]), rebuild_events(event, message), received.natural_key))
            portion.count(alerts={str(event["alert"]["tool"]): 1})
            return True
        if self.reader.is_by_person(message):
            portion.count(by_people=1)
        elif poster and not in_thread:
            portion.count(unread={poster: 1})
        return False

    async def _read_thread(self, channel: str, root: Mapping[str, Any], portion: _Portion, until: datetime) -> None:
        """Read an alert's thread, if there are replies: its tool may have cleared it there, and people may have
        talked.
        """
        ts = str(root["ts"])
        stands_in = str(root.get("thread_ts") or ts)
        if stands_in != ts or not root.get("reply_count") or self.reader.is_by_us_alone(root):
            return

        async def page(cursor: str) -> HistoryPage:
            return await self.patiently("replies", lambda: self.history.read_thread_page(channel, ts, cursor))

        wrote: Counter[str] = Counter()
        async for message in _read_all(page):
            at = parse_ts(str(message.get("ts") or ""))
            if message.get("ts") == ts or at is None or at >= until:
                continue
            if message.get("subtype") != "thread_broadcast":  # these are in the channel, too, and counted there
                portion.count(replies=1)
                self._count_message(channel, message, portion, in_thread=True)
            if self.reader.is_by_person(message):
                wrote[str(message.get("user"))] += 1
        if wrote:
            portion.talks[ts] = ThreadActivity(len(wrote), wrote.total())

    async def _store_portion(self, channel: Channel, portion: _Portion) -> None:
        """Store the lifecycles of the alerts, except for what the running bot received as it happened."""
        live = await self.backfills.find_received(key for _, _, key in portion.posts)
        known = await self.backfills.find_incidents(channel.id, (ts for ts, _, _ in portion.posts))
        purged = await self.backfills.find_purged(channel.id, (ts for ts, _, _ in portion.posts))
        for ts, events, key in portion.posts:
            if key in live:
                portion.count(live=1)
            elif ts in purged:
                portion.count(ignored=1)
            else:
                taken = [await self._answer(event) for event in await self._find_missing(known.get(ts), events)]
                portion.count(ignored=int(not all(taken)))

    async def _find_missing(
        self, known: str | None, events: Sequence[Mapping[str, Any]]
    ) -> Sequence[Mapping[str, Any]]:
        """Return the events that are not in the store yet, given the incident of the post: an interrupted run may
        lack the last.
        """
        if known is None:
            return events
        life = await self.store.read_lifecycle(known)
        is_ended = life.cleared_at is not None or events[-1]["alert"]["state"] != AlertState.RESOLVED
        return () if is_ended else events[1:]

    async def _answer(self, event: Mapping[str, Any]) -> bool:
        """Process one event as past; retried if the running bot changed the same incident."""
        now = self.clock.now()
        at = parse_ts(str(event.get("event_ts") or event["ts"])) or now
        body = {"event": {**event, "past": at < now - PAST_AFTER}}
        row = InboxRow(0, "message", body, "", 1, now)
        return await retry_conflicts(CONFLICTS, partial(self.answer, row))


async def _read_all(page: Callable[[str], Awaitable[HistoryPage]]) -> AsyncIterator[Mapping[str, Any]]:
    """Yield the messages of all pages. Raises ChatUnavailable if they never end."""
    cursors, cursor = PageCursors(), ""
    while True:
        found = await page(cursor)
        for message in found.messages:
            yield message
        cursor = cursors.follow(found.cursor)
        if not cursor:
            return


def rebuild_events(event: Mapping[str, Any], message: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """Return a post as it was at first, and what its tool made of it later.

    A post that was edited until it reported the alert as over or acknowledged began as the firing alert.
    """
    alert, edited = event["alert"], message.get("edited")
    at = str(edited.get("ts") or "") if isinstance(edited, Mapping) else ""
    if alert["state"] not in ENDS or parse_ts(at) is None or at <= str(message["ts"]):
        return (event,)
    first = alert | {"state": AlertState.FIRING.value, "alerts": [], "firing": None, "cleared": None}
    inner = {key: event[key] for key in ("ts", "thread_ts", "bot_id", "app_id") if key in event}
    edit = {**event, "subtype": "message_changed", "ts": at, "event_ts": at, "message": {**inner, "edited": {"ts": at}}}
    return {**event, "alert": first}, {**edit, "alert": alert | {"delivery": PostDelivery.EDIT.value}}
