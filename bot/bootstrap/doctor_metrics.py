"""Each metrics server asked once for what an alert of each service would ask of it. Must not change anything, and must not
show more of a server than the names of signals.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import datetime

from bot.adapters.prometheus import MetricsServer
from bot.adapters.prometheus_api import Api
from bot.bootstrap.configuration import read_configuration
from bot.bootstrap.doctor_sources import fix_of
from bot.bootstrap.finding import Finding
from bot.bootstrap.metrics import metrics_servers
from bot.domain.alert import Alert, AlertState
from bot.domain.evidence import Observed, Unavailable
from bot.ports import ConfigurationRejected, EvidenceUnavailable
from bot.settings import Settings

DEADLINE_S = 30.0
MOST_SERVICES = 20
NOTHING = (
    "Say under which labels they are: services.<name>.metrics.labels, or the server's selector. Metrics with names of your"
    " own: services.<name>.metrics.signals (docs/evidence.md lists the names that are known)."
)
RULES = "Where a vmalert of its own holds the rules, name it with rules_url."


async def metrics(settings: Settings, at: datetime) -> tuple[Finding, ...]:
    """What each server says. Empty where the file itself is wrong or missing: that is told already."""
    if settings.precedent_config is None:
        return ()
    try:
        configuration = read_configuration(settings.precedent_config)
    except ConfigurationRejected:
        return ()
    try:
        servers = metrics_servers(configuration)
    except ConfigurationRejected as problem:
        return (Finding("Metrics", False, str(problem), "Set that variable (or <NAME>_FILE), or correct the file."),)
    if not servers:
        return (Finding("Metrics", None, "the file names no metrics server ([prometheus.<name>])"),)
    asked = await asyncio.gather(*(_examined(server, tuple(configuration.services), at) for server in servers))
    return tuple(finding for found in asked for finding in found)


async def _examined(server: MetricsServer, services: Iterable[str], at: datetime) -> tuple[Finding, ...]:
    check = f"Metrics {server.name}"
    try:
        async with asyncio.timeout(DEADLINE_S):
            await Api(server.server).vector("vector(1)", at)
            rules = await _rules(server, check)
            asked = [await _service(server, check, name, at) for name in tuple(services)[:MOST_SERVICES]]
    except TimeoutError:
        return (Finding(check, False, f"not done within {DEADLINE_S:g} s", fix_of("no answer within")),)
    except EvidenceUnavailable as problem:
        return (Finding(check, False, f"{server.server.base}: {problem}", fix_of(str(problem))),)
    return (Finding(check, True, f"{server.server.base} answers"), *rules, *asked)


async def _rules(server: MetricsServer, check: str) -> tuple[Finding, ...]:
    try:
        await Api(server.rules or server.server).rules("")
    except EvidenceUnavailable as problem:
        return (Finding(f"{check} rules", False, f"alerting rules cannot be read: {problem}", RULES),)
    return ()


async def _service(server: MetricsServer, check: str, name: str, at: datetime) -> Finding:
    """What an alert of this service would show."""
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
