"""Local servers that speak what Loki, a journal gateway, GitHub, Argo CD and Statuspage document, well or badly."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer

from bot.bootstrap.config.file import read_configuration
from bot.bootstrap.wiring.evidence_sources import build_source_providers
from bot.domain.alerts.alert import Alert, AlertState
from bot.domain.evidence.items import Evidence
from bot.ports.evidence import EvidenceProvider

AT = datetime(2026, 11, 23, 8, 0, tzinfo=UTC)
ALERT = Alert("alertmanager", AlertState.FIRING, "f1", service="checkout-api", environment="prod", vendor="razorpay")
SECRET = "hunter2secret"
KEY = "k3y-of-the-tests"
SERVICES = """
[services.checkout-api]
aliases = ["Checkout"]
repository = "acme/checkout"
argocd = "checkout-prod"
"""


@dataclass
class Says:
    """One answer."""

    body: Any = b""
    status: int = 200
    kind: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0.0

    def response(self) -> web.Response:
        raw = self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()
        return web.Response(body=raw, status=self.status, headers={"Content-Type": self.kind, **self.headers})


@dataclass
class Local:
    """A server that answers each request by `answer(path)`, and remembers what it was asked."""

    answer: Callable[[str], Says]
    asked: list[web.Request] = field(default_factory=list)

    async def handle(self, request: web.Request) -> web.Response:
        self.asked.append(request)
        says = self.answer(request.path)
        await asyncio.sleep(says.delay_s)
        return says.response()


@asynccontextmanager
async def served(answer: Callable[[str], Says]) -> AsyncIterator[tuple[Local, str]]:
    """The server at work, and its address."""
    local, app = Local(answer), web.Application()
    app.router.add_route("*", "/{tail:.*}", local.handle)
    async with TestServer(app) as server:
        yield local, f"http://127.0.0.1:{server.port}"


def provider(folder: Path, toml: str, secret: str | None = KEY) -> EvidenceProvider:
    """The one provider that this configuration file names."""
    file = folder / "precedent.toml"
    file.write_text(toml + SERVICES)
    (found,) = build_source_providers(read_configuration(file), lambda _: secret)
    return found


def ago(**delta: float) -> datetime:
    return AT - timedelta(**delta)


def iso(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def texts(found: list[Evidence] | tuple[Evidence, ...]) -> str:
    return repr(found)


# --- what each says when all is well -------------------------------------------------------------------------------


def loki(path: str) -> Says:
    def line(seconds: int, text: str) -> list[str]:
        return [f"{int(ago(seconds=seconds).timestamp()) * 10**9}", text]

    lines = [line(n, f"pool exhausted after {n} ms password={SECRET}") for n in range(10, 60, 10)]
    streams = [
        {"stream": {"app": "checkout-api", "pod": "a"}, "values": lines},
        {"stream": {"app": "checkout-api", "pod": "b"}, "values": [line(5, "HTTP 504 from gateway")]},
    ]
    return Says({"status": "success", "data": {"resultType": "streams", "result": streams, "stats": {}}})


def journald(path: str) -> Says:
    def entry(seconds: int, message: Any) -> str:
        at = str(int(ago(seconds=seconds).timestamp() * 10**6))
        return json.dumps({"__CURSOR": "s=1", "__REALTIME_TIMESTAMP": at, "PRIORITY": "3", "MESSAGE": message})

    said = [
        entry(3000, "too old"),
        entry(20, f"token={SECRET} refused"),
        entry(9, list(b"bytes \xff failed")),
        entry(8, None),
    ]
    return Says(("\n".join(said) + "\n").encode())


def github(path: str) -> Says:
    if path.endswith("/statuses"):
        return Says([{"id": 1, "state": "success", "created_at": iso(ago(minutes=11))}])
    made = {"ref": "v142", "sha": "a84d88e7554fc1fa21bcbc4efae3c782a70d2b9d", "creator": {"login": "ci-bot"}}
    listed = [
        {"id": 3, "environment": "staging", "created_at": iso(ago(minutes=2)), **made},
        {"id": 2, "environment": "production", "created_at": iso(ago(minutes=12)), **made, "payload": f"password={SECRET}"},
        {"id": 1, "environment": "production", "created_at": iso(ago(minutes=90)), **made},
    ]  # fmt: skip
    return Says(listed)


def argo(path: str) -> Says:
    history = [
        {"id": 13, "revision": "0" * 40, "deployedAt": iso(ago(minutes=200))},
        {"id": 14, "revision": "a84d88e7554fc1fa21bcbc4efae3c782a70d2b9d", "deployedAt": iso(ago(minutes=12)),
         "initiatedBy": {"username": f"alice password={SECRET}"}},
    ]  # fmt: skip
    status = {"history": history, "sync": {"status": "Synced"}, "health": {"status": "Degraded"}}
    return Says({"metadata": {"name": "checkout-prod"}, "status": status})


def statuspage(path: str) -> Says:
    components = [
        {"name": "UPI payments", "status": "partial_outage", "group": False},
        {"name": "Dashboard", "status": "operational", "group": False},
        {"name": "Payments", "status": "partial_outage", "group": True},
    ]
    incidents = [{"name": f"UPI failures password={SECRET}", "status": "investigating", "impact": "major"}]
    status = {"indicator": "major", "description": "Partial System Outage"}
    return Says({"page": {"id": "x"}, "status": status, "components": components, "incidents": incidents})


@dataclass(frozen=True)
class Source:
    """One kind of source: what configures it (with {url}), its good answer, and what must be in what it shows."""

    toml: str
    good: Callable[[str], Says]
    shows: tuple[str, ...]
    keyed: bool = True


SOURCES = {
    "loki": Source(
        '[logs.loki]\nkind = "loki"\nurl = "{url}"\ntoken_env = "K"\ntimeout_s = 0.3\nselector = {{ app = "{{service}}" }}\n',
        loki,
        ("pool exhausted after", "count=5", "HTTP 504 from gateway", "error lines of checkout-api"),
    ),
    "journald": Source(
        '[logs.hosts]\nkind = "journald"\nurl = "{url}"\ntoken_env = "K"\ntimeout_s = 0.3\nselector = {{ _SYSTEMD_UNIT = "{{service}}.service" }}\n',
        journald,
        ("refused", "bytes", "count=1"),
    ),
    "github": Source(
        '[deploys.github]\nkind = "github"\nurl = "{url}"\ntoken_env = "K"\ntimeout_s = 0.3\n',
        github,
        ("v142 (a84d88e) to production by ci-bot: success", "signal='deploy'", "/acme/checkout/deployments"),
    ),
    "argocd": Source(
        '[deploys.argo]\nkind = "argocd"\nurl = "{url}"\ntoken_env = "K"\ntimeout_s = 0.3\n',
        argo,
        ("a84d88e7554f by alice", "Synced, Degraded", "/applications/checkout-prod"),
    ),
    "statuspage": Source(
        '[vendors.razorpay]\nstatus_page = "{url}"\n', statuspage, ("partial outage: UPI payments", "vendor_status"), keyed=False
    ),
}  # fmt: skip
