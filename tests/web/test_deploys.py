"""Pipelines tell of deploys over real HTTP: who is let in, what is refused, what is kept before the 200."""

from __future__ import annotations

import io
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from bot.adapters.evidence.deploys_recorded import RecordedDeploys
from bot.domain.alerts.alert import Alert, AlertState
from bot.domain.catalog.vendors import Service, build_vendor_directory
from bot.domain.evidence.deploys import Deploy
from bot.ports.errors import EvidenceUnavailable, StoreUnavailable
from bot.web.deploys import PATH, DeployIntake, add_deploys
from tests.fakes import START, FakeClock

TOKEN = "s3cret-token-of-the-tests"
AUTH = {"Authorization": f"Bearer {TOKEN}"}
NAMES = build_vendor_directory((), (Service("checkout-api", ("Checkout",)),))
FULL = {
    "service": "Checkout",
    "version": "v142",
    "environment": "production",
    "state": "success",
    "by": "ci password=hunter2secret",
    "url": "https://ci.example/run/142?token=hunter2secret",
    "at": "2026-11-23T07:50:00+00:00",
}


@dataclass
class Log:
    """Keeps deploys; `problem` is raised instead."""

    kept: dict[str, Deploy] = field(default_factory=dict)
    problem: Exception | None = None

    async def record(self, deploy: Deploy) -> bool:
        if self.problem:
            raise self.problem
        new = deploy.key not in self.kept
        self.kept[deploy.key] = deploy
        return new

    async def list_latest(self, service: str, until: Any, limit: int) -> tuple[Deploy, ...]:
        if self.problem:
            raise self.problem
        return tuple(d for d in self.kept.values() if d.service == service and d.at <= until)[:limit]


@asynccontextmanager
async def served(log: Log, clock: FakeClock, token: str | None = TOKEN) -> AsyncIterator[Any]:
    app = web.Application(client_max_size=2 * 1024 * 1024)
    add_deploys(app, DeployIntake(log.record, clock.now, token, NAMES))
    async with TestClient(TestServer(app)) as client:

        async def send(body: Any, headers: dict[str, str] | None = None) -> tuple[int, dict[str, Any]]:
            data = io.BytesIO(body if isinstance(body, bytes) else json.dumps(body).encode())
            answer = await client.post(PATH, data=data, headers=AUTH if headers is None else headers)
            return answer.status, await answer.json()

        yield send


async def test_a_deploy_is_kept_masked_under_the_configured_name_and_shown_as_evidence() -> None:
    log, clock = Log(), FakeClock()
    async with served(log, clock) as send:
        status, said = await send(FULL)
    assert (status, said) == (
        200,
        {"accepted": True, "repeated": False, "service": "checkout-api", "at": "2026-11-23T07:50:00+00:00"},
    )
    assert "hunter2secret" not in repr(log.kept)
    alert = Alert("x", AlertState.FIRING, "f", service="checkout-api", environment="prod")
    (found,) = await RecordedDeploys(log).observe(alert, START)
    assert (found.signal, getattr(found, "at", None)) == ("deploy", START - timedelta(minutes=10))
    assert getattr(found, "text", "").startswith("v142 to production by ci password=[masked:secret]")


async def test_of_a_service_that_nobody_tells_of_nothing_is_claimed() -> None:
    log = Log({"k": Deploy("checkout-api", START - timedelta(days=1), key="k")})
    alerts = [Alert("x", AlertState.FIRING, "f", service=name) for name in ("checkout-api", "ledger", None)]
    found = [[e.signal for e in await RecordedDeploys(log).observe(alert, START)] for alert in alerts]
    assert found == [["deploy_none"], [], []]
    with pytest.raises(EvidenceUnavailable, match="the store cannot be read"):
        await RecordedDeploys(Log(problem=StoreUnavailable("down"))).observe(alerts[0], START)


async def test_the_same_deploy_told_twice_is_one() -> None:
    log, clock = Log(), FakeClock()
    async with served(log, clock) as send:
        for body in ({"service": "a1"}, FULL, {"service": "a1", "id": "run 7", "state": "started"}):
            assert [(await send(body))[1]["repeated"] for _ in range(2)] == [False, True]
        assert (await send({"service": "a1", "id": "run 7", "state": "failed"}))[1]["repeated"] is True
        clock.move(3600)
        assert (await send({"service": "a1"}))[1]["repeated"] is False
    assert sorted(d.state or "" for d in log.kept.values()) == ["", "", "failed", "success"]


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"{oops", 400, "not JSON"),
        ([1], 400, "list"),
        ({}, 422, "service"),
        ({**FULL, "colour": "red"}, 422, "colour"),
        ({**FULL, "url": "javascript:alert(1)"}, 422, "url"),
        ({**FULL, "at": "2026-11-23T07:50:00"}, 422, "at"),
        ({**FULL, "at": "2026-11-01T07:50:00Z"}, 422, "last week"),
        ({**FULL, "at": "2026-11-24T07:50:00Z"}, 422, "last week"),
        (b" " * (1024 * 1024 + 1), 413, "larger"),
    ],
)
async def test_a_wrong_request_is_told_what_is_wrong(body: Any, status: int, words: str) -> None:
    log = Log()
    async with served(log, FakeClock()) as send:
        got, said = await send(body)
    assert (got, log.kept) == (status, {})
    assert words in said["error"]
    assert said["fix"]


async def test_without_the_token_nothing_is_read_and_a_store_that_is_down_is_not_acknowledged() -> None:
    log = Log()
    async with served(log, FakeClock()) as send:
        assert (await send(b"not even json", {}))[0] == 401
        log.problem = StoreUnavailable("the disk is full")
        assert (await send(FULL))[0] == 503
    async with served(log, FakeClock(), None) as send:
        assert (await send(FULL))[0] == 404
