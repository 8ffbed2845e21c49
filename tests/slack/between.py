"""A server in Slack's place that answers as it is told. Must not behave like Slack by itself."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

PAGE = b"<html>\x1b[2J log in \xff</html>"


@dataclass
class Between:
    """Answers everything alike; `by_method` some of it otherwise."""

    url: str = ""
    given: dict[str, Any] = field(default_factory=dict)
    by_method: dict[str, Any] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.Response:
        method = request.path.rpartition("/")[2]
        self.calls.append(method)
        return web.Response(**(self.by_method.get(method) or self.given))


@asynccontextmanager
async def stands_between() -> AsyncIterator[Between]:
    """Running, at `url`."""
    found, app = Between(), web.Application()
    app.router.add_route("*", "/{path:.*}", found.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    found.url = f"http://127.0.0.1:{runner.addresses[0][1]}/api/"
    yield found
    await runner.cleanup()


def is_json(body: object, **more: Any) -> dict[str, Any]:
    """An answer in JSON."""
    return {"text": json.dumps(body), "content_type": "application/json"} | more
