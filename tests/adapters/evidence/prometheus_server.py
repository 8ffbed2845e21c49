"""A small server that speaks Prometheus' HTTP API as far as it is asked, and plays its failures.

It knows expressions by a piece of their text; what it does not know has no data.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from aiohttp import web

from tests.builders import NOW
from tests.ports import free_port

Answer = Any
FAULTS: Mapping[str, Mapping[str, Any]] = {
    "422": {"status": 422, "json": {"status": "error", "errorType": "422", "error": "cannot execute: 11 of password=hunter22"}},
    "400": {"status": 400, "json": {"status": "error", "errorType": "bad_data", "error": "invalid parameter \"query\""}},
    "11,000": {
        "status": 400,
        "json": {"status": "error", "errorType": "bad_data", "error": "exceeded maximum resolution of 11,000 points per timeseries"},
    },
    "401": {"status": 401, "text": "<html>log in</html>", "type": "text/html"},
    "404": {"status": 404, "text": "404 page not found", "type": "text/plain"},
    "503": {"status": 503, "text": "down", "type": "text/plain"},
    "redirect": {"status": 302, "text": "", "type": "text/plain", "headers": {"Location": "http://127.0.0.1:1/"}},
    "html": {"status": 200, "text": "<html>", "type": "text/html"},
    "not json": {"status": 200, "text": "{", "type": "application/json"},
    "too big": {"status": 200, "text": '{"a":"' + "x" * 1_100_000 + '"}', "type": "application/json"},
    "not prometheus": {"status": 200, "json": [1]},
    "said error": {"status": 200, "json": {"status": "error", "errorType": "timeout", "error": "query timed out"}},
    "string": {"status": 200, "json": {"status": "success", "data": {"resultType": "string", "result": [1, "x"]}}},
    "no number": {
        "status": 200,
        "json": {"status": "success", "data": {"resultType": "matrix", "result": [{"metric": {}, "values": [[1, {}]]}]}},
    },
    "too many lines": {
        "status": 200,
        "json": {"status": "success", "data": {"resultType": "matrix", "result": [{"metric": {}, "values": []}] * 1001}},
    },
}  # fmt: skip


@dataclass
class Prom:
    """What it holds. `values`: by a piece of the expression, (now, half an hour ago, yesterday) or lines of (labels, now).
    `fault` is played for every query whose expression holds `faulty`."""

    url: str = ""
    metrics: tuple[str, ...] = ()
    values: dict[str, Any] = field(default_factory=dict)
    rules: list[dict[str, Any]] = field(default_factory=list)
    alerts: list[dict[str, Any]] | None = None
    fault: str | None = None
    faulty: str = ""
    slow_s: float = 0.0
    warnings: bool = False
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0

    async def query(self, request: web.Request) -> web.Response:
        form = {k: str(v) for k, v in (await request.post()).items()}
        self.asked.append((request.path, form))
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(self.slow_s or 0.001)
        self.at_once -= 1
        if self.fault and self.faulty in form["query"]:
            return played(self.fault)
        said: dict[str, Any] = {"status": "success", "data": self._data(request.path, form)}
        return web.json_response(said | ({"warnings": ["a store did not answer"]} if self.warnings else {}))

    def _data(self, path: str, form: Mapping[str, str]) -> dict[str, Any]:
        at = float(form.get("end") or form["time"])
        if form["query"].startswith("count by (__name__)"):
            there = [m for m in self.metrics if m in form["query"]]
            return {"resultType": "vector", "result": [{"metric": {"__name__": m}, "value": [at, "3"]} for m in there]}
        found = next((v for piece, v in self.values.items() if piece in form["query"]), ())
        if path.endswith("query_range"):
            return {"resultType": "matrix", "result": list(_lines(found, at))}
        return {
            "resultType": "vector",
            "result": [{"metric": {}, "value": [at, v]} for v in found[2:3] if isinstance(v, str)],
        }

    async def get_rules(self, request: web.Request) -> web.Response:
        self.asked.append((request.path, dict(request.query)))
        if self.fault and self.faulty == "rules":
            return played(self.fault)
        groups = [{"name": "g", "rules": [*self.rules, {"type": "recording", "name": "r", "query": "1"}]}]
        return web.json_response({"status": "success", "data": {"groups": groups}})

    async def get_alerts(self, request: web.Request) -> web.Response:
        self.asked.append((request.path, dict(request.query)))
        return web.json_response({"status": "success", "data": {"alerts": self.alerts}})


def _lines(found: Any, at: float) -> Any:
    if found and isinstance(found[0], tuple):
        for labels, now in found:
            yield {"metric": labels, "values": [[at - 1800, now], [at, now]]}
    elif found:
        yield {"metric": {}, "values": [[at - 1800, found[1]], [at - 600, found[-1]], [at, found[0]]]}


def played(fault: str) -> web.Response:
    how = FAULTS[fault]
    if "json" in how:
        return web.json_response(how["json"], status=how["status"])
    return web.Response(text=how["text"], status=how["status"], content_type=how["type"], headers=how.get("headers"))


@asynccontextmanager
async def serving(prom: Prom) -> AsyncIterator[Prom]:
    app, port = web.Application(), free_port()
    app.router.add_post("/api/v1/query", prom.query)
    app.router.add_post("/api/v1/query_range", prom.query)
    app.router.add_get("/api/v1/rules", prom.get_rules)
    app.router.add_get("/api/v1/alerts", prom.get_alerts)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    prom.url = f"http://127.0.0.1:{port}"
    try:
        yield prom
    finally:
        await runner.cleanup()


def rule(name: str = "PaymentErrorRateHigh", query: str = "errors:ratio > 0.05", **more: Any) -> dict[str, Any]:
    """A rule as the API tells it, firing for five minutes."""
    since = (NOW - timedelta(minutes=5)).strftime("%Y-%m-%dT%H:%M:%S.123456789Z")
    active = {"labels": {"alertname": name, "service": "payments-api"}, "state": "firing", "activeAt": since}
    return {
        "type": "alerting",
        "name": name,
        "query": query,
        "labels": {"severity": "critical"},
        "alerts": [active],
        **more,
    }
