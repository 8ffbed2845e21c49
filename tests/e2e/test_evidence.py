"""The payment incident with real servers: what they measure stands under NOW, what was remembered under memory, and after
the fix the same brief says so."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from aiohttp import web

from bot.adapters.evidence.http_source import HttpSource
from bot.adapters.evidence.prometheus import MetricsServer
from bot.adapters.evidence.prometheus_api import PrometheusApi
from bot.bootstrap.config.file import read_configuration
from bot.bootstrap.modes.playground import Playground
from bot.bootstrap.wiring.evidence_metrics import build_metrics_servers
from bot.domain.alerts.alert import Alert, AlertState
from bot.domain.evidence.items import Evidence, Observed
from bot.domain.incidents.record import Attempt, Boundary, FailedCheck, Incident, VerificationStatus
from bot.domain.recall.query import OPERATOR
from bot.ports.errors import EvidenceUnavailable
from bot.ports.unit_of_work import Changes
from tests.e2e.process import said
from tests.e2e.prometheus import VICTORIA, require, victoria, watching
from tests.e2e.prometheus_support import CHANNEL, own
from tests.ports import free_port

PATIENCE_S = 25.0
RULES = """
groups:
- name: payments
  rules:
  - alert: PaymentErrorRateHigh
    expr: sum(rate(http_requests_total{service="payments-api",code=~"5.."}[4s])) / sum(rate(http_requests_total{service="payments-api"}[4s])) > 0.05
    labels: {severity: critical, service: payments-api}
    annotations: {summary: 'Payments fail.'}
"""
CONFIG = """
[prometheus.main]
url = "%s"
[services.payments-api.metrics.signals.cache_latency]
query = 'max(cache_latency_seconds{$labels})'
unit = "ms"
scale = 1000
[services.payments-api.metrics.signals.broken]
query = 'sum(http_requests_total{$labels}'
what = "broken query"
[services.payments-api.metrics.signals.nothing]
query = 'sum(no_such_metric{$labels})'
what = "absent metric"
[services.payments-api.metrics.signals.per_nothing]
query = 'sum(idle_total{$labels}) / sum(idle_total{$labels})'
what = "share of nothing"
"""
LABELS = 'service="payments-api"'


@dataclass
class Payments:
    """What payments-api says of itself: broken, 18.2 % of requests fail, p95 is 840 ms, the cache takes 420 ms, the pool is
    full; or mended. Counters move with each scrape, so that rates have these very shares."""

    broken: bool = True
    scrapes: int = 0
    failed: int = 0

    async def metrics(self, _request: web.Request) -> web.Response:
        self.scrapes += 1
        self.failed += 728 if self.broken else 0
        lines = [
            f'http_requests_total{{{LABELS},code="200"}} {4000 * self.scrapes - self.failed}',
            f'http_requests_total{{{LABELS},code="500"}} {self.failed}',
            *(
                f'http_request_duration_seconds_bucket{{{LABELS},le="{le}"}} {n * self.scrapes}'
                for le, n in (("0.5", 3375), ("1", 4000), ("+Inf", 4000))
            ),
            f"cache_latency_seconds{{{LABELS}}} {0.42 if self.broken else 0.035}",
            f"hikaricp_connections_active{{{LABELS}}} {50 if self.broken else 12}",
            f"hikaricp_connections_max{{{LABELS}}} 50",
            f"idle_total{{{LABELS}}} 0",
        ]
        return web.Response(text="\n".join(lines) + "\n")


def remembered() -> Incident:
    at = datetime.now(tz=UTC) - timedelta(days=20)
    return Incident(
        "INC-7",
        "PaymentErrorRateHigh",
        service="payments-api",
        severity="critical",
        started_at=at,
        resolved_at=at + timedelta(minutes=40),
        boundary=Boundary.INTERNAL,
        root_cause="The connection pool was exhausted after the cache had become slow.",
        attempts=(Attempt("Recycle the pool; warm the cache", VerificationStatus.VERIFIED, by="meera", at=at),),
        failed_checks=(FailedCheck("Vendor status page", 15),),
        evidence={"pool_in_use": "100 %", "cache_latency": "380 ms"},
    )


def shown(found: Iterable[Evidence]) -> dict[str, float | str | None]:
    return {e.signal: round(e.value or 0, 1) if isinstance(e, Observed) else e.reason for e in found}


async def until(source: MetricsServer, **wanted: float) -> dict[str, float | str | None]:
    """What a server shows, once it has scraped often enough."""
    seen: dict[str, float | str | None] = {}
    for _ in range(int(PATIENCE_S / 0.3)):
        alert = Alert("x", AlertState.FIRING, "f", service="payments-api")
        seen = shown(await source.observe(alert, datetime.now(tz=UTC)))
        if wanted.items() <= seen.items():
            return seen
        await asyncio.sleep(0.3)
    raise AssertionError(f"never {wanted}: {seen}")


@pytest.mark.integration
async def test_the_payment_incident_with_evidence_from_real_servers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require(VICTORIA)
    payments, port = Payments(), free_port()
    config = tmp_path / "precedent.toml"
    config.write_text(CONFIG % f"http://127.0.0.1:{port}")
    monkeypatch.setenv("PRECEDENT_CONFIG", str(config))
    async with Playground(seeded=False).open() as opened:
        past = remembered()
        await opened.bot.memory.incidents.commit(Changes(records=(past,), recallable=frozenset({past.incident_id})))
        await opened.slack.add_channel(CHANNEL, members=["maya"], bot=True)
        webhook = await opened.slack.webhook_url(CHANNEL)
        async with watching(tmp_path, webhook, CHANNEL, payments, RULES, port), victoria(tmp_path, payments) as other:
            (brief,) = await opened.slack.wait_until(lambda: own(opened), PATIENCE_S)
            text = said(brief)
            now, memory = text[text.index("*NOW*") : text.index("*BOUNDARY*")], text[text.index("*BOUNDARY*") :]
            for line in (
                "PaymentErrorRateHigh *0.182* · firing since",
                "error rate *18.2 %* (5 min)",
                "p95 latency *840 ms*",
                "connection pool in use *100 %*",
                "cache latency *420 ms*",
                "threshold 0.05",
            ):
                assert line in now, text
            assert "INC-7" not in now
            assert "ROOT CAUSE (memory)* The connection pool was exhausted" in memory
            assert "connection pool in use: then 100 %, now 100 %" in memory
            assert "cache latency: then 380 ms, now 420 ms" in memory
            metrics = configured(config)
            every = await until(metrics, error_ratio=18.2)
            assert str(every["broken"]).startswith("HTTP 400: ")
            assert (every["nothing"], str(every["per_nothing"])[:18]) == ("no data", "not a number (NaN)")

            alike = await until(
                configured(config, other), error_ratio=18.2, p95=840, pool_in_use=100, cache_latency=420
            )
            assert str(alike["broken"]).startswith("HTTP 422: ")
            await refusals(f"http://127.0.0.1:{port}", other)

            payments.broken = False
            await opened.slack.wait_until(lambda: "*Cleared*" in said(own(opened)[0]), PATIENCE_S)
            await opened.slack.wait_until(lambda: "connection pool in use *24 %*" in said(own(opened)[0]), PATIENCE_S)
            after = said(own(opened)[0])
            assert "not firing now" in after
            assert "cache latency *35 ms*" in after
        (life,) = await opened.bot.memory.incidents.list_open_lifecycles(OPERATOR)
        record = await opened.bot.memory.incidents.read_record(life.incident_id)
        assert {k: record.evidence[k] for k in ("error_ratio", "p95", "pool_in_use", "cache_latency")} == {
            "error_ratio": "18.2 %",
            "p95": "840 ms",
            "pool_in_use": "100 %",
            "cache_latency": "420 ms",
        }
    with pytest.raises(EvidenceUnavailable, match="cannot be reached"):
        await configured(config).observe(
            Alert("x", AlertState.FIRING, "f", service="payments-api"), datetime.now(tz=UTC)
        )


def configured(config: Path, url: str | None = None) -> MetricsServer:
    """The server of the configuration, or another one by the same configuration."""
    (found,) = build_metrics_servers(read_configuration(config))
    return replace(found, server=HttpSource(url)) if url else found


async def refusals(prometheus: str, other: str) -> None:
    """What real servers refuse, in their own words."""
    at = datetime.now(tz=UTC)
    first, second = PrometheusApi(HttpSource(prometheus)), PrometheusApi(HttpSource(other))
    with pytest.raises(EvidenceUnavailable, match="11,000 points"):
        await first.query_range("up", at - timedelta(hours=4), at, 1)
    with pytest.raises(EvidenceUnavailable, match="type string, not numbers"):
        await first.query_instant('"a text"', at)
    with pytest.raises(EvidenceUnavailable, match=r"^HTTP 4\d\d: "):
        await second.query_instant("sum(rate(", at)
    with pytest.raises(EvidenceUnavailable, match=r"^HTTP 4\d\d|none of a Prometheus"):
        await PrometheusApi(HttpSource(f"{prometheus}/nothing")).query_instant("up", at)
    assert (await first.query_instant("1", at)).points[0].value == 1
