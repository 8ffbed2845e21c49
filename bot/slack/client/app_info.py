"""Ask Slack about the app itself: who it is, what it may do, the time there, whether a socket can be opened, its
channels.

For examining an installation: nothing is changed, posted or opened.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from bot.ports.chat import Channel
from bot.ports.errors import ChatRejected
from bot.slack.client.chat import SlackChat, build_web_client, parse_channel
from bot.slack.client.history import KINDS, PAGE
from bot.slack.client.responses import fetch_pages, read_rows

PAGES = 10
_APP_IN_TOKEN = re.compile(r"xapp-\d+-(A[A-Z0-9]{2,30})-")


@dataclass(frozen=True, slots=True)
class AppIdentity:
    """Answer to auth.test."""

    user_id: str
    bot_id: str
    name: str
    team_id: str
    team: str
    # Empty where Slack names none.
    scopes: frozenset[str] = frozenset()
    # The time on Slack's side.
    there: datetime | None = None
    # None where the scope users:read is missing.
    app_id: str | None = None


async def fetch_app_identity(chat: SlackChat) -> AppIdentity:
    """Return who the bot is. Raises ChatAuthRejected with Slack's code, ChatUnavailable."""
    headers: dict[str, str] = {}

    async def call() -> Any:
        answer = await chat.client.auth_test()
        headers.update({str(name).lower(): str(value) for name, value in (answer.headers or {}).items()})
        return answer

    answer = await chat.ask("identity", call)
    user, bot, name, team_id, team = (
        str(answer.get(key) or "") for key in ("user_id", "bot_id", "user", "team_id", "team")
    )
    scopes = frozenset(filter(None, (scope.strip() for scope in headers.get("x-oauth-scopes", "").split(","))))
    return AppIdentity(
        user, bot, name, team_id, team, scopes, _parse_time(headers.get("date")), await _fetch_app_id(chat, bot)
    )


async def _fetch_app_id(chat: SlackChat, bot_id: str) -> str | None:
    try:
        answer = await chat.ask("bot", lambda: chat.client.bots_info(bot=bot_id))
    except ChatRejected:
        return None
    return str((answer.get("bot") or {}).get("app_id") or "") or None


def _parse_time(header: str | None) -> datetime | None:
    try:
        found = parsedate_to_datetime(header or "")
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def read_app_id(token: str) -> str | None:
    """Return the id of the app that an app-level token belongs to; the token itself holds it."""
    found = _APP_IN_TOKEN.match(token)
    return found[1] if found else None


async def fetch_socket_warning(chat: SlackChat, token: str, api_url: str) -> str:
    """Return what Slack warns of when it is asked for a socket, "" for nothing; no socket is opened. Raises
    ChatAuthRejected with Slack's code, ChatRejected, ChatUnavailable."""
    client = build_web_client(token, api_url)
    answer = await chat.ask("socket", lambda: client.apps_connections_open(app_token=token))
    warnings = (answer.get("response_metadata") or {}).get("messages")
    return "; ".join(str(one) for one in warnings) if isinstance(warnings, list) else ""


async def list_joined_channels(chat: SlackChat) -> tuple[Channel, ...]:
    """Return the channels that the bot is in. Raises ChatUnavailable, ChatRejected."""
    found: list[Mapping[str, Any]] = []
    async for answer in fetch_pages(lambda at: chat.ask("channels", _build_page_call(chat, at)), PAGES):
        found += read_rows(answer, "channels")
    return tuple(parse_channel(str(row.get("id") or ""), {**row, "is_member": True}) for row in found)


def _build_page_call(chat: SlackChat, cursor: str | None) -> Callable[[], Awaitable[Any]]:
    return lambda: chat.client.users_conversations(types=KINDS, exclude_archived=True, limit=PAGE, cursor=cursor)


async def find_channel_by_id(chat: SlackChat, channel_id: str) -> Channel | None:
    """Return the channel, None if the bot cannot see it. Raises ChatRejected for any other refusal."""
    try:
        return await chat.read_channel(channel_id)
    except ChatRejected as refused:
        if refused.code == "channel_not_found":
            return None
        raise


async def list_posts(chat: SlackChat, channel: str, oldest: str, own: AppIdentity) -> Sequence[str]:
    """Return the ts of what others posted in a channel after `oldest` and after the bot joined it, of the latest
    hundred.

    Slack tells each of them as an event, so these are what must have arrived. Raises ChatUnavailable, ChatRejected.
    """
    answer = await chat.ask(
        "history", lambda: chat.client.conversations_history(channel=channel, oldest=oldest, limit=100)
    )
    found: list[str] = []
    for message in read_rows(answer, "messages"):
        if message.get("subtype") == "channel_join" and message.get("user") == own.user_id:
            break
        if message.get("subtype") in (None, "bot_message") and not _is_own(message, own):
            found.append(str(message.get("ts")))
    return found


def _is_own(message: Mapping[str, Any], own: AppIdentity) -> bool:
    return message.get("bot_id") == own.bot_id or message.get("user") == own.user_id


async def is_person(chat: SlackChat, user: str) -> bool:
    """Tell whether there is such a person here who is not deactivated. Raises ChatUnavailable, ChatRejected."""
    try:
        answer = (await chat.ask("user", lambda: chat.client.users_info(user=user))).get("user") or {}
    except ChatRejected as refused:
        if refused.code not in {"user_not_found", "user_not_visible"}:
            raise
        return False
    return not answer.get("deleted") and not answer.get("is_bot")


async def list_group_ids(chat: SlackChat) -> frozenset[str]:
    """Return the ids of all user groups. Raises ChatUnavailable, ChatRejected."""
    answer = await chat.ask("groups", chat.client.usergroups_list)
    return frozenset(str(row.get("id")) for row in read_rows(answer, "usergroups") if not row.get("date_delete"))
