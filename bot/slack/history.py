"""Reading channels back through Slack's Web API. Must not decide which ones, how far, or what a message means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.ports.history import Page
from bot.slack.outbound import SlackChat

PAGE = 200
KINDS = "public_channel,private_channel"


@dataclass(frozen=True, slots=True)
class SlackHistory:
    """`bot.ports.history.ChannelHistory` on the calls of `SlackChat`."""

    chat: SlackChat

    async def channels(self, cursor: str) -> tuple[Sequence[str], str]:
        """See the port."""
        answer = await self.chat.ask(
            "channels",
            lambda: self.chat.client.users_conversations(
                types=KINDS, exclude_archived=True, limit=PAGE, cursor=cursor or None
            ),
        )
        found = [str(c["id"]) for c in answer.get("channels") or () if isinstance(c, Mapping) and c.get("id")]
        return found, _next(answer)

    async def page(self, channel: str, oldest: str, cursor: str) -> Page:
        """See the port. Slack may give fewer messages than were asked for: what counts is its cursor."""
        answer = await self.chat.ask(
            "history",
            lambda: self.chat.client.conversations_history(
                channel=channel, oldest=oldest, limit=PAGE, cursor=cursor or None
            ),
        )
        return Page(tuple(m for m in answer.get("messages") or () if isinstance(m, Mapping)), _next(answer))


def _next(answer: Mapping[str, Any]) -> str:
    return str((answer.get("response_metadata") or {}).get("next_cursor") or "")
