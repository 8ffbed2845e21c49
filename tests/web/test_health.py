from __future__ import annotations

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from prometheus_client import CollectorRegistry, Counter

from bot.web.health import add_routes


@pytest.mark.parametrize(("is_ready", "status"), [(True, 200), (False, 503)])
async def test_ready_and_alive_are_two_things(is_ready: bool, status: int) -> None:
    async def ready() -> tuple[bool, dict[str, str]]:
        return is_ready, {"store": "the disk is full"}

    registry = CollectorRegistry()
    Counter("seen", "Things seen", registry=registry).inc()
    app = web.Application()
    add_routes(app, ready, registry)
    async with TestClient(TestServer(app)) as client:
        answer = await client.get("/readyz")
        assert answer.status == status
        assert (await answer.json())["store"] == "the disk is full"
        assert (await client.get("/healthz")).status == 200
        metrics = await client.get("/metrics")
        assert "seen_total 1.0" in await metrics.text()
        assert metrics.headers["Content-Type"].startswith("text/plain")
