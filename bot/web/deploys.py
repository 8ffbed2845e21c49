"""`POST /webhook/deploy`: a pipeline reports that it deployed, with the bearer token of the alert webhooks.

A deploy is stored before it is answered with 200. The token is checked before the body is read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from aiohttp import web
from pydantic import AwareDatetime, BaseModel, ConfigDict

from bot.domain.catalog.vendors import STANDARD, Directory, resolve_service
from bot.domain.evidence.deploys import Deploy, sanitize_deploy
from bot.ports.errors import StoreUnavailable
from bot.web.payloads import HttpAddress, ShortText
from bot.web.webhooks import RequestRefused, read_body, read_json, require_token, validate_body

PATH = "/webhook/deploy"
# A pipeline that repeats itself means the same deploy, one that deploys the same version again later does not.
SAME_WITHIN = timedelta(minutes=10)
EARLIEST, LATEST = timedelta(days=7), timedelta(minutes=5)
Record = Callable[[Deploy], Awaitable[bool]]


class DeployBody(BaseModel):
    """The JSON of one deploy. Only `service` is needed; a repeated `id` changes what was reported before."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    service: ShortText
    version: ShortText | None = None
    environment: ShortText | None = None
    state: ShortText | None = None
    by: ShortText | None = None
    url: HttpAddress | None = None
    at: AwareDatetime | None = None
    id: ShortText | None = None


@dataclass(frozen=True, slots=True)
class DeployIntake:
    """What the route needs."""

    # Stores a deploy and tells whether it is new.
    record: Record
    now: Callable[[], datetime]
    token: str | None = None
    names: Directory = STANDARD


def add_deploys(app: web.Application, intake: DeployIntake) -> None:
    """Add the route to an aiohttp application."""

    async def deploy(request: web.Request) -> web.Response:
        try:
            return web.json_response(await _accept(request, intake))
        except RequestRefused as refused:
            return refused.response()

    app.router.add_post(PATH, deploy, name="webhook-deploy")


async def _accept(request: web.Request, intake: DeployIntake) -> dict[str, Any]:
    require_token(request.headers.get("Authorization", ""), intake.token)
    raw = await read_body(request)
    deploy = read_deploy(validate_body(read_json(raw), DeployBody), raw, intake.now(), intake.names)
    try:
        new = await intake.record(deploy)
    except StoreUnavailable as down:
        raise RequestRefused(503, "The deploy cannot be kept now.", "Send it again in some seconds.") from down
    return {"accepted": True, "repeated": not new, "service": deploy.service, "at": deploy.at.isoformat()}


def read_deploy(body: DeployBody, raw: bytes, now: datetime, names: Directory) -> Deploy:
    """Return the deploy of a body that was sent now. Raises RequestRefused for a time that cannot be meant."""
    at = body.at or now
    if not now - EARLIEST <= at <= now + LATEST:
        raise RequestRefused(
            422, f"at: {at.isoformat()} is no time of the last week.", "Send ISO 8601 with the zone, or leave it out."
        )
    service = resolve_service(body.service, names)
    since = "" if body.at else f"/{int(now.timestamp() // SAME_WITHIN.total_seconds())}"
    fact = f"id/{service}/{body.id}" if body.id else f"{hashlib.sha256(raw).hexdigest()}{since}"
    key = f"webhook/{hashlib.sha256(fact.encode()).hexdigest()[:32]}"
    return sanitize_deploy(
        Deploy(service, at, body.version, body.environment, body.by, body.state, body.url, key, "webhook")
    )
