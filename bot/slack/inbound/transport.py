"""Receive from Slack: by Socket Mode, or by signed HTTP requests."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import time
from collections.abc import Callable
from typing import Any, NoReturn, Protocol
from urllib.parse import parse_qsl

from aiohttp import WSMessage, web
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.adapter.socket_mode.async_internals import send_async_response
from slack_bolt.async_app import AsyncApp
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse
from slack_sdk.web.async_client import AsyncWebClient

from bot.observability import get_logger
from bot.slack.inbound.requests import build_bolt_request

log = get_logger("slack")
MAX_BODY = 2 * 1024 * 1024
MAX_AGE_S = 300
_HELLO = re.compile(r'\{.{0,150}"type"\s*:\s*"hello"', re.DOTALL)
_STAMP = re.compile(r"[0-9]{1,12}")
_SIGNATURE = re.compile(r"v0=[0-9a-f]{64}")


class Transport(Protocol):
    """Connection to Slack's events."""

    async def start(self) -> None:
        """Begin to receive."""
        ...

    async def stop(self) -> None:
        """Receive nothing more."""
        ...

    async def is_connected(self) -> bool:
        """Tell whether events can arrive now."""
        ...


class _SocketHandler(AsyncSocketModeHandler):
    """Bolt's handler, which also acknowledges what cannot be read: Slack would only send it again."""

    async def handle(self, client: SocketModeClient, req: SocketModeRequest) -> None:  # type: ignore[override]  # as in Bolt's own class
        request = build_bolt_request(req.payload)
        if request is None:
            log.warning("a request that cannot be read is dropped", request_type=str(req.type)[:80])
            await client.send_socket_mode_response(SocketModeResponse(envelope_id=req.envelope_id))
            return
        start = time.time()
        await send_async_response(client, req, await self.app.async_dispatch(request), start)


class SocketTransport:
    """Socket Mode: the bot opens the connection, nothing needs to be reachable from outside."""

    def __init__(
        self, app: AsyncApp, app_token: str, api_url: str, on_connected: Callable[[], None] = lambda: None
    ) -> None:
        client = AsyncWebClient(token=app_token, base_url=api_url)
        self._handler = _SocketHandler(app, app_token, web_client=client)
        self._on_connected = on_connected
        self._handler.client.on_message_listeners.append(self._notice_hello)

    async def _notice_hello(self, frame: WSMessage) -> None:
        """Report a new connection: Slack says hello on each, before it sends anything else there."""
        if isinstance(frame.data, str) and _HELLO.match(frame.data[:200]):
            self._on_connected()

    async def start(self) -> None:
        """Connect; the client repairs later interruptions itself."""
        await self._handler.connect_async()  # type: ignore[no-untyped-call]  # Bolt leaves it unannotated

    async def stop(self) -> None:
        """Disconnect for good."""
        await self._handler.close_async()  # type: ignore[no-untyped-call]  # Bolt leaves it unannotated

    async def is_connected(self) -> bool:
        """Tell whether the websocket is open."""
        return bool(await self._handler.client.is_connected())


class UnreadableRequest(Exception):
    """Request of Slack's whose body cannot be read; the message says why."""


def is_signed(secret: str, headers: Any, body: bytes, now: float) -> bool:
    """Tell whether Slack signed these very bytes within the last five minutes.

    Done here and not by the SDK's verifier: that one decodes the body first and fails on bytes that are no text, and on
    a stamp or a signature in any other form.
    """
    stamp, signature = headers.get("X-Slack-Request-Timestamp", ""), headers.get("X-Slack-Signature", "")
    if not _STAMP.fullmatch(stamp) or not _SIGNATURE.fullmatch(signature) or abs(now - int(stamp)) > MAX_AGE_S:
        return False
    made = hmac.new(secret.encode(), b"v0:" + stamp.encode() + b":" + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(f"v0={made}", signature)


def read_body(content_type: str, raw: bytes) -> dict[str, Any]:
    """Return a request's body: JSON, a form, or JSON in a form's field `payload`. Raises UnreadableRequest."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise UnreadableRequest("The body is not UTF-8.") from problem
    if content_type == "application/json":
        return _parse_object(text)
    if content_type != "application/x-www-form-urlencoded":
        raise UnreadableRequest("The content type must be application/json or application/x-www-form-urlencoded.")
    try:
        form = dict(parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=200))
    except ValueError as problem:
        raise UnreadableRequest("The form cannot be read.") from problem
    return _parse_object(form["payload"]) if "payload" in form else dict(form)


def _parse_object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text, parse_constant=_reject_constant)
    except (ValueError, RecursionError) as problem:
        raise UnreadableRequest("The body is not JSON that can be read.") from problem
    if not isinstance(found, dict):
        raise UnreadableRequest("The body is not a JSON object.")
    return found


def _reject_constant(name: str) -> NoReturn:
    raise ValueError(name)


class HttpTransport:
    """Signed requests to `/slack/events` of the bot's own server. The signature is checked on the raw body before any
    of it is read."""

    def __init__(
        self,
        app: AsyncApp,
        server: web.Application,
        signing_secret: str,
        now: Callable[[], float] = time.time,
        on_connected: Callable[[], None] = lambda: None,
    ) -> None:
        self._on_connected = on_connected
        self._app = app
        self._secret = signing_secret
        self._now = now
        self._open = False
        server.router.add_post("/slack/events", self._receive)

    async def _receive(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()  # aiohttp answers 413 where the body is longer than the server takes
        if len(raw) > MAX_BODY:
            return web.Response(status=413, text=f"The body is longer than {MAX_BODY} bytes.")
        if not is_signed(self._secret, request.headers, raw, self._now()):
            return web.Response(status=401, text="The request is not signed by Slack, or too old.")
        if not self._open:
            return web.Response(status=503, text="starting or stopping: send it again")
        try:
            bolt_request = build_bolt_request(read_body(request.content_type, raw))
        except UnreadableRequest as problem:
            return web.Response(status=400, text=str(problem))
        if bolt_request is None:
            return web.Response(status=400, text="The body is nested too deep.")
        return await to_aiohttp_response(await self._app.async_dispatch(bolt_request))

    async def start(self) -> None:
        """Accept requests."""
        self._on_connected()
        self._open = True

    async def stop(self) -> None:
        """Answer 503, so that Slack sends it again later."""
        self._open = False

    async def is_connected(self) -> bool:
        """Tell whether requests are accepted."""
        return self._open
