"""Build the metrics servers that the configuration names. Only `doctor` asks them at this point."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator

from bot.adapters.evidence.addresses import find_server_problem
from bot.adapters.evidence.http_source import HttpSource
from bot.adapters.evidence.metric_templates import MetricTemplate
from bot.adapters.evidence.prometheus import MetricsServer
from bot.adapters.evidence.selectors import Selectors
from bot.bootstrap.config.file import Configuration
from bot.bootstrap.config.metrics import MetricsEntry, PrometheusEntry, SignalEntry
from bot.domain.catalog.vendors import fold_name
from bot.ports.errors import ConfigurationRejected
from bot.settings import read_secret

Secret = Callable[[str], str | None]


def build_metrics_servers(configuration: Configuration, secret: Secret = read_secret) -> tuple[MetricsServer, ...]:
    """Build one provider for each server. Raises ConfigurationRejected if a key is missing or would go unencrypted over
    the internet."""
    named = tuple(_iterate_aliases(configuration))
    labels = {alias: entry.labels for alias, entry in named if entry.labels}
    pods = {alias: entry.pods for alias, entry in named if entry.pods}
    own = {alias: _build_templates(entry) for alias, entry in named if entry.signals}
    return tuple(
        MetricsServer(
            name,
            _build_server(f"prometheus.{name}", entry, entry.url, secret),
            _build_server(f"prometheus.{name}", entry, entry.rules_url, secret) if entry.rules_url else None,
            entry.environments,
            Selectors(labels, entry.selector),
            Selectors(pods, entry.pods),
            own,
            len(configuration.prometheus) == 1,
        )
        for name, entry in configuration.prometheus.items()
    )


def _iterate_aliases(configuration: Configuration) -> Iterator[tuple[str, MetricsEntry]]:
    """Yield every name that an alert may call a service by, case-folded, with the service's metrics entry."""
    for name, entry in configuration.services.items():
        for alias in (name, *entry.aliases):
            yield fold_name(alias), entry.metrics


def _build_templates(entry: MetricsEntry) -> tuple[MetricTemplate, ...]:
    return tuple(_build_template(signal, one) for signal, one in entry.signals.items())


def _build_template(signal: str, said: SignalEntry) -> MetricTemplate:
    what = said.what or signal.replace("_", " ")
    return MetricTemplate(
        signal, what, said.unit, said.query, scale=said.scale, window=said.window, threshold=said.threshold
    )


def _build_server(where: str, entry: PrometheusEntry, url: str, secret: Secret) -> HttpSource:
    key, scheme = None, "Bearer"
    if entry.token_env:
        key = _read_key(f"{where}.token_env", entry.token_env, secret)
    elif entry.password_env:
        password = _read_key(f"{where}.password_env", entry.password_env, secret)
        key, scheme = base64.b64encode(f"{entry.user}:{password}".encode()).decode(), "Basic"
    if problem := find_server_problem(url, has_key=bool(key)):
        raise ConfigurationRejected(f"{where}: {url} {problem}.")
    return HttpSource(url, key, scheme, timeout_s=entry.timeout_s)


def _read_key(where: str, name: str, secret: Secret) -> str:
    try:
        found = secret(name)
    except OSError as problem:
        raise ConfigurationRejected(f"{where}: {name}_FILE: {problem.strerror}.") from problem
    if not found:
        raise ConfigurationRejected(f"{where}: {name} is not set where the bot runs.")
    return found
