"""Read channels back through Slack's Web API. Which ones and how far is decided elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.domain.alerts.alert import Reading
from bot.ports.channel_history import HistoryPage
from bot.ports.delivery.inbox import ReceivedEvent
from bot.slack.client.chat import SlackChat
from bot.slack.client.responses import read_next_cursor, read_rows
from bot.slack.inbound.events import SPOKEN_SUBTYPES, OwnIdentity, read_back

PAGE = 200
KINDS = "public_channel,private_channel"


@dataclass(frozen=True, slots=True)
class SlackHistory:
    """`bot.ports.channel_history.ChannelHistory` and `ChannelArchive` on the calls of `SlackChat`."""

    chat: SlackChat

    async def list_channels(self, cursor: str) -> tuple[Sequence[str], str]:
        """See the port."""
        answer = await self._fetch_channels(cursor)
        return [str(c["id"]) for c in read_rows(answer, "channels") if c.get("id")], read_next_cursor(answer)

    async def list_named_channels(self, cursor: str) -> tuple[Mapping[str, str], str]:
        """See the port."""
        answer = await self._fetch_channels(cursor)
        return {
            str(c.get("name")): str(c["id"]) for c in read_rows(answer, "channels") if c.get("id")
        }, read_next_cursor(answer)

    async def read_page(self, channel: str, oldest: str, cursor: str) -> HistoryPage:
        """See the port. Slack may give fewer messages than were asked for: what counts is its cursor."""
        answer = await self.chat.ask(
            "history",
            lambda: self.chat.client.conversations_history(
                channel=channel, oldest=oldest, limit=PAGE, cursor=cursor or None
            ),
        )
        return _build_page(answer)

    async def read_range(self, channel: str, oldest: str, latest: str, cursor: str) -> HistoryPage:
        """See the port."""
        answer = await self.chat.ask(
            "history",
            lambda: self.chat.client.conversations_history(
                channel=channel, oldest=oldest, latest=latest, inclusive=True, limit=PAGE, cursor=cursor or None
            ),
        )
        return _build_page(answer)

    async def read_thread_page(self, channel: str, root_ts: str, cursor: str) -> HistoryPage:
        """See the port. Of a thread that is gone there is nothing."""
        answer = await self.chat.ask(
            "replies",
            lambda: self.chat.client.conversations_replies(
                channel=channel, ts=root_ts, limit=PAGE, cursor=cursor or None
            ),
        )
        return _build_page(answer)

    async def _fetch_channels(self, cursor: str) -> Mapping[str, Any]:
        return await self.chat.ask(
            "channels",
            lambda: self.chat.client.users_conversations(
                types=KINDS, exclude_archived=True, limit=PAGE, cursor=cursor or None
            ),
        )


@dataclass(frozen=True, slots=True)
class PastReader:
    """`bot.ports.channel_history.MessageReader`: reads a message of a channel as its event would have been read."""

    own: OwnIdentity
    team_id: str
    reads: Callable[[Mapping[str, Any]], Reading]

    def read_event(self, channel: str, message: Mapping[str, Any]) -> ReceivedEvent | None:
        """See the port."""
        return read_back(channel, message, self.team_id, self.reads, self.own)

    def read_alert(self, message: Mapping[str, Any]) -> Reading:
        """See the port."""
        return self.reads(message)

    def find_poster(self, message: Mapping[str, Any]) -> str | None:
        """See the port."""
        if not message.get("bot_id") and message.get("subtype") != "bot_message":
            return None
        profile = message.get("bot_profile")
        name = profile.get("name") if isinstance(profile, Mapping) else None
        return str(message.get("username") or name or message.get("bot_id") or "an unknown bot")

    def is_by_person(self, message: Mapping[str, Any]) -> bool:
        """See the port."""
        spoken = message.get("subtype") in SPOKEN_SUBTYPES and bool(message.get("user"))
        return spoken and self.find_poster(message) is None and not self.own.is_author(message)

    def is_by_us_alone(self, message: Mapping[str, Any]) -> bool:
        """See the port."""
        users = message.get("reply_users")
        return (
            isinstance(users, list)
            and bool(users)
            and all(user in (self.own.user_id, self.own.bot_id) for user in users)
        )


def _build_page(answer: Mapping[str, Any]) -> HistoryPage:
    return HistoryPage(tuple(read_rows(answer, "messages")), read_next_cursor(answer))
