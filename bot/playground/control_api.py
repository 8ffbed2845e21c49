"""The HTTP API that the page and other processes use: `POST /control/<act>` with JSON calls the method of that name.

It adds nothing to the Python methods of the local Slack.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from bot.playground.driver import LocalSlackDriver
from bot.playground.page import build_page_state
from bot.playground.workspace.state import JSON, SlackRefused

ACTS = (
    "post", "post_as_app", "post_alert", "post_sample", "deliver_message", "edit", "edit_raw", "unfurl", "delete",
    "react", "unreact", "invite", "leave", "add_channel", "add_user", "archive", "webhook_url", "uninstall",
    "click", "click_view", "fill", "submit_view", "close_view", "slash", "shortcut", "open_home", "dismiss",
    "duplicate", "drop_acks", "hide_retries", "limit", "limit_channels", "fail", "lose_answers", "slow",
    "refuse_scope", "switch_socket_mode", "heal", "switch_memory", "later", "reset", "idle", "refresh_sockets", "verify_url",
    "messages", "timeline", "message", "thread", "replies", "ephemerals", "views", "view", "view_errors", "home", "dm",
    "calls", "deliveries", "counters",
)  # fmt: skip
_HEARTBEAT_S = 15.0
_COVER = "[hidden]"
_SECRET_KEYS = frozenset({"token", "trigger_id", "authorization"})
_SECRET = re.compile(r"\bx(?:ox[a-z]|app)-[\w-]+|(?<=ticket=)[\w-]+|(?<=/response/)\w+|(?<=/upload/)[\w/]+")


@dataclass(slots=True)
class ControlApi:
    """Serve /control/…."""

    slack: LocalSlackDriver

    async def act(self, request: web.Request) -> web.Response:
        """Carry out one act: `{ok, result}`, or status 400 with `{ok: false, error}`."""
        name = request.match_info["act"]
        if name not in ACTS:
            return _refuse("unknown_act", 404)
        if request.content_type != "application/json":
            return _refuse("json_needed", 415)  # keeps forms of foreign pages out
        method = getattr(self.slack, name)
        try:
            given = _parse_object(await request.text())
            inspect.signature(method).bind(**given)
            result = method(**given)
            if inspect.isawaitable(result):
                result = await result
        except SlackRefused as refused:
            return _refuse(refused.error, 400, **refused.extra)
        except (ValueError, TypeError) as error:
            return _refuse("invalid_arguments", 400, detail=str(error))
        return web.json_response({"ok": True, "result": _to_json_value(result)})

    async def view(self, request: web.Request) -> web.Response:
        """Return what the page shows for one user, channel and thread."""
        query = request.query
        state = build_page_state(self.slack, query.get("user", ""), query.get("channel", ""), query.get("thread", ""))
        return web.json_response(state)

    async def traffic(self, request: web.Request) -> web.Response:
        """Return the last entries of the traffic log, newest last."""
        last = request.query.get("last", "100")
        if not (last.isascii() and last.isdigit() and len(last) <= 9 and int(last)):
            return _refuse("invalid_arguments", 400, detail="last must be a whole number from 1, such as last=100")
        entries = list(self.slack.core.traffic.entries)[-int(last) :]
        shown = mask_tokens({"entries": entries, "counts": self.slack.counters()})
        return web.json_response(shown)

    async def stream(self, request: web.Request) -> web.StreamResponse:
        """Send the number of the state as a server-sent event each time it changes."""
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
        await response.prepare(request)
        core, sent = self.slack.core, -1
        while not self.slack.stopping:
            if core.version == sent:
                await core.wait_for_change(_HEARTBEAT_S)
            sent = core.version
            try:
                await response.write(f"data: {sent}\n\n".encode())
            except ConnectionError:
                break
        return response


def mask_tokens(value: Any) -> Any:
    """Return the same JSON with every token, ticket and secret address masked."""
    if isinstance(value, Mapping):
        return {k: _COVER if k in _SECRET_KEYS else mask_tokens(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [mask_tokens(v) for v in value]
    return _SECRET.sub(_COVER, value) if isinstance(value, str) else value


def _parse_object(text: str) -> JSON:
    given = json.loads(text or "{}")
    if not isinstance(given, dict):
        raise TypeError("a JSON object is needed")
    return given


def _to_json_value(result: Any) -> Any:
    if dataclasses.is_dataclass(result) and not isinstance(result, type):
        return {f.name: _to_json_value(getattr(result, f.name)) for f in dataclasses.fields(result)}
    return dict(result) if isinstance(result, Mapping) else result


def _refuse(error: str, status: int, **extra: Any) -> web.Response:
    return web.json_response({"ok": False, "error": error, **extra}, status=status)
