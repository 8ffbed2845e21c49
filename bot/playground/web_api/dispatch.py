"""Receive Web API requests: arguments, tokens, scopes, faults, and the form of responses."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import formatdate
from typing import Any

from aiohttp import web

from bot.playground.core import LocalSlackCore
from bot.playground.delivery.socket_mode import SocketHub
from bot.playground.web_api import (
    chat as web_chat,
)
from bot.playground.web_api import (
    conversations as web_conversations,
)
from bot.playground.web_api import (
    files as web_files,
)
from bot.playground.web_api import (
    usergroups as web_usergroups,
)
from bot.playground.web_api import (
    views as web_views,
)
from bot.playground.workspace.state import JSON, SlackRefused

Method = Callable[[LocalSlackCore, JSON], JSON]
METHODS: dict[str, Method] = {
    **web_chat.METHODS,
    **web_conversations.METHODS,
    **web_files.METHODS,
    **web_usergroups.METHODS,
    **web_views.METHODS,
}
OPEN_SOCKET = "apps.connections.open"
# Arguments that arrive as JSON text in forms and queries.
_JSON_ARGUMENTS = ("blocks", "attachments", "metadata", "view", "unfurls", "files")
# Scopes of which the method needs one. Channel reading methods depend on the kind of channel, see _scopes_for.
SCOPES: dict[str, tuple[str, ...]] = {
    "chat.postMessage": ("chat:write",),
    "chat.update": ("chat:write",),
    "chat.delete": ("chat:write",),
    "chat.postEphemeral": ("chat:write",),
    "conversations.join": ("channels:join",),
    "conversations.open": ("im:write", "mpim:write"),
    "files.getUploadURLExternal": ("files:write",),
    "files.completeUploadExternal": ("files:write",),
    "files.delete": ("files:write",),
    "reactions.add": ("reactions:write",),
    "reactions.remove": ("reactions:write",),
    "users.info": ("users:read",),
    "users.list": ("users:read",),
    "bots.info": ("users:read",),
    "usergroups.list": ("usergroups:read",),
    "usergroups.users.list": ("usergroups:read",),
    "team.info": ("team:read",),
}
_READING = {
    "conversations.history": "history",
    "conversations.replies": "history",
    "conversations.info": "read",
    "conversations.members": "read",
}
_FAMILY = {"channel": "channels", "group": "groups", "im": "im"}


@dataclass(slots=True)
class WebApi:
    """Serve /api/<method>."""

    core: LocalSlackCore
    hub: SocketHub

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Serve one call, in any of the forms that Slack's SDKs use."""
        method = request.match_info["method"]
        args = await read_arguments(request)
        knobs = self.core.knobs
        self.core.traffic.counts[f"begun:{method}"] += 1
        if delay_s := knobs.delay_s(method):
            await asyncio.sleep(delay_s)
        status, answer = self._answer(method, args, _read_token(request, args))
        logged = {k: v for k, v in args.items() if k != "token"}
        self.core.traffic.note(self.core.now(), "api", method, args=logged, status=status, response=answer)
        self.core.notify_waiters()
        if answer.get("ok") and knobs.take_count(knobs.lost, method) and request.transport is not None:
            request.transport.close()
        scopes = (self.core.installed.scopes or _list_scopes()) - knobs.refused_scopes
        headers = {"X-OAuth-Scopes": ",".join(sorted(scopes)), "Date": formatdate(self.core.now(), usegmt=True)}
        if status == 429:
            headers["Retry-After"] = str(knobs.retry_after_s)
        return web.json_response(answer, status=status, headers=headers)

    def _answer(self, method: str, args: JSON, token: str) -> tuple[int, JSON]:
        knobs = self.core.knobs
        if knobs.take_count(knobs.limited, method):
            return 429, {"ok": False, "error": "ratelimited"}
        if error := knobs.take_error(method):
            return (500 if error == "http_500" else 200), {"ok": False, "error": error}
        try:
            self._authorise(method, args, token)
            return 200, {"ok": True, **self._carry_out(method, args)}
        except SlackRefused as refused:
            status = 429 if refused.error == "ratelimited" else 200
            return status, {"ok": False, "error": refused.error, **refused.extra}

    def _carry_out(self, method: str, args: JSON) -> JSON:
        if method == OPEN_SOCKET:
            return {"url": self._socket_url(), **self._socket_warning()}
        if method not in METHODS:
            raise SlackRefused("unknown_method", req_method=method)
        return METHODS[method](self.core, args)

    def _authorise(self, method: str, args: JSON, token: str) -> None:
        installed = self.core.installed
        if not token:
            raise SlackRefused("not_authed")
        if token not in (installed.bot_token, installed.app_token):
            raise SlackRefused("invalid_auth")
        if (token == installed.app_token) != (method == OPEN_SOCKET):
            raise SlackRefused("not_allowed_token_type")
        if self.core.knobs.revoked and token == installed.bot_token:
            raise SlackRefused("token_revoked")
        needed = set(_find_scopes(self.core, method, args))
        provided = installed.app_scopes if method == OPEN_SOCKET else installed.scopes or _list_scopes()
        usable = provided - self.core.knobs.refused_scopes
        if needed and not needed & usable:
            raise SlackRefused("missing_scope", needed=",".join(sorted(needed)), provided=",".join(sorted(usable)))

    def _socket_warning(self) -> JSON:
        """Return the warning that Slack adds to the address of a socket when Socket Mode is off."""
        warnings = ["[WARN] Socket Mode is not turned on."]
        return {"response_metadata": {"messages": warnings}} if self.core.knobs.socket_mode_off else {}

    def _socket_url(self) -> str:
        return f"{self.core.url.replace('http', 'ws', 1)}/link/?ticket={self.hub.new_ticket()}&app_id={self.hub.app_id}"


def _find_scopes(core: LocalSlackCore, method: str, args: Mapping[str, Any]) -> tuple[str, ...]:
    if method == OPEN_SOCKET:
        return ("connections:write",)
    if method not in _READING:
        return SCOPES.get(method, ())
    kind = next((c.type for c in core.workspace.channels.values() if c.id == args.get("channel")), "channel")
    return (f"{_FAMILY[kind]}:{_READING[method]}",)


def _list_scopes() -> frozenset[str]:
    reading = {f"{family}:{what}" for family in _FAMILY.values() for what in ("history", "read")}
    return frozenset(reading | {scope for scopes in SCOPES.values() for scope in scopes})


async def read_arguments(request: web.Request) -> JSON:
    """Return the arguments of a call: query, form and JSON body together, with JSON strings parsed."""
    args: JSON = dict(request.query)
    if request.method == "POST":
        if request.content_type == "application/json":
            args |= await _read_json_body(request)
        else:
            args |= dict(await request.post())
    for key in _JSON_ARGUMENTS:
        if isinstance(args.get(key), str):
            args[key] = _parse_json(args[key])
    return args


async def _read_json_body(request: web.Request) -> JSON:
    body = _parse_json(await request.text() or "{}")
    return body if isinstance(body, dict) else {}


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _read_token(request: web.Request, args: Mapping[str, Any]) -> str:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else str(args.get("token", ""))
