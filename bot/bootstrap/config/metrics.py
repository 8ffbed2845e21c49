"""The tables of metrics servers in the configuration file, and what a service says of its metrics. Part of `configuration`.

    [prometheus.main]                                  # any Prometheus-compatible server
    url = "https://prometheus.example"
    environments = ["production"]                      # alerts of others are not looked up here; leave out for all
    token_env = "PROMETHEUS_TOKEN"                     # or user = "…" and password_env = "…"
    rules_url = "http://vmalert:8880"                  # where its alerting rules are, if elsewhere
    selector = { service = "{service}" }               # labels that every service has (this is the default)
    pods = { container = "{service}" }                 # labels of its containers (this is the default)

    [services.payments-api]
    metrics.labels = { job = "payments" }              # instead of `selector`
    metrics.pods = { namespace = "pay", container = "api" }
    [services.payments-api.metrics.signals.cache_latency]
    query = 'max(cache_latency_seconds{$labels})'      # a signal of your own
    what = "cache latency"
    unit = "ms"
    scale = 1000

Must not ask a server, and must not hold a key: only where it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator

from bot.bootstrap.config.sources import LabelFilter, LabelValue, Seconds, SourceName, Url, Variable

_STRICT = ConfigDict(extra="forbid", frozen=True)


def _check_signal(name: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,59}", name):
        raise ValueError("is no name of a signal such as cache_latency (small letters, digits and _)")
    return name


def _as_server_list(value: Any) -> Any:
    if isinstance(value, Mapping) and "url" in value:
        raise ValueError("give the server a name: [prometheus.main]")
    return value


Signal = Annotated[str, AfterValidator(_check_signal)]
NonEmptyText = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60, pattern=r"^[^\x00-\x1f]*$")
]
Query = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)]
FiniteNumber = Annotated[float, Field(allow_inf_nan=False)]
BY_SERVICE: LabelFilter = {"service": ("{service}",)}
BY_CONTAINER: LabelFilter = {"container": ("{service}",)}


class PrometheusEntry(BaseModel):
    """`[prometheus.<name>]`."""

    model_config = _STRICT
    url: Url
    environments: tuple[LabelValue, ...] = ()
    token_env: Variable | None = None
    user: Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^:\x00-\x1f]*$")] | None = None
    password_env: Variable | None = None
    rules_url: Url | None = None
    selector: Annotated[LabelFilter, Field(min_length=1)] = BY_SERVICE
    pods: Annotated[LabelFilter, Field(min_length=1)] = BY_CONTAINER
    timeout_s: Seconds = 3.0

    @model_validator(mode="after")
    def _require_one_key(self) -> PrometheusEntry:
        if bool(self.user) is not bool(self.password_env):
            raise ValueError("user and password_env go together")
        if self.token_env and self.user:
            raise ValueError("takes token_env, or user and password_env, not both")
        return self


class SignalEntry(BaseModel):
    """`[services.<name>.metrics.signals.<signal>]`. `$labels` and `$pods` in the query are replaced by the matchers."""

    model_config = _STRICT
    query: Query
    what: NonEmptyText | None = None
    unit: Annotated[str, StringConstraints(max_length=12)] = ""
    scale: FiniteNumber = 1.0
    window: NonEmptyText | None = None
    threshold: FiniteNumber | None = None


class MetricsEntry(BaseModel):
    """`[services.<name>.metrics]`."""

    model_config = _STRICT
    labels: LabelFilter = {}
    pods: LabelFilter = {}
    signals: Annotated[Mapping[Signal, SignalEntry], Field(max_length=12)] = {}


class ServiceMetrics(BaseModel):
    """The part of `[services.<name>]` about metrics."""

    model_config = _STRICT
    metrics: MetricsEntry = MetricsEntry()


class MetricsConfiguration(BaseModel):
    """The tables of metrics servers in the file."""

    model_config = _STRICT
    prometheus: Annotated[Mapping[SourceName, PrometheusEntry], BeforeValidator(_as_server_list)] = {}
