"""Signals of a service where its metrics exist: a table of queries with the metric names that tools use. Pure.

Must not guess: a row is used only if every metric that it needs exists under the service's labels. `$labels` stands for
the service's matchers, `$pods` for those of its containers.
"""

from __future__ import annotations

from dataclasses import dataclass

WINDOW = "5m"


@dataclass(frozen=True, slots=True)
class MetricTemplate:
    """One signal: a query and how its value is shown."""

    signal: str
    what: str
    unit: str
    query: str
    # the metrics without which it is not asked; empty for one that the operator wrote
    needs: tuple[str, ...] = ()
    scale: float = 1.0  # the value times this is in `unit`
    window: str | None = "5 min"
    threshold: float | None = None  # in `unit`, too


def _build_error_ratio(requests: str, *failed: tuple[str, str]) -> MetricTemplate:
    """Return the share of requests that failed. A metric without any of these labels has none: that is no data, not
    zero."""
    rate = f"sum(rate({requests}{{$labels,%s}}[{WINDOW}]))"
    hits = [rate % f'{label}=~"{value}"' for label, value in failed]
    zeros = ["0 * " + rate % f'{label}!=""' for label, _ in failed]
    query = f"({' or '.join([*hits, *zeros])}) / sum(rate({requests}{{$labels}}[{WINDOW}]))"
    return MetricTemplate("error_ratio", "error rate", "%", query, (requests,), 100)


def _build_p95(buckets: str, scale: float) -> MetricTemplate:
    query = f"histogram_quantile(0.95, sum by (le) (rate({buckets}{{$labels}}[{WINDOW}])))"
    return MetricTemplate("p95", "p95 latency", "ms", query, (buckets,), scale, "5 min, from buckets")


def _build_traffic(requests: str) -> MetricTemplate:
    return MetricTemplate("traffic", "traffic", "req/s", f"sum(rate({requests}{{$labels}}[{WINDOW}]))", (requests,))


def _build_pool(used: str, most: str, state: str | None = None) -> MetricTemplate:
    """Return the fullest pool. `state`: the label that separates connections in use from idle ones."""
    in_use = f'sum without ({state}) ({used}{{$labels,{state}="used"}})' if state else f"{used}{{$labels}}"
    query = f"max({in_use} / ({most}{{$labels}} > 0))"
    return MetricTemplate("pool_in_use", "connection pool in use", "%", query, (used, most), 100, "now")


_HTTP = ("code", "5.."), ("status", "5.."), ("status_code", "5..")
_GRPC = (("grpc_code", "Unknown|DeadlineExceeded|ResourceExhausted|Aborted|Internal|Unavailable|DataLoss"),)

# Of each signal the first row counts whose metrics are there: OpenTelemetry's names, then the classic ones.
TEMPLATES: tuple[MetricTemplate, ...] = (
    _build_error_ratio("http_server_request_duration_seconds_count", ("http_response_status_code", "5..")),
    _build_error_ratio("http_server_duration_milliseconds_count", ("http_status_code", "5..")),
    _build_error_ratio("http_requests_total", *_HTTP),
    _build_error_ratio("http_server_requests_seconds_count", *_HTTP),
    _build_error_ratio("http_request_duration_seconds_count", *_HTTP),
    _build_error_ratio("grpc_server_handled_total", *_GRPC),
    _build_p95("http_server_request_duration_seconds_bucket", 1000),
    _build_p95("http_server_duration_milliseconds_bucket", 1),
    _build_p95("http_request_duration_seconds_bucket", 1000),
    _build_p95("http_server_requests_seconds_bucket", 1000),
    _build_p95("grpc_server_handling_seconds_bucket", 1000),
    _build_traffic("http_server_request_duration_seconds_count"),
    _build_traffic("http_server_duration_milliseconds_count"),
    _build_traffic("http_requests_total"),
    _build_traffic("http_server_requests_seconds_count"),
    _build_traffic("http_request_duration_seconds_count"),
    _build_traffic("grpc_server_handled_total"),
    _build_pool("db_client_connection_count", "db_client_connection_max", "db_client_connection_state"),
    _build_pool("db_client_connections_usage", "db_client_connections_max", "state"),
    _build_pool("hikaricp_connections_active", "hikaricp_connections_max"),
    _build_pool("go_sql_in_use_connections", "go_sql_max_open_connections"),
    MetricTemplate(
        "cpu_throttled",
        "CPU throttled",
        "%",
        f"sum(rate(container_cpu_cfs_throttled_periods_total{{$pods}}[{WINDOW}]))"
        f" / sum(rate(container_cpu_cfs_periods_total{{$pods}}[{WINDOW}]))",
        ("container_cpu_cfs_throttled_periods_total", "container_cpu_cfs_periods_total"),
        100,
    ),
    MetricTemplate(
        "memory_in_use",
        "memory in use",
        "%",
        "max(container_memory_working_set_bytes{$pods} / (container_spec_memory_limit_bytes{$pods} > 0))",
        ("container_memory_working_set_bytes", "container_spec_memory_limit_bytes"),
        100,
        "now",
    ),
    MetricTemplate(
        "restarts",
        "restarts",
        "",
        "sum(increase(kube_pod_container_status_restarts_total{$pods}[15m]))",
        ("kube_pod_container_status_restarts_total",),
        window="15 min",
    ),
    MetricTemplate("targets_up", "instances up", "%", "avg(up{$labels})", ("up",), 100, "now"),
)


def list_metrics() -> tuple[str, ...]:
    """Return every metric that a row needs."""
    return tuple(dict.fromkeys(metric for row in TEMPLATES for metric in row.needs))


def choose_templates(there: frozenset[str], own: tuple[MetricTemplate, ...] = ()) -> tuple[MetricTemplate, ...]:
    """Return the operator's own signals, then of each other signal the first row whose metrics all exist."""
    chosen = {row.signal: row for row in own}
    for row in TEMPLATES:
        if row.signal not in chosen and there.issuperset(row.needs):
            chosen[row.signal] = row
    return tuple(chosen.values())
