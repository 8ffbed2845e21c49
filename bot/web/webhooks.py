"""`POST /webhook/alertmanager` and `/webhook/generic`: alerts that a tool hands over directly, with a bearer token.

An alert is stored durably before it is answered with 200. The token is checked before the body is read. Every refusal
is a JSON object that says what is wrong and what to do.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from aiohttp import ClientPayloadError, web
from aiohttp.http_exceptions import PayloadEncodingError
from pydantic import BaseModel, ValidationError

from bot.domain.alerts.alert import Alert
from bot.domain.catalog.vendors import STANDARD, Directory
from bot.parsers.intake.given import IntakeAlert, build_alert
from bot.ports.errors import ChatRejected, NotAllowedHere, StoreUnavailable
from bot.web.payloads import AlertmanagerBody, GenericBody

MAX_BODY = 1024 * 1024
RETRY_AFTER_S = 5
BODIES: Mapping[str, type[AlertmanagerBody | GenericBody]] = {"alertmanager": AlertmanagerBody, "generic": GenericBody}
_CHANNEL = re.compile(r"[CG][A-Z0-9]{2,20}")
Receive = Callable[[Alert, str, str], Awaitable[bool]]
BodyModel = TypeVar("BodyModel", bound=BaseModel)


class RequestRefused(Exception):
    """A request that is not acceptable: the status, what is wrong, and what to do."""

    def __init__(self, status: int, error: str, fix: str) -> None:
        super().__init__(error)
        self.status, self.error, self.fix = status, error, fix

    def response(self) -> web.Response:
        """Return the answer."""
        headers = {401: {"WWW-Authenticate": "Bearer"}, 503: {"Retry-After": str(RETRY_AFTER_S)}}.get(self.status)
        return web.json_response({"error": self.error, "fix": self.fix}, status=self.status, headers=headers)


@dataclass(frozen=True, slots=True)
class WebhookIntake:
    """What the routes need."""

    # `receive(alert, channel id, digest of the body)` stores an alert and tells whether it is new.
    receive: Receive
    token: str | None = None
    channel: str | None = None
    names: Directory = STANDARD


def add_webhooks(app: web.Application, intake: WebhookIntake) -> None:
    """Add the two routes to an aiohttp application."""

    async def webhook(request: web.Request) -> web.Response:
        try:
            return web.json_response(await _accept(request, intake))
        except RequestRefused as refused:
            return refused.response()

    for name in BODIES:
        app.router.add_post(f"/webhook/{name}", webhook, name=f"webhook-{name}")


async def _accept(request: web.Request, intake: WebhookIntake) -> dict[str, Any]:
    """Store the alert of a request, and return the answer to its sender. Raises RequestRefused."""
    require_token(request.headers.get("Authorization", ""), intake.token)
    channel = require_channel(request.query.get("channel"), intake.channel)
    raw = await read_body(request)
    given = read_intake(raw, BODIES[request.path.rpartition("/")[2]])
    alert = build_alert(given, intake.names)
    if not isinstance(alert, Alert):
        return {"accepted": False, "reason": f"this is no alert: {alert.reason}"}
    try:
        new = await intake.receive(alert, channel, hashlib.sha256(raw).hexdigest()[:32])
    except NotAllowedHere as shared:
        raise RequestRefused(403, str(shared), "Use a channel of your own organisation.") from shared
    except ChatRejected as unseen:
        raise RequestRefused(
            422, f"channel {channel}: {unseen}", "Invite the bot to the channel, or correct the id."
        ) from unseen
    except StoreUnavailable as down:
        raise RequestRefused(503, "The alert cannot be kept now.", "Send it again in some seconds.") from down
    return {"accepted": True, "repeated": not new, "channel": channel, "fingerprint": alert.fingerprint}


def require_token(header: str, token: str | None) -> None:
    """Raise RequestRefused unless the header carries the token; the comparison takes the same time for any wrong
    one."""
    if not token:
        raise RequestRefused(
            404, "Webhooks are switched off.", "Set WEBHOOK_TOKEN where the bot runs, and start it again."
        )
    scheme, _, given = header.partition(" ")
    known = hmac.compare_digest(given.strip().encode("utf-8", "replace"), token.encode())
    if scheme.casefold() != "bearer" or not known:
        raise RequestRefused(
            401, "The token is missing or wrong.", "Send the header “Authorization: Bearer <WEBHOOK_TOKEN>”."
        )


def require_channel(wanted_channel: str | None, default: str | None) -> str:
    """Return the channel id for the alert. Raises RequestRefused where there is none or it is no id."""
    channel = wanted_channel or default
    if not channel:
        raise RequestRefused(422, "No channel is named.", "Add ?channel=C… to the address, or set WEBHOOK_CHANNEL.")
    if not _CHANNEL.fullmatch(channel):
        fix = "Copy the id that begins with C from the end of the channel's details in Slack."
        raise RequestRefused(422, f"“{channel[:80]}” is no channel id.", fix)
    return channel


async def read_body(request: web.Request) -> bytes:
    """Return the body. Raises RequestRefused for one that is larger than the limit, without holding it in memory."""
    too_large = RequestRefused(413, f"The body is larger than {MAX_BODY} bytes.", "Send fewer alerts at once.")
    if (request.content_length or 0) > MAX_BODY:
        raise too_large
    parts: list[bytes] = []
    left = MAX_BODY
    try:
        async for part in request.content.iter_chunked(64 * 1024):
            left -= len(part)
            if left < 0:
                raise too_large
            parts.append(part)
    except (PayloadEncodingError, ClientPayloadError, web.RequestPayloadError) as broken:
        raise RequestRefused(
            400, "The body ended early or is not compressed as it says.", "Send it again, whole."
        ) from broken
    return b"".join(parts)


def read_intake(raw: bytes, model: type[AlertmanagerBody | GenericBody]) -> IntakeAlert:
    """Return the alert in a body. Raises RequestRefused with the first fields that are wrong."""
    return validate_body(read_json(raw), model).to_intake()


def read_json(raw: bytes) -> dict[str, Any]:
    """Return the JSON object in a body. Raises RequestRefused."""
    try:
        body = json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as bad:
        raise RequestRefused(400, "The body is not JSON that can be read.", "Send one JSON object in UTF-8.") from bad
    if not isinstance(body, dict):
        raise RequestRefused(400, f"The body is JSON, but a {type(body).__name__}.", "Send one JSON object.")
    return body


def validate_body(body: Mapping[str, Any], model: type[BodyModel]) -> BodyModel:
    """Return the body as its model. Raises RequestRefused with the first fields that are wrong."""
    try:
        return model.model_validate(body)
    except ValidationError as bad:
        wrong = "; ".join(_format_error(error) for error in bad.errors()[:5])
        raise RequestRefused(422, wrong, _format_expected(model)) from bad


def _format_error(error: Any) -> str:
    where = ".".join(str(part) for part in error["loc"])
    return f"{where[:120]}: {error['msg'][:200]}"


def _format_expected(model: type[BaseModel]) -> str:
    if model is AlertmanagerBody:
        return "Send Alertmanager's own webhook JSON (version 4)."
    needed = ", ".join(name for name, field in model.model_fields.items() if field.is_required())
    return f"Allowed fields: {', '.join(model.model_fields)}. Only {needed} is needed."
