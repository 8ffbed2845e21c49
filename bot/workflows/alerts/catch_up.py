"""Catch up after a stop or a dropped connection: read back the posts that were missed, and receive them like events.

It runs in the background, one channel at a time, at the pace that Slack dictates, so that it never delays what
arrives now. Must not answer anything itself, or read threads.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeVar

from bot.domain.incidents.opening import format_ts
from bot.observability import get_logger
from bot.ports.channel_history import ChannelHistory, ConnectionWatermark, PageCursors
from bot.ports.clock import Clock
from bot.ports.delivery.inbox import Inbox, InboxBacklog, ReceivedEvent
from bot.ports.errors import ChatAuthRejected, ChatRejected, ChatUnavailable

T = TypeVar("T")
# Older posts are not read back: nobody is helped by a brief for an alert of yesterday.
AT_MOST = timedelta(hours=6)
# One catch-up gives up after this long; the next connection starts another.
DEADLINE_S = 900.0
WAIT_S, WAIT_MOST_S = 5.0, 120.0
MESSAGES_MOST = 5_000
HEARD_EVERY_S = 10.0
LOOK_EVERY_S = 0.5
# A connection can be dead for this long before anybody notices.
UNDETECTED_FOR = timedelta(seconds=60)
log = get_logger("catch-up")

ReadMessage = Callable[[str, Mapping[str, Any]], ReceivedEvent | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class CatchUpChannels:
    """Read back the channels that the bot is in."""

    history: ChannelHistory
    inbox: Inbox
    backlog: InboxBacklog
    clock: Clock
    # Turns a message of a channel into an inbox event under the natural key that its live event would have had:
    # nothing is received twice.
    read: ReadMessage
    sleep: Callable[[float], Awaitable[Any]] = asyncio.sleep
    deadline_s: float = DEADLINE_S

    async def __call__(self, heard_until: datetime | None, connected_at: datetime) -> int:
        """Read what was posted since `heard_until`, and return how many posts were new.

        Nothing is read on the very first start (`heard_until` is None): everything in the channels is older than the
        bot then. Raises StoreUnavailable, ChatAuthRejected.
        """
        if heard_until is None:
            return 0
        new = 0
        until = self.clock.now() + timedelta(seconds=self.deadline_s)
        for channel in await self._list_channels(until):
            since = await self._find_start(channel, heard_until, connected_at)
            new += await self._read_channel(channel, since, until)
        return new

    async def _list_channels(self, until: datetime) -> list[str]:
        found: dict[str, None] = {}
        cursors, cursor = PageCursors(), ""
        while True:
            at = cursor
            some, cursor = await self._call_patiently(lambda at=at: self.history.list_channels(at), until) or ((), "")  # type: ignore[misc]  # mypy cannot infer a lambda with a default
            found |= dict.fromkeys(some)
            if not _has_more(cursors, cursor):
                return list(found)

    async def _find_start(self, channel: str, heard_until: datetime, connected_at: datetime) -> str:
        """Return the ts after which this channel may hold missed posts.

        That is the moment when the connection was certainly alive, or the channel's newest message before the new
        connection if that is older: a connection can be dead for long without a sign.
        """
        sure = max(heard_until - UNDETECTED_FOR, connected_at - AT_MOST)
        newest = await self.backlog.find_newest_message(channel, connected_at)
        return max(min(newest or format_ts(sure), format_ts(sure)), format_ts(connected_at - AT_MOST))

    async def _read_channel(self, channel: str, since: str, until: datetime) -> int:
        """Receive the missed posts of a channel in the order of posting (Slack returns the newest first)."""
        messages: list[Mapping[str, Any]] = []
        cursors, cursor = PageCursors(), ""
        while True:
            at = cursor
            page = await self._call_patiently(lambda at=at: self.history.read_page(channel, since, at), until)  # type: ignore[misc]  # mypy cannot infer a lambda with a default
            if page is None:
                log.error("not all that was missed could be read", channel=channel, since=since)
                break
            messages += page.messages
            cursor = page.cursor
            if len(messages) >= MESSAGES_MOST or not _has_more(cursors, cursor):
                break
        return await self._receive(channel, messages[::-1])

    async def _receive(self, channel: str, messages: Sequence[Mapping[str, Any]]) -> int:
        new = 0
        for message in messages:
            received = self.read(channel, message)
            if received is not None and await self.inbox.receive(received):
                new += received.body is not None
        return new

    async def _call_patiently(self, ask: Callable[[], Awaitable[T]], until: datetime) -> T | None:
        """Return the answer after as many waits as Slack asks for; None if it refuses this call or the deadline has
        passed.
        """
        while self.clock.now() < until:
            try:
                return await ask()
            except ChatAuthRejected:
                raise
            except ChatRejected as refused:
                log.warning("a channel cannot be read back", reason=str(refused))
                return None
            except ChatUnavailable as problem:
                await self.sleep(min(problem.retry_after_s or WAIT_S, WAIT_MOST_S))
        return None


@dataclass(slots=True, kw_only=True)
class WatchConnection:
    """Record until when the connection to Slack was alive, and catch up whenever there was a gap."""

    heard: ConnectionWatermark
    catch_up: CatchUpChannels
    clock: Clock
    # Returns whether there is a connection now.
    is_connected: Callable[[], Awaitable[bool]]
    # When each connection to Slack began, oldest first.
    connections: list[datetime] = field(default_factory=list)
    _noted_at: datetime | None = None
    _greeted: bool = False

    async def __call__(self) -> float:
        """Look once, and return the seconds until the next look. Raises StoreUnavailable, ChatAuthRejected."""
        if self.connections:
            await self._catch_up(self.connections[-1], len(self.connections))
        self._greeted = self._greeted and await self.is_connected()
        if self._greeted and self._is_due() and not self.connections:
            now = self.clock.now()
            await self.heard.advance(now)
            self._noted_at = now
        return LOOK_EVERY_S

    async def _catch_up(self, connected_at: datetime, count: int) -> None:
        """Read what was missed before this connection. A connection that begins meanwhile gets its own turn."""
        new = await self.catch_up(await self.heard.read(), connected_at)
        del self.connections[:count]
        self._greeted, self._noted_at = True, None
        if new:
            log.warning("posts were read back", posts=new)

    def _is_due(self) -> bool:
        return self._noted_at is None or self.clock.now() - self._noted_at >= timedelta(seconds=HEARD_EVERY_S)


def _has_more(cursors: PageCursors, cursor: str) -> bool:
    """Return whether there is another page. If the pages go around in a circle, what was read so far is received."""
    try:
        return bool(cursors.follow(cursor))
    except ChatUnavailable as circle:
        log.error("not all that was missed could be read", reason=str(circle))
        return False
