"""`/healthz`, `/readyz` and `/metrics`.

Alive means that the event loop turns. Ready means that what Slack sends can be stored: the store is writable and Slack
is connected. Memory or a model that is down makes the bot degraded, never unready.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

Readiness = Callable[[], Awaitable[tuple[bool, dict[str, str]]]]


def add_routes(app: web.Application, ready: Readiness, registry: CollectorRegistry) -> None:
    """Add the three routes to an aiohttp application."""

    async def healthz(_request: web.Request) -> web.Response:
        return web.json_response({"status": "alive"})

    async def readyz(_request: web.Request) -> web.Response:
        is_ready, details = await ready()
        return web.json_response({"ready": is_ready, **details}, status=200 if is_ready else 503)

    async def metrics(_request: web.Request) -> web.Response:
        return web.Response(body=generate_latest(registry), headers={"Content-Type": CONTENT_TYPE_LATEST})

    app.router.add_get("/healthz", healthz)
    app.router.add_get("/readyz", readyz)
    app.router.add_get("/metrics", metrics)
