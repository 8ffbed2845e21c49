"""The metrics servers that the configuration names, made ready to be asked. Must not ask any of them but for `doctor`."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator

from bot.adapters.evidence.addresses import server_problem
from bot.adapters.evidence.http_source import Server
from bot.adapters.evidence.metric_templates import Template
from bot.adapters.evidence.prometheus import MetricsServer
from bot.adapters.evidence.selectors import Selectors
from bot.bootstrap.config.file import Configuration
from bot.bootstrap.config.metrics import MetricsEntry, PrometheusEntry, SignalEntry
from bot.domain.catalog.vendors import folded
from bot.ports import ConfigurationRejected
from bot.settings import named_secret

Secret = Callable[[str], str | None]


def metrics_servers(configuration: Configuration, secret: Secret = named_secret) -> tuple[MetricsServer, ...]:
    """One provider for each server. Raises ConfigurationRejected where a key is not there, or would go unencrypted over
    the internet."""
    named = tuple(_by_alias(configuration))
    labels = {alias: entry.labels for alias, entry in named if entry.labels}
    pods = {alias: entry.pods for alias, entry in named if entry.pods}
    own = {alias: _signals(entry) for alias, entry in named if entry.signals}
    return tuple(
        MetricsServer(
            name,
            _server(f"prometheus.{name}", entry, entry.url, secret),
            _server(f"prometheus.{name}", entry, entry.rules_url, secret) if entry.rules_url else None,
            entry.environments,
            Selectors(labels, entry.selector),
            Selectors(pods, entry.pods),
            own,
            len(configuration.prometheus) == 1,
        )
        for name, entry in configuration.prometheus.items()
    )


def _by_alias(configuration: Configuration) -> Iterator[tuple[str, MetricsEntry]]:
    """Every name that an alert may call a service by, folded, with what the file says of its metrics."""
    for name, entry in configuration.services.items():
        for alias in (name, *entry.aliases):
            yield folded(alias), entry.metrics


def _signals(entry: MetricsEntry) -> tuple[Template, ...]:
    return tuple(_template(signal, one) for signal, one in entry.signals.items())


def _template(signal: str, said: SignalEntry) -> Template:
    what = said.what or signal.replace("_", " ")
    return Template(signal, what, said.unit, said.query, scale=said.scale, window=said.window, threshold=said.threshold)


def _server(where: str, entry: PrometheusEntry, url: str, secret: Secret) -> Server:
    key, scheme = None, "Bearer"
    if entry.token_env:
        key = _secret(f"{where}.token_env", entry.token_env, secret)
    elif entry.password_env:
        password = _secret(f"{where}.password_env", entry.password_env, secret)
        key, scheme = base64.b64encode(f"{entry.user}:{password}".encode()).decode(), "Basic"
    if problem := server_problem(url, has_key=bool(key)):
        raise ConfigurationRejected(f"{where}: {url} {problem}.")
    return Server(url, key, scheme, timeout_s=entry.timeout_s)


def _secret(where: str, name: str, secret: Secret) -> str:
    try:
        found = secret(name)
    except OSError as problem:
        raise ConfigurationRejected(f"{where}: {name}_FILE: {problem.strerror}.") from problem
    if not found:
        raise ConfigurationRejected(f"{where}: {name} is not set where the bot runs.")
    return found
