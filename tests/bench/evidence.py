"""How long a brief takes with three sources of evidence and no model: from an event in the inbox to its durable reply.

usage: python -m tests.bench.evidence COUNT [--hang] [--alerts 1000]

Prints one JSON object. The sources are real adapters: a metrics server and a status page over HTTP on loopback, in this very
process, and a log file. With --hang the status page never answers. Must not be read as the speed of anybody's servers.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from aiohttp import web

from bot.adapters.evidence.http_source import HttpSource
from bot.adapters.evidence.logs_files import FileLogs
from bot.adapters.evidence.prometheus import MetricsServer
from bot.adapters.evidence.selectors import Selectors
from bot.adapters.evidence.vendor_status import VendorStatus
from bot.adapters.store import Store
from bot.bootstrap.system import SystemClock
from bot.bootstrap.wiring.alerts import build_answer_alert
from bot.domain.alerts.alert import Alert, AlertState, Severity
from bot.domain.evidence.items import Observed, Unavailable
from bot.ports.delivery.inbox import InboxRow, ReceivedEvent
from bot.ports.evidence import LATER, EvidenceProvider
from bot.slack.views.surfaces import SlackSurfaces
from bot.workflows.evidence.gather import GatherEvidence
from bot.workflows.recall.preview_brief import PreviewBrief
from bot.workflows.recall.recall import RecallPrecedents
from tests.adapters.evidence.prometheus_server import Prom, rule, serving
from tests.bench.speed import Remembering, filled, percentiles_ms
from tests.bench.synthetic import SyntheticEmbedder
from tests.bench.texts import questions
from tests.fakes import FakeChat
from tests.ports import free_port
from tests.workflows.world import format_ts

WARM = 20
METRICS = ("http_requests_total", "http_request_duration_seconds_bucket", "up")
SERVICE = "payments-api"


def reader(event: Mapping[str, Any]) -> Alert:
    """Each alert is of its own, with the words of a question."""
    return Alert(
        "alertmanager",
        AlertState.FIRING,
        f"bench/{event['ts']}",
        title="PaymentErrorRateHigh",
        severity=Severity.CRITICAL,
        service=SERVICE,
        vendor="razorpay",
        labels={"alertname": "PaymentErrorRateHigh"},
        text=event["said"],
    )


@asynccontextmanager
async def page(*, hangs: bool) -> AsyncIterator[str]:
    """A status page."""

    async def summary(_request: web.Request) -> web.Response:
        await asyncio.sleep(3600 if hangs else 0)
        return web.json_response({"status": {"indicator": "none"}, "components": [], "incidents": []})

    app, port = web.Application(), free_port()
    app.router.add_get("/api/v2/summary.json", summary)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        await runner.cleanup()


def log_file(folder: Path) -> Path:
    """Twenty minutes of errors."""
    begun = datetime.now(tz=UTC) - timedelta(minutes=20)
    lines = (
        {"time": (begun + timedelta(seconds=n)).isoformat(), "level": "error", "message": f"timeout after {n} ms of order {n * 7}"}
        for n in range(1200)
    )  # fmt: skip
    (folder / "payments.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return folder


@asynccontextmanager
async def sources(folder: Path, *, hangs: bool) -> AsyncIterator[tuple[EvidenceProvider, ...]]:
    values = {
        "errors:ratio": ("0.2", "0.1", "0.1", "0.2"),
        "http_request": ("9", "8", "7", "9"),
        "up": ("1", "1", "1", "1"),
    }
    async with serving(Prom(metrics=METRICS, values=values, rules=[rule()])) as prom, page(hangs=hangs) as status:
        by_service = Selectors(default={"service": ("{service}",)})
        yield (
            MetricsServer("prometheus", HttpSource(prom.url), labels=by_service, pods=by_service),
            FileLogs("logs", log_file(folder), {SERVICE.replace("-", " "): ("*.jsonl",)}),
            VendorStatus({"razorpay": HttpSource(status, timeout_s=30)}),
        )


async def taken(store: Store) -> InboxRow:
    """The event; what earlier briefs are owed by late sources is not worked on here."""
    while True:
        (row,) = await store.inbox.claim(1)
        if row.kind != LATER:
            return row
        await store.inbox.acknowledge(row)


async def answered(store: Store, gather: GatherEvidence, count: int, alerts: int) -> dict[str, Any]:
    """Each alert one after the other; the whole of what is done for it."""
    recall, chat = RecallPrecedents(index=store.index), FakeChat()
    clock = SystemClock()
    answer = build_answer_alert(
        store=store.incidents,
        preview=PreviewBrief(recall, store.index),
        chat=chat,
        surfaces=SlackSurfaces(),
        clock=clock,
        read=reader,
        sources=gather,
    )
    asked, wall, cpu, seen, unseen = questions(100, count), list[float](), list[float](), 0, 0
    warm = 0 if gather.providers else WARM  # the first alerts without evidence warm the caches for those with it
    for number in range(warm + alerts):
        ts = format_ts(clock.now() + timedelta(milliseconds=number))
        event = {"channel": "C1", "ts": ts, "said": asked[number % len(asked)]}
        await store.inbox.receive(ReceivedEvent(f"E{ts}", f"T/{ts}", "message", {"event": event}))
        row = await taken(store)
        begun, began = time.perf_counter(), time.process_time()
        await answer(row)
        if number < warm:
            continue
        wall.append(time.perf_counter() - begun)
        cpu.append(time.process_time() - began)
        (posted,) = await store.incidents.list_briefs(await store.incidents.find_incident("C1", ts) or "")
        seen += sum(isinstance(item, Observed) for item in posted.brief.evidence)
        unseen += sum(isinstance(item, Unavailable) for item in posted.brief.evidence)
    slow = [one for one in wall if one >= gather.deadline_s]
    return {
        "brief_ms": percentiles_ms(wall),
        "brief_cpu_ms": percentiles_ms(cpu),
        "longest_ms": round(max(wall) * 1000),
        "waited_for_the_deadline": len(slow),
        "seen_per_brief": round(seen / len(wall), 1),
        "unseen_per_brief": round(unseen / len(wall), 2),
    }


async def measure(count: int, alerts: int, *, hangs: bool) -> dict[str, Any]:
    figures: dict[str, Any] = {"incidents": count, "alerts": alerts, "one_hangs": hangs}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        async with (
            sources(folder, hangs=hangs) as providers,
            filled(folder / "bench.db", count, Remembering(SyntheticEmbedder()), {}) as store,
        ):
            without = GatherEvidence(providers=(), clock=SystemClock())
            bare = await answered(store, without, count, 200)
            figures |= {f"without_evidence_{name}": bare[name] for name in ("brief_ms", "brief_cpu_ms")}
            gather = GatherEvidence(providers=providers, clock=SystemClock())
            figures |= {"deadline_ms": gather.deadline_s * 1000} | await answered(store, gather, count, alerts)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int)
    parser.add_argument("--hang", action="store_true")
    parser.add_argument("--alerts", type=int, default=1000)
    given = parser.parse_args()
    print(json.dumps(asyncio.run(measure(given.count, given.alerts, hangs=given.hang))))


if __name__ == "__main__":
    main()
