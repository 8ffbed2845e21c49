"""Metrics of a service from a Prometheus-compatible server (Prometheus, VictoriaMetrics, Thanos, Mimir): the alert's
own rule with its value and threshold, and the signals whose metrics exist.

Must not fetch an address that came with an alert, and must not run an expression that is neither in the server's own
rules nor in the operator's configuration. An answer that is no number is named, never hidden.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from urllib.parse import quote

from bot.adapters.evidence.http_source import HttpSource, clean_text
from bot.adapters.evidence.log_records import read_moment
from bot.adapters.evidence.metric_templates import MetricTemplate, choose_templates, list_metrics
from bot.adapters.evidence.prometheus_api import AlertingRule, MetricLine, MetricPoint, PrometheusApi
from bot.adapters.evidence.promql import SplitExpression, build_matchers, quote_promql, split_threshold
from bot.adapters.evidence.selectors import LabelValues, Selectors
from bot.domain.alerts.alert import Alert
from bot.domain.catalog.vendors import fold_name
from bot.domain.evidence.deploys import is_same_environment
from bot.domain.evidence.items import PEAK, ComparisonValue, Evidence, EvidenceKind, Observed, Unavailable
from bot.ports.errors import EvidenceUnavailable

BEFORE = timedelta(minutes=30)
DAY = timedelta(days=1)
STEP_S = 60
MOST_AT_ONCE = 5
MOST_URL = 300
NO_DATA = "no data"
# Labels that say what a line is about; pods and instances come and go.
_WHOSE = frozenset({"service", "app", "job", "namespace", "cluster", "region", "environment", "env"})
# Tools whose alerts are rules of such a server: that it has none of that name is worth saying.
_OF_RULES = frozenset({"alertmanager", "prometheus"})


@dataclass(frozen=True, slots=True)
class MetricsServer:
    """The EvidenceProvider of one server."""

    name: str
    server: HttpSource
    # where its alerting rules are (a vmalert of its own), if not there
    rules: HttpSource | None = None
    environments: tuple[str, ...] = ()  # those that it knows of (empty: all)
    labels: Selectors = field(default_factory=Selectors)
    pods: Selectors = field(default_factory=Selectors)
    # signals that the operator wrote, by folded service
    own: Mapping[str, tuple[MetricTemplate, ...]] = field(default_factory=dict)
    is_only: bool = True  # no other server may have an alert's rule

    @property
    def kind(self) -> EvidenceKind:
        """See the port."""
        return EvidenceKind.METRIC

    async def observe(self, alert: Alert, at: datetime) -> Sequence[Evidence]:
        """See the port."""
        if not any(is_same_environment(alert.environment, known) for known in self.environments or (None,)):
            return ()
        look = _Observation(self, PrometheusApi(self.server), alert, at, asyncio.Semaphore(MOST_AT_ONCE))
        signals = await self.list_signals(alert, look.api, at)
        asked: list[Awaitable[tuple[Evidence, ...]]] = [
            look.observe_rule(),
            *(look.observe_signal(one) for one in signals),
        ]
        return tuple(item for found in await asyncio.gather(*asked) for item in found)

    async def list_signals(self, alert: Alert, api: PrometheusApi, at: datetime) -> tuple[MetricTemplate, ...]:
        """Return what can be looked at for this alert's service, its matchers filled in. Raises EvidenceUnavailable."""
        chosen, pods = self.labels.find(alert), self.pods.find(alert)
        if chosen is None:
            return ()
        by_name = quote_promql("|".join(list_metrics()))
        of = [f"{{__name__=~{by_name},{build_matchers(labels.labels)}}}" for labels in (chosen, pods) if labels]
        there = await api.query_instant(f"count by (__name__) ({' or '.join(of)})", at)
        names = frozenset(point.labels.get("__name__", "") for point in there.points)
        own = self.own.get(fold_name(alert.service or ""), ())
        return tuple(
            _fill_matchers(one, chosen.labels, pods.labels if pods else {}) for one in choose_templates(names, own)
        )

    def build_page_link(self, expression: str) -> str | None:
        """Return the page for people about an expression, if that is short enough for a link."""
        url = f"{self.server.base.rstrip('/')}/graph?g0.expr={quote(expression, safe='')}&g0.tab=0"
        return url if len(url) <= MOST_URL else None


def _fill_matchers(template: MetricTemplate, labels: LabelValues, pods: LabelValues) -> MetricTemplate:
    query = template.query.replace("$labels", build_matchers(labels)).replace("$pods", build_matchers(pods))
    return replace(template, query=query)


@dataclass(frozen=True, slots=True)
class _Quantity:
    """One quantity: its name, its query, and how its values are shown."""

    kind: EvidenceKind
    signal: str
    what: str
    query: str
    unit: str = ""
    scale: float = 1.0
    window: str | None = None
    threshold: float | None = None
    wants_low: bool = False
    text: str | None = None
    renamed: frozenset[str] = frozenset()  # labels that the rule sets itself: the alert's differ from its lines' there


@dataclass(frozen=True, slots=True)
class _Observation:
    """The questions to one server about one alert."""

    source: MetricsServer
    api: PrometheusApi
    alert: Alert
    at: datetime
    turns: asyncio.Semaphore

    async def observe_signal(self, one: MetricTemplate) -> tuple[Evidence, ...]:
        """Observe one configured or known signal."""
        asked = _Quantity(
            EvidenceKind.METRIC, one.signal, one.what, one.query, one.unit, one.scale, one.window, one.threshold
        )
        return (await self._build_observed(asked),)

    async def observe_rule(self) -> tuple[Evidence, ...]:
        """Observe the alert's own rule: whether it fires, and the value that it watches."""
        name = self.alert.labels.get("alertname") or self.alert.title
        is_rule = "alertname" in self.alert.labels or self.alert.tool in _OF_RULES
        if not name:
            return ()
        signal, what = f"rule:{name}", clean_text(name)
        at_rules = PrometheusApi(self.source.rules or self.source.server)
        try:
            async with self.turns:
                rule = _find_own_rule(await at_rules.list_rules(name), self.alert)
                if rule is None:
                    missing = self._build_unavailable(signal, what, "no rule of this name and these labels")
                    return (missing,) if is_rule and self.source.is_only else ()
                text = _find_firing_state(await self._read_alerts(at_rules, rule), self.alert)
        except EvidenceUnavailable as problem:
            return (self._build_unavailable(signal, what, str(problem)),) if is_rule else ()
        split = split_threshold(rule.query) or SplitExpression(rule.query, "", math.nan)
        threshold = None if math.isnan(split.threshold) else split.threshold
        asked = _Quantity(
            EvidenceKind.ALERT_RULE,
            signal,
            what,
            split.left,
            threshold=threshold,
            text=text,
            renamed=frozenset(rule.labels),
        )
        found = await self._build_observed(replace(asked, wants_low=split.wants_low))
        if isinstance(found, Observed):
            return (found,)
        # the state is known though the value is not
        state = Observed(EvidenceKind.ALERT_RULE, f"{signal} state", what, self.source.name, self.at, text=text)
        return (state, found)

    async def _read_alerts(self, api: PrometheusApi, rule: AlertingRule) -> Sequence[Mapping[str, object]]:
        return rule.alerts if rule.alerts is not None else await api.list_alerts(rule.name)

    async def _build_observed(self, asked: _Quantity) -> Evidence:
        try:
            async with self.turns:
                series = await self.api.query_range(asked.query, self.at - BEFORE, self.at, STEP_S)
            kept = _select_lines(series.lines, self.alert, asked)
            now, before, peak, spread = _read_values(kept, self.alert, self.at, wants_low=asked.wants_low)
        except EvidenceUnavailable as problem:
            return self._build_unavailable(asked.signal, asked.what, str(problem), asked.kind)
        if not math.isfinite(now * asked.scale):
            return self._build_unavailable(asked.signal, asked.what, "too large a number", asked.kind)
        compared = [ComparisonValue("30 min ago", before * asked.scale)] if before is not None else []
        compared.append(ComparisonValue("lowest" if asked.wants_low else PEAK, peak * asked.scale))
        if asked.threshold is not None:
            compared.append(ComparisonValue("threshold", asked.threshold))
        if (yesterday := await self._read_yesterday(asked)) is not None:
            compared.append(ComparisonValue("yesterday", yesterday * asked.scale))
        compared = [one for one in compared if math.isfinite(one.value)]
        return Observed(
            asked.kind,
            asked.signal,
            asked.what,
            self.source.name,
            self.at,
            now * asked.scale,
            asked.unit,
            asked.window,
            tuple(compared),
            asked.text or spread,
            url=self.source.build_page_link(asked.query),
            truncated=series.is_partial,
        )

    async def _read_yesterday(self, asked: _Quantity) -> float | None:
        """Return the same value a day ago, None where nothing is known of it."""
        try:
            async with self.turns:
                found = await self.api.query_instant(asked.query, self.at - DAY)
        except EvidenceUnavailable:
            return None
        points = [p for p in found.points if _may_concern_alert(p.labels, self.alert, asked)]
        values = [p.value for p in _filter_matching(points, self.alert) if math.isfinite(p.value)]
        return (min if asked.wants_low else max)(values, default=None)

    def _build_unavailable(
        self, signal: str, what: str, reason: str, kind: EvidenceKind = EvidenceKind.ALERT_RULE
    ) -> Unavailable:
        return Unavailable(kind, signal, what, self.source.name, reason)


def _have_conflict(labels: Mapping[str, str], alert: Alert) -> bool:
    """Return whether a label that both have differs."""
    return any(alert.labels.get(name, value) != value for name, value in labels.items())


def _filter_matching(points: Sequence[MetricPoint], alert: Alert) -> Sequence[MetricPoint]:
    """Return those whose labels do not contradict the alert's; all, where all do."""
    return [p for p in points if not _have_conflict(p.labels, alert)] or points


def _may_concern_alert(labels: Mapping[str, str], alert: Alert, asked: _Quantity) -> bool:
    """Return whether a line may be what the alert is about: a rule has lines of other services, too, while signals are
    asked for the alert's own service."""
    whose = {name: value for name, value in labels.items() if name in _WHOSE - asked.renamed}
    return asked.kind is not EvidenceKind.ALERT_RULE or not _have_conflict(whose, alert)


def _select_lines(lines: Sequence[MetricLine], alert: Alert, asked: _Quantity) -> Sequence[MetricLine]:
    """Return the lines that may be the alert's. Raises EvidenceUnavailable where there are only others."""
    kept = tuple(line for line in lines if _may_concern_alert(line.labels, alert, asked))
    if lines and not kept:
        raise EvidenceUnavailable(f"{NO_DATA} of this service: its rule has values of others alone")
    return kept


def _read_values(
    lines: Sequence[MetricLine], alert: Alert, at: datetime, *, wants_low: bool
) -> tuple[float, float | None, float, str | None]:
    """Return the value now, half an hour ago and at its worst, of the worst line that fits the alert, and of how many
    lines it is the worst. Raises EvidenceUnavailable where there is no number."""
    worst = min if wants_low else max
    if not lines:
        raise EvidenceUnavailable(NO_DATA)
    own = [line for line in lines if not _have_conflict(line.labels, alert)] or lines
    live = [line for line in own if line.points and at.timestamp() - line.points[-1][0] < STEP_S]
    if not live:
        last = datetime.fromtimestamp(max(line.points[-1][0] for line in own), tz=at.tzinfo)
        raise EvidenceUnavailable(f"{NO_DATA} now, the last was at {last:%H:%M:%S} UTC")
    numbers = [line for line in live if math.isfinite(line.points[-1][1])]
    if not numbers:
        raise EvidenceUnavailable(_is_not_a_number(live[0].points[-1][1]))
    line = worst(numbers, key=lambda one: one.points[-1][1])
    first_at, first = line.points[0]
    is_old = first_at <= (at - BEFORE).timestamp() + STEP_S and math.isfinite(first)
    peak = worst(value for _, value in line.points if math.isfinite(value))
    spread = f"{'lowest' if wants_low else 'highest'} of {len(own)}" if len(own) > 1 else None
    return line.points[-1][1], first if is_old else None, peak, spread


def _is_not_a_number(value: float) -> str:
    if math.isnan(value):
        return "not a number (NaN): nothing was counted in the window, as where there was no request"
    return "infinite: it divides by zero"


def _find_own_rule(rules: Sequence[AlertingRule], alert: Alert) -> AlertingRule | None:
    """Return the rule of the alert's name that shares most labels with it, None where all contradict it."""
    fit = [rule for rule in rules if not _have_conflict(rule.labels, alert)]
    shared = [sum(alert.labels.get(k) == v for k, v in rule.labels.items()) for rule in fit]
    return max(zip(shared, fit, strict=True), key=lambda pair: pair[0], default=(0, None))[1]


def _find_firing_state(alerts: Sequence[Mapping[str, object]], alert: Alert) -> str:
    """Return whether the rule fires for the alert's labels, and since when."""
    own = [a for a in alerts if isinstance(labels := a.get("labels"), Mapping) and not _have_conflict(labels, alert)]
    for state, words in (("firing", "firing"), ("pending", "pending, not firing")):
        since = [a.get("activeAt") for a in own if a.get("state") == state]
        known = [at for at in map(read_moment, since) if at]
        if since:
            unread = " since a time that cannot be read" if any(since) else ""
            return f"{words} since {min(known):%H:%M} UTC" if known else f"{words}{unread}"
    return "not firing now"
