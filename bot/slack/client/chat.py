"""Slack's Web API behind the port `Chat`: calls with a deadline, and every failure as one of the port's errors.

Nothing is retried or paced here, not even by the SDK (see `build_web_client`): the outbox does, and it looks before it
posts again.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.delivery.kinds import Operation
from bot.observability import SLACK_ERRORS
from bot.ports.channels import ChannelStore
from bot.ports.chat import BotIdentity, Channel, Posting, ThreadMessage
from bot.ports.clock import Clock
from bot.ports.errors import ChatAuthRejected, ChatOutcomeUnknown, ChatRejected, ChatUnavailable
from bot.slack.client import uploads
from bot.slack.client.messages import read_thread_message
from bot.slack.client.responses import (
    NotSlack,
    SlackClient,
    build_not_slack_error,
    check_shapes,
    fetch_pages,
    read_rows,
)
from bot.slack.payload import read_object, read_text

DEADLINE_S = 10.0
# Who reads a channel changes: nothing meant for a public one may reach those for whom it was made private. Slack allows
# about fifty such questions a minute.
CHANNEL_CACHE_TTL = timedelta(minutes=1)
MEMBER_CACHE_TTL = timedelta(minutes=1)
MEMBER_PAGE = 200
MEMBER_PAGES = 50
METADATA = "precedent"
PAGES = 5

AUTH_CODES = frozenset({
    "invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "missing_scope",
    "not_allowed_token_type", "org_login_required", "ekm_access_denied", "team_access_not_granted",
})  # fmt: skip
RATE_LIMIT_CODES = frozenset({"ratelimited", "rate_limited"})
RETRYABLE_CODES = frozenset({"service_unavailable", "team_added_to_org"})
ASKS_TO_WAIT = "Slack asks to wait."
# No rate limit of Slack's lasts longer.
MAX_WAIT_S = 3600.0
# Slack says of these that something may have been done.
OUTCOME_UNKNOWN_CODES = frozenset({"fatal_error", "internal_error", "request_timeout"})
GONE_CODES: Mapping[str, frozenset[str]] = {
    "update": frozenset({"message_not_found"}),
    "delete": frozenset({"message_not_found"}),
    "react": frozenset({"message_not_found", "already_reacted"}),
    "permalink": frozenset({"message_not_found", "channel_not_found"}),
    "message": frozenset({"message_not_found", "thread_not_found"}),
    "replies": frozenset({"message_not_found", "thread_not_found"}),
    "delete_file": frozenset({"file_not_found", "file_deleted"}),
}
REFUSAL_SENTENCES = {
    "channel_not_found": "The bot cannot see this channel. Invite it: /invite @Precedent.",
    "not_in_channel": "The bot is not in this channel. Invite it: /invite @Precedent.",
    "is_archived": "The channel is archived.",
    "restricted_action": "A workspace setting keeps the bot from posting here.",
}


def build_web_client(token: str | None, base_url: str, timeout_s: int = 10) -> AsyncWebClient:
    """Return a client for `SlackChat` and the app. It makes no retries of its own: they would repeat a post that went
    through."""
    return SlackClient(token=token, base_url=base_url, timeout=timeout_s, retry_handlers=[])


@dataclass(slots=True)
class SlackChat:
    """`bot.ports.chat.Chat` on Slack's Web API. Channels are cached for a minute, and so is that somebody is in one."""

    client: AsyncWebClient
    clock: Clock
    # What people agreed in channels; None: only what Slack knows of a channel counts.
    policies: ChannelStore | None = None
    deadline_s: float = DEADLINE_S
    _channels: dict[str, tuple[Channel, datetime]] = field(default_factory=dict)
    _members: dict[tuple[str, str], datetime] = field(default_factory=dict)

    async def deliver(self, posting: Posting) -> str | None:
        """Make the call. Return the message ts where there is one, the file's id of an upload."""
        if posting.operation == Operation.UPLOAD:
            return await self._upload(posting)
        operation = OPERATIONS.get(posting.operation)
        if operation is None:
            raise ChatRejected(f"There is no operation {posting.operation}.", "unknown_operation")
        answer = await self._call(posting.operation, lambda: operation(self.client, posting))
        ts = answer.get("ts") or answer.get("message_ts")
        return ts if isinstance(ts, str) else None

    async def _upload(self, posting: Posting) -> str:
        placed = await self._call("upload_url", lambda: uploads.request_upload_url(self.client, posting))
        file_id, url = read_text(placed, "file_id"), read_text(placed, "upload_url")
        if file_id is None or url is None:
            raise build_not_slack_error("upload_url", "it names no file")
        await uploads.put(self.client, url, posting.content or b"")
        await self._call("upload", lambda: uploads.complete(self.client, posting, file_id))
        return file_id

    async def find_delivered(self, posting: Posting) -> str | None:
        """Return the ts of our message with this delivery id, looked for in the thread, else in the channel's latest
        messages."""
        async for answer in fetch_pages(
            lambda at: self._call("find", lambda: _fetch_page(self.client, posting, at)), PAGES
        ):
            for message in read_rows(answer, "messages"):
                if posting.operation == Operation.UPLOAD:
                    if found := uploads.find_file(message, posting.extra.get("name")):
                        return found
                    continue
                payload = read_object(read_object(message, "metadata"), "event_payload")
                if payload.get("delivery_id") == posting.delivery_id:
                    return str(message.get("ts"))
        return None

    async def read_channel(self, channel_id: str, *, within_s: float | None = None) -> Channel:
        """See the port. Slack's facts may be a minute old; what people agreed is read each time.

        Direct messages count as private; `is_shared` means shared with another organisation. A channel that became
        public or shared has no pool any more: others read along.
        """
        channel = await self._fetch_channel(channel_id, within_s)
        if self.policies is None or not (channel.is_shared or channel.is_private):
            return channel
        if channel.is_shared:
            return replace(channel, is_allowed=(await self.policies.read_settings(channel_id)).shared)
        return replace(channel, pools=await self.policies.list_pool(channel_id))

    async def _fetch_channel(self, channel_id: str, within_s: float | None) -> Channel:
        now = self.clock.now()
        cached = self._channels.get(channel_id)
        longest = CHANNEL_CACHE_TTL if within_s is None else timedelta(seconds=within_s)
        if cached and now - cached[1] < longest:
            return cached[0]
        try:
            answer = await self._call("channel", lambda: self.client.conversations_info(channel=channel_id))
        except ChatRejected:
            self._channels.pop(channel_id, None)
            raise
        found = parse_channel(channel_id, _require_channel_info(answer))
        self._channels.pop(channel_id, None)
        # Not cached otherwise, so that a person who invites the bot need not wait.
        if found.is_joined and not found.is_archived:
            self._channels[channel_id] = (found, now)
        return found

    async def is_member(self, channel_id: str, user_id: str) -> bool:
        """Tell whether the person is in the channel. Only a yes is cached, so that a person who was just invited need
        not wait."""
        now = self.clock.now()
        self._members = {who: at for who, at in self._members.items() if now - at < MEMBER_CACHE_TTL}
        if (channel_id, user_id) in self._members:
            return True
        async for answer in fetch_pages(
            lambda at: self._call("members", lambda: _fetch_members(self.client, channel_id, at)), MEMBER_PAGES
        ):
            if user_id in (answer.get("members") or ()):
                self._members[channel_id, user_id] = now
                return True
        return False

    async def get_permalink(self, channel_id: str, ts: str) -> str | None:
        """Return a link to the message, or None if it is gone."""
        answer = await self._call("permalink", lambda: self.client.chat_getPermalink(channel=channel_id, message_ts=ts))
        link = answer.get("permalink")
        return link if isinstance(link, str) else None

    async def read_thread(self, channel_id: str, root_ts: str) -> tuple[ThreadMessage, ...]:
        """Return what people wrote in a thread, of its first thousand messages."""
        found: list[Mapping[str, Any]] = []
        posting = Posting(Operation.FIND, channel_id, "", thread_ts=root_ts)
        async for answer in fetch_pages(
            lambda at: self._call("replies", lambda: _fetch_page(self.client, posting, at)), PAGES
        ):
            found += read_rows(answer, "messages")
        return tuple(read for message in found if (read := read_thread_message(message)))

    async def read_message(self, channel_id: str, ts: str) -> ThreadMessage | None:
        """Return what a person wrote in this message. Of a reply Slack gives the reply alone, of a root the root
        first."""
        answer = await self._call(
            "message", lambda: self.client.conversations_replies(channel=channel_id, ts=ts, limit=1)
        )
        messages = (m for m in read_rows(answer, "messages") if m.get("ts") == ts)
        return next((read for message in messages if (read := read_thread_message(message))), None)

    async def open_direct_message(self, user_id: str) -> str:
        """Return the conversation with this person."""
        answer = await self._call("direct", lambda: self.client.conversations_open(users=user_id))
        opened = (answer.get("channel") or {}).get("id")
        if not isinstance(opened, str):
            raise ChatRejected("Slack opens no conversation with this person.", "no_channel")
        return opened

    async def fetch_identity(self) -> BotIdentity:
        """Return who the bot is. Raises ChatAuthRejected where Slack does not know the token."""
        answer = await self._call("identity", self.client.auth_test)
        names = ("user_id", "bot_id", "team_id", "team", "url")
        return BotIdentity(*(str(answer.get(name) or "") for name in names))

    async def fetch_scopes(self) -> frozenset[str]:
        """Return the scopes of the bot token, which Slack names with each answer; empty where it names none."""
        answer = await self._answer("identity", self.client.auth_test)
        check_shapes("identity", answer.data)
        header = _read_header(answer, "x-oauth-scopes") or ""
        return frozenset(scope.strip() for scope in header.split(",") if scope.strip())

    async def ask(self, operation: str, call: Callable[[], Awaitable[Any]]) -> Mapping[str, Any]:
        """Make a call for another part of the Slack layer, with the deadline and the errors of this port."""
        return await self._call(operation, call)

    async def _call(self, operation: str, call: Callable[[], Awaitable[Any]]) -> Mapping[str, Any]:
        answer = await self._answer(operation, call)
        return {} if answer is None else check_shapes(operation, answer.data)

    async def _answer(self, operation: str, call: Callable[[], Awaitable[Any]]) -> Any:
        """Return Slack's answer; None where what the call is about is gone, which is fine."""
        try:
            async with asyncio.timeout(self.deadline_s):
                return await call()
        except SlackApiError as problem:
            if read_error_code(problem) in GONE_CODES.get(operation, ()):
                return None
            raise build_chat_error(operation, problem) from problem
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as problem:
            SLACK_ERRORS.labels(operation, "unreachable").inc()
            raise ChatUnavailable("Slack cannot be reached.") from problem
        except (TimeoutError, aiohttp.ClientError, OSError) as problem:
            SLACK_ERRORS.labels(operation, "no_answer").inc()
            raise ChatOutcomeUnknown(f"Slack did not answer {operation}: it may have been done.") from problem
        except NotSlack as problem:
            SLACK_ERRORS.labels(operation, "not_slack").inc()
            raise build_not_slack_error(operation) from problem
        except SlackClientError as problem:
            raise ChatRejected(f"Slack's client refuses {operation}: {problem}", "client_error") from problem


def parse_channel(channel_id: str, info: Mapping[str, Any]) -> Channel:
    """Return the channel that `conversations.info` describes."""
    private = any(info.get(k) for k in ("is_private", "is_im", "is_mpim", "is_group"))
    outside = bool(info.get("is_ext_shared")) or bool(info.get("is_pending_ext_shared"))
    shared = outside or (bool(info.get("is_shared")) and not info.get("is_org_shared"))
    joined = bool(info.get("is_member", True))  # direct messages have no members
    archived = bool(info.get("is_archived"))
    return Channel(channel_id, str(info.get("name") or ""), private, shared, is_joined=joined, is_archived=archived)


def _require_channel_info(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the description of a channel.

    Raises ChatUnavailable for an answer that holds none: nothing is known then, and it must not pass for a public
    channel.
    """
    info = answer.get("channel")
    if not isinstance(info, Mapping) or not isinstance(info.get("id"), str) or not info["id"]:
        raise ChatUnavailable("Slack does not say what this channel is.")
    return info


def read_error_code(problem: SlackApiError) -> str:
    """Return Slack's error code, or "http_<status>" for an answer that is none of Slack's API."""
    data = getattr(problem.response, "data", None)
    code = data.get("error") if isinstance(data, Mapping) and data.get("ok") is False else None
    return code if isinstance(code, str) and code else f"http_{read_status(problem)}"


def read_status(problem: SlackApiError) -> int:
    """Return the HTTP status."""
    response = problem.response
    return int(getattr(response, "status_code", None) or getattr(response, "status", None) or 0)


def build_chat_error(operation: str, problem: SlackApiError) -> Exception:
    """Return Slack's refusal as the port's error."""
    code, status = read_error_code(problem), read_status(problem)
    SLACK_ERRORS.labels(operation, code).inc()
    if status == 429 or code in RATE_LIMIT_CODES:
        return ChatUnavailable(ASKS_TO_WAIT, _read_retry_after(problem))
    if code in RETRYABLE_CODES:
        return ChatUnavailable(f"Slack cannot do {operation} now ({code}).", _read_retry_after(problem))
    if code in OUTCOME_UNKNOWN_CODES or (code == f"http_{status}" and status >= 500):
        return ChatOutcomeUnknown(f"Slack failed at {operation} ({code}): it may have been done.")
    if code == f"http_{status}":
        return build_not_slack_error(operation, code)
    if code in AUTH_CODES:
        return ChatAuthRejected(_format_auth_error(operation, code, problem), code)
    return ChatRejected(REFUSAL_SENTENCES.get(code, f"Slack refuses {operation}: {code}."), code)


def _format_auth_error(operation: str, code: str, problem: SlackApiError) -> str:
    if code != "missing_scope":
        return f"Slack does not accept the bot token ({code}). Reinstall the app and set SLACK_BOT_TOKEN."
    data = getattr(problem.response, "data", None)
    needed = data.get("needed") if isinstance(data, Mapping) else None
    return (
        f"The app lacks the scope {needed or 'for ' + operation}. Add it under OAuth & Permissions (or update the app "
        "from manifest.yml), then reinstall the app."
    )


def _read_retry_after(problem: SlackApiError) -> float | None:
    """Return seconds, where Slack names a time that can be waited for."""
    header = _read_header(problem.response, "retry-after")
    try:
        wish = float(header) if header is not None else 0.0
    except ValueError:
        return None
    return min(wish, MAX_WAIT_S) if math.isfinite(wish) and wish > 0 else None


def _read_header(response: Any, name: str) -> str | None:
    headers = getattr(response, "headers", None) or {}
    return next((str(v) for k, v in headers.items() if k.lower() == name), None)


def _copy_blocks(posting: Posting) -> list[dict[str, Any]] | None:
    return [dict(b) for b in posting.blocks] or None


async def _post(client: AsyncWebClient, p: Posting) -> Any:
    payload = {"delivery_id": p.delivery_id, "incident_id": p.incident_id or ""}
    return await client.chat_postMessage(
        channel=p.channel,
        text=p.text,
        blocks=_copy_blocks(p),
        thread_ts=p.thread_ts,
        unfurl_links=False,
        unfurl_media=False,
        metadata={"event_type": METADATA, "event_payload": payload},
    )


async def _update(client: AsyncWebClient, p: Posting) -> Any:
    """Update without metadata: then the post keeps its own, by which it is found."""
    return await client.chat_update(channel=p.channel, ts=p.ts or "", text=p.text, blocks=_copy_blocks(p))


async def _delete(client: AsyncWebClient, p: Posting) -> Any:
    return await client.chat_delete(channel=p.channel, ts=p.ts or "")


async def _react(client: AsyncWebClient, p: Posting) -> Any:
    return await client.reactions_add(channel=p.channel, timestamp=p.ts or "", name=p.reaction or "eyes")


async def _ephemeral(client: AsyncWebClient, p: Posting) -> Any:
    return await client.chat_postEphemeral(
        channel=p.channel, user=p.user or "", text=p.text, blocks=_copy_blocks(p), thread_ts=p.thread_ts
    )


async def _publish_home(client: AsyncWebClient, p: Posting) -> Any:
    return await client.views_publish(
        user_id=p.user or p.channel, view={"type": "home", "blocks": [dict(b) for b in p.blocks]}
    )


async def _fetch_page(client: AsyncWebClient, p: Posting, cursor: str | None) -> Any:
    if thread := p.thread_ts or (p.ts if p.operation == Operation.UPLOAD else None):
        return await client.conversations_replies(
            channel=p.channel, ts=thread, include_all_metadata=True, limit=200, cursor=cursor
        )
    return await client.conversations_history(channel=p.channel, include_all_metadata=True, limit=200, cursor=cursor)


async def _fetch_members(client: AsyncWebClient, channel_id: str, cursor: str | None) -> Any:
    return await client.conversations_members(channel=channel_id, cursor=cursor, limit=MEMBER_PAGE)


OPERATIONS: Mapping[str, Callable[[AsyncWebClient, Posting], Awaitable[Any]]] = {
    Operation.POST: _post,
    Operation.UPDATE: _update,
    Operation.DELETE: _delete,
    Operation.REACT: _react,
    Operation.EPHEMERAL: _ephemeral,
    Operation.HOME: _publish_home,
    Operation.DELETE_FILE: uploads.delete,
}
