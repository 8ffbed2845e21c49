"""Addresses that accept posts without a token: incoming webhooks and response URLs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

from aiohttp import web

from bot.playground.blocks.validate import validate_message
from bot.playground.core import IncomingWebhook, LocalSlackCore
from bot.playground.workspace import messages
from bot.playground.workspace.copies import copy_json
from bot.playground.workspace.state import JSON, LocalChannel, SlackRefused
from bot.playground.workspace.surfaces import ResponseUrl

# Error word → HTTP status of an incoming webhook.
_STATUS = {
    "no_service": 404,
    "no_team": 404,
    "invalid_token": 403,
    "action_prohibited": 403,
    "channel_not_found": 404,
    "is_archived": 410,
    "ratelimited": 429,
}
_BODY = {"is_archived": "channel_is_archived", "ratelimited": "rate_limited"}


@dataclass(slots=True)
class WebhookServer:
    """Serve /services/<team>/<id>/<secret> and /response/<id>."""

    core: LocalSlackCore

    async def receive_webhook(self, request: web.Request) -> web.Response:
        """Receive a monitoring tool's post; respond with "ok" or Slack's error code as text."""
        body = await request.text()
        try:
            payload = _read_payload(request, body)
            channel = self._receive(request.match_info, payload)
        except SlackRefused as refused:
            error = refused.error
            self.core.traffic.note(self.core.now(), "webhook", error, body=body)
            headers = {"Retry-After": str(self.core.knobs.retry_after_s)} if error == "ratelimited" else {}
            return web.Response(text=_BODY.get(error, error), status=_STATUS.get(error, 400), headers=headers)
        self.core.traffic.note(self.core.now(), "webhook", "ok", body=payload, channel=channel.id)
        return web.Response(text="ok")

    def _receive(self, address: Mapping[str, str], payload: JSON) -> LocalChannel:
        workspace = self.core.workspace
        if self.core.knobs.take_count(self.core.knobs.limited, "webhook"):
            raise SlackRefused("ratelimited")
        if address["team"] != workspace.team_id:
            raise SlackRefused("no_team")
        hook = self.core.webhooks.get(address["hook"])
        if hook is None:
            raise SlackRefused("no_service")
        if hook.secret != address["secret"]:
            raise SlackRefused("invalid_token")
        if not any(payload.get(k) for k in ("text", "attachments", "blocks")):
            raise SlackRefused("no_text")
        if self.core.knobs.validate and (problems := validate_message(payload)):
            raise SlackRefused(problems[0].error)
        channel = self._channel(hook, payload)
        self.core.add_message(channel, messages.build_webhook_message(workspace, hook.app, payload))
        return channel

    def _channel(self, hook: IncomingWebhook, payload: Mapping[str, Any]) -> LocalChannel:
        """Return the channel that the payload names, as older webhooks allow, or else the webhook's own."""
        return self.core.workspace.channel(str(payload.get("channel") or hook.channel))

    async def receive_response(self, request: web.Request) -> web.Response:
        """Receive the app's response to an interaction: a new message, or a replacement or deletion of the original."""
        body = await request.text()
        try:
            payload = _read_payload(request, body)
            hook = self.core.surfaces.use_response_url(request.match_info["hook"], self.core.now())
            self._respond(hook, payload)
        except SlackRefused as refused:
            self.core.traffic.note(self.core.now(), "response_url", refused.error, body=body)
            status = 404 if refused.error in ("expired_url", "used_url") else 400
            return web.json_response({"ok": False, "error": refused.error}, status=status)
        self.core.traffic.note(self.core.now(), "response_url", "ok", body=payload)
        return web.json_response({"ok": True})

    def _respond(self, hook: ResponseUrl, payload: JSON) -> None:
        if payload.get("delete_original"):
            self._delete_original(hook)
            return
        if not any(payload.get(k) for k in ("text", "attachments", "blocks")):
            raise SlackRefused("no_text")
        if self.core.knobs.validate and (problems := validate_message(payload)):
            raise SlackRefused(problems[0].error)
        if payload.get("replace_original") and hook.ts:
            self._replace_original(hook, payload)
        else:
            self._add(hook, payload)

    def _add(self, hook: ResponseUrl, payload: JSON) -> None:
        workspace = self.core.workspace
        channel = workspace.channels[hook.channel]
        thread_ts = payload.get("thread_ts")
        if payload.get("response_type") == "in_channel":
            fields = messages.build_webhook_message(workspace, workspace.bot, payload)
            self.core.add_message(channel, fields, thread_ts=thread_ts)
        else:
            self.core.add_ephemeral(channel, hook.user, {**payload, "thread_ts": thread_ts or hook.thread_ts})

    def _replace_original(self, hook: ResponseUrl, payload: JSON) -> None:
        workspace = self.core.workspace
        changes = {k: payload.get(k) for k in ("text", "blocks", "attachments")}
        if not hook.ephemeral:
            self.core.edit_message(workspace.channels[hook.channel], hook.ts or "", changes, None)
            return
        for message in workspace.ephemerals:
            if message["ts"] == hook.ts:
                messages.edit(workspace, message, copy_json(changes), editor=None, now=self.core.now())
        self.core.notify_waiters()

    def _delete_original(self, hook: ResponseUrl) -> None:
        workspace = self.core.workspace
        if not hook.ephemeral and hook.ts:
            self.core.delete_message(workspace.channels[hook.channel], hook.ts)
            return
        workspace.ephemerals = [m for m in workspace.ephemerals if m["ts"] != hook.ts]
        self.core.notify_waiters()


def _read_payload(request: web.Request, body: str) -> JSON:
    """Return the JSON of the body or of the form's `payload`. Raises SlackRefused invalid_payload."""
    text = parse_qs(body).get("payload", [""])[0] if "form" in request.content_type else body
    try:
        payload = json.loads(text)
    except ValueError:
        raise SlackRefused("invalid_payload") from None
    if not isinstance(payload, dict):
        raise SlackRefused("invalid_payload")
    return payload
