"""Read one thread, when a person asked for its post-mortem. Nothing of it is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bot.domain.reports.postmortem import QuotedMessage
from bot.domain.text.redaction import mask
from bot.domain.text.visible import clean
from bot.ports.errors import ChatRejected
from bot.slack.client.chat import SlackChat
from bot.slack.client.responses import read_rows
from bot.slack.views.markup import decode_text

PAGE = 200
MOST_NAMES = 15
MAX_TEXT = 500
SPOKEN = frozenset({None, "thread_broadcast", "file_share", "me_message"})


@dataclass(frozen=True, slots=True)
class SlackThreads:
    """`bot.ports.files.ThreadReader` on the calls of `SlackChat`."""

    chat: SlackChat

    async def read_messages(self, channel: str, root_ts: str) -> Sequence[QuotedMessage]:
        """See the port. The first page is what a post-mortem has room for."""
        answer = await self.chat.ask(
            "thread", lambda: self.chat.client.conversations_replies(channel=channel, ts=root_ts, limit=PAGE)
        )
        found = (read_saying(message) for message in read_rows(answer, "messages"))
        return tuple(line for line in found if line)

    async def read_names(self, user_ids: Sequence[str]) -> Mapping[str, str]:
        """See the port. A person who is gone keeps their id."""
        found = {}
        for user_id in user_ids[:MOST_NAMES]:
            try:
                answer = await self.chat.ask("user", lambda at=user_id: self.chat.client.users_info(user=at))  # type: ignore[misc]  # mypy cannot infer a lambda with a default
            except ChatRejected:
                continue
            if name := read_display_name(answer.get("user") or {}):
                found[user_id] = name
        return found


def read_saying(message: Mapping[str, Any]) -> QuotedMessage | None:
    """Return what a person wrote in a message; None for apps' messages and Slack's own remarks."""
    user, ts = message.get("user"), str(message.get("ts") or "")
    if message.get("bot_id") or message.get("app_id") or message.get("subtype") not in SPOKEN:
        return None
    text = mask(clean(decode_text(str(message.get("text") or ""))))[0]
    if not isinstance(user, str) or not text or not ts.replace(".", "", 1).isdigit():
        return None
    return QuotedMessage(datetime.fromtimestamp(float(ts), UTC), user, text[:MAX_TEXT])


def read_display_name(user: Mapping[str, Any]) -> str | None:
    """Return the name that Slack shows for a person."""
    profile = user.get("profile")
    display_name = profile.get("display_name") if isinstance(profile, Mapping) else None
    name = user.get("real_name") or display_name or user.get("name")
    return clean(str(name))[:60] if name else None
