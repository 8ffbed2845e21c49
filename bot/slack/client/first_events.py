"""Wait for the first events of a new app by Socket Mode, and look up what setting it up needs of Slack.

What arrives is not acknowledged: it still belongs to the bot, and Slack sends it again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.web.async_client import AsyncWebClient

from bot.ports.chat import Channel
from bot.ports.clock import Clock
from bot.ports.errors import ChatUnavailable
from bot.slack.client.chat import SlackChat, build_web_client, parse_channel
from bot.slack.client.responses import build_not_slack_error, fetch_pages, read_rows
from bot.slack.payload import read_object

CONNECT_S = 20.0
PAGE = 1000
PAGES = 20
KINDS = "public_channel,private_channel"
NO_SOCKET = (
    "Slack's Web API answers, but its websocket (wss-primary.slack.com, port 443) cannot be opened: let it through the"
    " firewall, or set HTTPS_PROXY."
)
# A failure here is reported once, by us; the client would log each try.
_SILENT = logging.getLogger("bot.slack.client.first_events")
_SILENT.setLevel(logging.CRITICAL + 1)


@dataclass(slots=True)
class FirstEvents:
    """One open connection and the events that arrive on it."""

    # How many connections the app has with this one.
    connections: int = 1
    greeted: asyncio.Event = field(default_factory=asyncio.Event)
    events: asyncio.Queue[Mapping[str, Any]] = field(default_factory=asyncio.Queue)

    async def take(self, _client: object, frame: Mapping[str, Any], _raw: str | None) -> None:
        """Take one frame of the websocket."""
        if frame.get("type") == "hello":
            count = frame.get("num_connections")
            self.connections = count if isinstance(count, int) and count > 0 else 1
            self.greeted.set()
        event = read_object(frame, "payload").get("event")
        if frame.get("type") == "events_api" and isinstance(event, Mapping):
            await self.events.put(event)


async def open_connection(app_token: str, api_url: str, clock: Clock) -> str:
    """Return the address of a new websocket, which also proves the token's scope. Raises ChatRejected,
    ChatUnavailable."""
    client = build_web_client(None, api_url)
    chat = SlackChat(client, clock)
    answer = await chat.ask("connect", lambda: client.apps_connections_open(app_token=app_token))
    if not answer.get("url"):
        raise build_not_slack_error("connect", "it names no address")
    return str(answer["url"])


@asynccontextmanager
async def watch_first_events(app_token: str, api_url: str, clock: Clock) -> AsyncIterator[FirstEvents]:
    """Connect, and wait for Slack's hello. Raises ChatRejected, ChatUnavailable."""
    url = await open_connection(app_token, api_url, clock)
    events = FirstEvents()
    client = SocketModeClient(app_token, _SILENT, AsyncWebClient(base_url=api_url))
    client.wss_uri = url
    client.message_listeners.append(events.take)
    try:
        try:
            async with asyncio.timeout(CONNECT_S):
                await client.connect()  # type: ignore[no-untyped-call]  # the SDK leaves it unannotated
                await events.greeted.wait()
        except TimeoutError as silent:
            raise ChatUnavailable(NO_SOCKET) from silent
        yield events
    finally:
        await client.close()  # type: ignore[no-untyped-call]  # likewise


async def find_channel_by_name(chat: SlackChat, name: str) -> Channel | None:
    """Return the channel of this name that the bot can see: any public one, and private ones that it is in."""
    async for answer in fetch_pages(lambda at: chat.ask("channels", lambda: _fetch_page(chat, at)), PAGES):
        for info in read_rows(answer, "channels"):
            if info.get("id") and name in (info.get("name"), info.get("name_normalized")):
                return parse_channel(str(info.get("id")), info)
    return None


async def _fetch_page(chat: SlackChat, cursor: str | None) -> Any:
    return await chat.client.conversations_list(types=KINDS, exclude_archived=True, limit=PAGE, cursor=cursor)
