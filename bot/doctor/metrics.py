"""Ask each metrics server what an alert of each service would ask of it.

Must not show more of a server than the names of signals.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import datetime

from bot.adapters.evidence.prometheus import MetricsServer
from bot.adapters.evidence.prometheus_api import PrometheusApi
from bot.bootstrap.config.file import Configuration
from bot.bootstrap.wiring.evidence_metrics import build_metrics_servers
from bot.doctor.evidence import SET_IT, suggest_fix
from bot.doctor.finding import Finding
from bot.domain.alerts.alert import Alert, AlertState
from bot.domain.evidence.items import Observed, Unavailable
from bot.ports.errors import ConfigurationRejected, EvidenceUnavailable

DEADLINE_S = 30.0
MOST_SERVICES = 20
NOTHING = (
    "Say under which labels they are: services.<name>.metrics.labels, or the server's selector. Metrics with names of your"
    " own: services.<name>.metrics.signals (docs/evidence.md lists the names that are known)."
)
RULES = "Where a vmalert of its own holds the rules, name it with rules_url."


async def check_metrics(configuration: Configuration | None, at: datetime) -> tuple[Finding, ...]:
    """Check each server. Without a configuration (None) there is nothing to check: its mistake is reported elsewhere."""
    if configuration is None:
        return ()
    if not configuration.prometheus:
        return (Finding("Metrics", None, "no metrics server is named ([prometheus.<name>])"),)
    try:
        servers = build_metrics_servers(configuration)
    except ConfigurationRejected as problem:
        return (Finding("Metrics", False, str(problem), SET_IT),)
    asked = await asyncio.gather(*(_check_server(server, tuple(configuration.services), at) for server in servers))
    return tuple(finding for found in asked for finding in found)


async def _check_server(server: MetricsServer, services: Iterable[str], at: datetime) -> tuple[Finding, ...]:
    check = f"Metrics {server.name}"
    try:
        async with asyncio.timeout(DEADLINE_S):
            await PrometheusApi(server.server).query_instant("vector(1)", at)
            rules = await _check_rules(server, check)
            asked = [await _check_service(server, check, name, at) for name in tuple(services)[:MOST_SERVICES]]
    except TimeoutError:
        return (Finding(check, False, f"not done within {DEADLINE_S:g} s", suggest_fix("no answer within")),)
    except EvidenceUnavailable as problem:
        return (Finding(check, False, f"{server.server.base}: {problem}", _suggest_fix(server.name, str(problem))),)
    return (Finding(check, True, f"{server.server.base} answers"), *rules, *asked)


def _suggest_fix(name: str, problem: str) -> str:
    """Suggest a fix for a server that does not answer like one."""
    if "HTTP 404" in problem:
        return f"Correct [prometheus.{name}] url: the base address, without /api/v1 or /graph."
    if "HTTP 401" in problem or "HTTP 403" in problem:
        return f"Put a key that may read this into the variable that [prometheus.{name}] token_env (or password_env) names."
    return suggest_fix(problem)


async def _check_rules(server: MetricsServer, check: str) -> tuple[Finding, ...]:
    try:
        await PrometheusApi(server.rules or server.server).list_rules("")
    except EvidenceUnavailable as problem:
        return (Finding(f"{check} rules", False, f"alerting rules cannot be read: {problem}", RULES),)
    return ()


async def _check_service(server: MetricsServer, check: str, name: str, at: datetime) -> Finding:
    """Check what an alert of this service would show."""
    found = await server.observe(Alert("doctor", AlertState.FIRING, "doctor", service=name), at)
    seen = [item.signal for item in found if isinstance(item, Observed)]
    unseen = [f"{item.signal}: {item.reason}" for item in found if isinstance(item, Unavailable)]
    where = f"{check} {name}"
    if not found:
        return Finding(where, False, "no metric of a known name has its labels", NOTHING)
    if unseen:
        shown = f"; seen: {', '.join(seen)}" if seen else ""
        return Finding(where, False, f"{'; '.join(unseen)}{shown}", "Correct the query or the labels of these signals.")
    return Finding(where, True, ", ".join(seen))
