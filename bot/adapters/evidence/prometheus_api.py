"""The HTTP API of Prometheus, as far as evidence needs it.

Must not take anything for a number that is none, and must not hide that an answer is partial. Queries go by POST (they
may be long, and stay out of access logs), with the server's own timeout beside ours.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bot.adapters.evidence.http_source import HttpSource, clean_text
from bot.domain.text.json_types import JsonObject
from bot.ports.errors import EvidenceUnavailable

MOST_LINES = 1000
# The year 3000, in seconds.
LAST_S = 32_503_680_000


@dataclass(frozen=True, slots=True)
class MetricPoint:
    """One value of one line."""

    labels: Mapping[str, str]
    value: float


@dataclass(frozen=True, slots=True)
class MetricLine:
    """One line: (time in seconds, value), oldest first. NaN and infinity are values."""

    labels: Mapping[str, str]
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class InstantVector:
    """The result of an instant query."""

    points: tuple[MetricPoint, ...]
    is_partial: bool = False


@dataclass(frozen=True, slots=True)
class RangeSeries:
    """The result of a range query."""

    lines: tuple[MetricLine, ...]
    is_partial: bool = False


@dataclass(frozen=True, slots=True)
class AlertingRule:
    """One alerting rule."""

    name: str
    query: str
    labels: Mapping[str, str]
    # None: the server does not list them with the rule
    alerts: Sequence[JsonObject] | None = None


@dataclass(frozen=True, slots=True)
class PrometheusApi:
    """One server. Every method raises EvidenceUnavailable with the reason in plain words."""

    server: HttpSource

    async def query_instant(self, query: str, at: datetime) -> InstantVector:
        """Return the values at one moment."""
        data, partial = await self._ask("/api/v1/query", {"query": query, "time": _format_seconds(at)})
        kind, result = data.get("resultType"), data.get("result")
        if kind == "scalar":
            return InstantVector((MetricPoint({}, _read_pair(result)[1]),), partial)
        if kind != "vector":
            raise EvidenceUnavailable(_build_error(kind))
        return InstantVector(
            tuple(
                MetricPoint(_read_labels(one.get("metric")), _read_pair(one.get("value"))[1])
                for one in _read_rows(result)
            ),
            partial,
        )

    async def query_range(self, query: str, start: datetime, end: datetime, step_s: int) -> RangeSeries:
        """Return the values from start to end."""
        form = {"query": query, "start": _format_seconds(start), "end": _format_seconds(end), "step": str(step_s)}
        data, partial = await self._ask("/api/v1/query_range", form)
        if data.get("resultType") != "matrix":
            raise EvidenceUnavailable(_build_error(data.get("resultType")))
        lines = (
            MetricLine(_read_labels(one.get("metric")), tuple(map(_read_pair, _read_list(one.get("values")))))
            for one in _read_rows(data.get("result"))
        )
        return RangeSeries(tuple(line for line in lines if line.points), partial)

    async def list_rules(self, name: str) -> tuple[AlertingRule, ...]:
        """Return the alerting rules of this name. Older servers return all rules, so they are filtered here."""
        said = await self.server.read_json("/api/v1/rules", (("type", "alert"), ("rule_name[]", name)))
        data = _read_data(said)
        groups = (g for g in _read_list(data.get("groups")) if isinstance(g, dict))
        rules = (rule for group in groups for rule in _read_list(group.get("rules")) if isinstance(rule, dict))
        return tuple(_read_rule(r) for r in rules if r.get("name") == name and r.get("type", "alerting") == "alerting")

    async def list_alerts(self, name: str) -> tuple[JsonObject, ...]:
        """Return the active alerts of this name."""
        data = _read_data(await self.server.read_json("/api/v1/alerts"))
        active = (a for a in _read_list(data.get("alerts")) if isinstance(a, dict))
        return tuple(a for a in active if _read_labels(a.get("labels")).get("alertname") == name)

    async def _ask(self, path: str, form: Mapping[str, str]) -> tuple[JsonObject, bool]:
        limit = {"timeout": f"{max(1, math.floor(self.server.timeout_s))}s"}
        said = await self.server.read_json(path, form={**form, **limit})
        partial = isinstance(said, dict) and bool(said.get("warnings") or said.get("isPartial"))
        return _read_data(said), partial


def _format_seconds(at: datetime) -> str:
    return f"{at.timestamp():.3f}"


def _build_error(kind: object) -> str:
    return f"the answer is of type {clean_text(str(kind))}, not numbers"


def _read_data(said: Any) -> JsonObject:
    """Return the data of a success."""
    if isinstance(said, dict) and said.get("status") == "error":
        raise EvidenceUnavailable(
            f"error: {clean_text(str(said.get('error') or said.get('errorType') or 'without a reason'))}"
        )
    data = said.get("data") if isinstance(said, dict) else None
    if not isinstance(data, dict):
        raise EvidenceUnavailable("the answer is none of a Prometheus: is the address right?")
    return data


def _read_list(value: Any) -> list[Any]:
    """Return a list; some servers write null for an empty one."""
    return value if isinstance(value, list) else []


def _read_rows(value: Any) -> Iterator[JsonObject]:
    rows = _read_list(value)
    if len(rows) > MOST_LINES:
        raise EvidenceUnavailable(f"more than {MOST_LINES} lines: let the query say less")
    return (row for row in rows if isinstance(row, dict))


def _read_labels(value: Any) -> dict[str, str]:
    return {str(k): str(v) for k, v in value.items()} if isinstance(value, dict) else {}


def _read_pair(value: Any) -> tuple[float, float]:
    """Parse [seconds, "value"]; "NaN" and "+Inf" are values, anything else that is no number is an error."""
    try:
        when, number = value
        at = float(when)
        found = float(number)
    except (TypeError, ValueError, OverflowError):
        raise EvidenceUnavailable("a value in the answer is not a number") from None
    if not 0 <= at < LAST_S:
        raise EvidenceUnavailable("a time in the answer is none")
    return at, found


def _read_rule(said: JsonObject) -> AlertingRule:
    alerts = said.get("alerts")
    listed = [a for a in alerts if isinstance(a, dict)] if isinstance(alerts, list) else None
    return AlertingRule(str(said.get("name")), str(said.get("query") or ""), _read_labels(said.get("labels")), listed)
