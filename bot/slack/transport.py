"""How Slack reaches the bot: Socket Mode, or signed HTTP requests. Must not know what a request means."""

from __future__ import annotations

from typing import Protocol

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

MAX_BODY = 2 * 1024 * 1024


class Transport(Protocol):
    """A connection to Slack's events."""

    async def start(self) -> None:
        """Begin to receive."""
        ...

    async def stop(self) -> None:
        """Receive nothing more."""
        ...

    async def connected(self) -> bool:
        """Whether events can arrive now."""
        ...


class SocketTransport:
    """Socket Mode: the bot opens the connection, nothing needs to be reachable from outside."""

    def __init__(self, app: AsyncApp, app_token: str, api_url: str) -> None:
        client = AsyncWebClient(token=app_token, base_url=api_url)
        self._handler = AsyncSocketModeHandler(app, app_token, web_client=client)

    async def start(self) -> None:
        """Connect; later interruptions are mended by the client itself."""
        await self._handler.connect_async()  # type: ignore[no-untyped-call]  # Bolt leaves it unannotated

    async def stop(self) -> None:
        """Disconnect for good."""
        await self._handler.close_async()  # type: ignore[no-untyped-call]  # Bolt leaves it unannotated

    async def connected(self) -> bool:
        """Whether the websocket is open."""
        return bool(await self._handler.client.is_connected())


class HttpTransport:
    """Signed requests to `/slack/events` of the bot's own server; Bolt checks the signature on the raw body."""

    def __init__(self, app: AsyncApp, server: web.Application) -> None:
        self._app = app
        self._open = False
        server.router.add_post("/slack/events", self._receive)

    async def _receive(self, request: web.Request) -> web.StreamResponse:
        if not self._open:
            return web.Response(status=503, text="starting or stopping: send it again")
        stamp = request.headers.get("X-Slack-Request-Timestamp", "")
        if not (stamp.isascii() and stamp.isdigit()):
            return web.Response(status=401, text="X-Slack-Request-Timestamp is missing or no number")
        return await to_aiohttp_response(await self._app.async_dispatch(await to_bolt_request(request)))

    async def start(self) -> None:
        """Accept requests."""
        self._open = True

    async def stop(self) -> None:
        """Answer 503, so that Slack sends it again later."""
        self._open = False

    async def connected(self) -> bool:
        """Whether requests are accepted."""
        return self._open
