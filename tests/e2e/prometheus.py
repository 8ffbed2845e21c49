"""A real Prometheus and a real Alertmanager on loopback: what is measured is told, everything else is theirs."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeVar

import aiohttp
import pytest
from aiohttp import web

from tests.ports import free_port

PROMETHEUS, ALERTMANAGER, VICTORIA = "prometheus", "prometheus-alertmanager", "victoria-metrics"
READY_S = 20.0

ROUTES = """
global: {{resolve_timeout: 10s}}
route: {{receiver: slack, group_by: [alertname, service], group_wait: 1s, group_interval: 3s, repeat_interval: 6s}}
receivers:
- name: slack
  slack_configs: [{{api_url: '{webhook}', channel: '#{channel}', send_resolved: true}}]
"""
SCRAPES = """
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: [{rules}]
alerting: {{alertmanagers: [{{static_configs: [{{targets: ['127.0.0.1:{alertmanager}']}}]}}]}}
scrape_configs: [{{job_name: pods, static_configs: [{{targets: ['127.0.0.1:{metrics}']}}]}}]
"""
RULES = """
groups:
- name: pods
  rules:
  - alert: PodCrashLooping
    expr: pod_restarting > 0
    labels: {severity: critical}
    annotations: {summary: 'Pod {{ $labels.pod }} of {{ $labels.service }} is crash looping.'}
"""


class Exporter(Protocol):
    """What is scraped."""

    async def metrics(self, request: web.Request) -> web.Response: ...


Scraped = TypeVar("Scraped", bound=Exporter)


@dataclass
class Pods:
    """What the pods of one service say of themselves: which ones restart."""

    restarting: dict[str, bool] = field(default_factory=dict)

    def become(self, **pods: bool) -> None:
        self.restarting |= pods

    async def metrics(self, _request: web.Request) -> web.Response:
        lines = [f'pod_restarting{{service="ledger",pod="{pod}"}} {int(on)}' for pod, on in self.restarting.items()]
        return web.Response(text="# TYPE pod_restarting gauge\n" + "\n".join(lines) + "\n")


def require(*more: str) -> None:
    """Skip where they are not installed; an error where they have to be."""
    missing = [name for name in (PROMETHEUS, ALERTMANAGER, *more) if shutil.which(name) is None]
    if missing and os.environ.get("REQUIRE_SERVICES") == "1":
        raise RuntimeError(f"not installed: apt install {' '.join(missing)}")
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")


async def _answers(port: int, ready: str) -> None:
    async with aiohttp.ClientSession() as session:
        for _ in range(int(READY_S / 0.1)):
            try:
                async with session.get(f"http://127.0.0.1:{port}{ready}") as answer:
                    if answer.status == 200:
                        return
            except aiohttp.ClientError:
                pass
            await asyncio.sleep(0.1)
    raise TimeoutError(f"nothing is ready on port {port}")


@asynccontextmanager
async def _running(name: str, log: Path, port: int, *arguments: str, ready: str = "/-/ready") -> AsyncIterator[None]:
    with log.open("ab") as out:
        process = await asyncio.create_subprocess_exec(name, *arguments, stdout=out, stderr=out)
    try:
        await _answers(port, ready)
        yield
    finally:
        process.terminate()
        await asyncio.wait_for(process.wait(), READY_S)


@asynccontextmanager
async def _exporting(exporter: Exporter) -> AsyncIterator[int]:
    app, port = web.Application(), free_port()
    app.router.add_get("/metrics", exporter.metrics)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    try:
        yield port
    finally:
        await runner.cleanup()


@asynccontextmanager
async def victoria(folder: Path, exporter: Exporter) -> AsyncIterator[str]:
    """A VictoriaMetrics that scrapes the exporter; its address."""
    port = free_port()
    async with _exporting(exporter) as metrics:
        scrapes = f"scrape_configs: [{{job_name: pods, scrape_interval: 1s, static_configs: [{{targets: ['127.0.0.1:{metrics}']}}]}}]"
        (folder / "victoria.yml").write_text(scrapes)
        to_victoria = (
            f"-promscrape.config={folder / 'victoria.yml'}",
            f"-storageDataPath={folder / 'victoria'}",
            f"-httpListenAddr=127.0.0.1:{port}",
            "-search.latencyOffset=0s",
        )
        async with _running(VICTORIA, folder / "victoria.log", port, *to_victoria, ready="/health"):
            yield f"http://127.0.0.1:{port}"


@asynccontextmanager
async def monitoring(folder: Path, webhook: str, channel: str) -> AsyncIterator[Pods]:
    """Both at work, posting to this webhook with Alertmanager's own Slack template."""
    async with watching(folder, webhook, channel, Pods(), RULES) as pods:
        yield pods


@asynccontextmanager
async def watching(
    folder: Path, webhook: str, channel: str, exporter: Scraped, rules: str, port: int = 0
) -> AsyncIterator[Scraped]:
    """The same with this exporter and these rules; `port` is the Prometheus'."""
    async with _exporting(exporter) as metrics, _both(folder, webhook, channel, metrics, rules, port or free_port()):
        yield exporter


@asynccontextmanager
async def _both(
    folder: Path, webhook: str, channel: str, metrics: int, rules: str, prometheus: int
) -> AsyncIterator[None]:
    alertmanager = free_port()
    (folder / "rules.yml").write_text(rules)
    (folder / "routes.yml").write_text(ROUTES.format(webhook=webhook, channel=channel))
    scrapes = SCRAPES.format(rules=folder / "rules.yml", alertmanager=alertmanager, metrics=metrics)
    (folder / "scrapes.yml").write_text(scrapes)
    to_alertmanager = (
        f"--config.file={folder / 'routes.yml'}",
        f"--storage.path={folder / 'alertmanager'}",
        f"--web.listen-address=127.0.0.1:{alertmanager}",
        "--cluster.listen-address=",
    )
    to_prometheus = (
        f"--config.file={folder / 'scrapes.yml'}",
        f"--storage.tsdb.path={folder / 'prometheus'}",
        f"--web.listen-address=127.0.0.1:{prometheus}",
    )
    async with (
        _running(ALERTMANAGER, folder / "alertmanager.log", alertmanager, *to_alertmanager),
        _running(PROMETHEUS, folder / "prometheus.log", prometheus, *to_prometheus),
    ):
        yield
