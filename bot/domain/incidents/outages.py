"""Group incidents into outages, so that one event is counted once.

Incidents that share service or vendor and overlap, or start within 30 minutes of each other, are one outage, unless
a person said that they are not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate, combinations

from bot.domain.incidents.lifecycle import Lifecycle
from bot.domain.incidents.record import Incident
from bot.domain.text.names import normalize_name

NEAR = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class OutageSpan:
    """When something happened, and the names that may join it with others. Without times it stays alone."""

    key: str
    names: frozenset[Hashable]
    start: datetime | None
    end: datetime | None
    apart: frozenset[str] = frozenset()  # keys that it is never joined with


class DisjointGroups:
    """Disjoint sets of keys; `apart` lists for a key those that must not join its set."""

    def __init__(self, keys: Iterable[str], apart: Mapping[str, frozenset[str]] | None = None) -> None:
        self._parent = {key: key for key in keys}
        self._apart = {key: set(others) for key, others in (apart or {}).items()}
        self._members = {key: {key} for key in self._parent} if self._apart else {}

    def find_root(self, key: str) -> str:
        """Return the key that represents the group of `key`."""
        while self._parent[key] != key:
            key = self._parent[key]
        return key

    def join(self, one: str, other: str) -> None:
        """Merge two groups; the lesser key represents it, so that the order of joining does not show."""
        low, high = sorted((self.find_root(one), self.find_root(other)))
        if low == high or self._is_forbidden(low, high):
            return
        self._parent[high] = low
        if self._members:
            self._members[low] |= self._members.pop(high)

    def _is_forbidden(self, low: str, high: str) -> bool:
        if not self._apart:
            return False
        ours, theirs = self._members[low], self._members[high]
        return any(self._apart.get(key, set()) & theirs for key in ours) or any(
            self._apart.get(key, set()) & ours for key in theirs
        )


def _find_touching(spans: Sequence[OutageSpan]) -> Iterator[tuple[str, str]]:
    """Yield neighbors in time among spans that share a name.

    Sorted by start, a span touches an earlier one exactly if it starts before the latest end so far, or within
    `NEAR` of the previous start.
    """
    timed = sorted((s.start, s.end or s.start, s.key) for s in spans if s.start is not None)
    latest_ends = accumulate((end for _, end, _ in timed), max)
    for (before_start, _, before), latest_end, (start, _, key) in zip(timed, latest_ends, timed[1:], strict=False):
        if start <= latest_end or start - before_start <= NEAR:
            yield before, key


def _is_touching(one: OutageSpan, other: OutageSpan) -> bool:
    if one.start is None or other.start is None:
        return False
    overlap = one.start <= (other.end or other.start) and other.start <= (one.end or one.start)
    return overlap or abs(one.start - other.start) <= NEAR


def _list_pairs(spans: Sequence[OutageSpan]) -> Iterable[tuple[str, str]]:
    """Return the pairs to join. If some are kept apart, every pair is compared: neighbors alone would not tell."""
    if not any(span.apart for span in spans):
        return _find_touching(spans)
    ordered = sorted(spans, key=lambda s: s.key)
    return ((one.key, other.key) for one, other in combinations(ordered, 2) if _is_touching(one, other))


def cluster_spans(spans: Sequence[OutageSpan]) -> Mapping[str, str]:
    """Return for each key the key that represents its outage."""
    apart = {span.key: span.apart for span in spans if span.apart}
    groups = DisjointGroups((span.key for span in spans), apart)
    by_name: dict[Hashable, list[OutageSpan]] = defaultdict(list)
    for span in spans:
        for name in span.names:
            by_name[name].append(span)
    for sharing in by_name.values():
        for one, other in _list_pairs(sharing):
            groups.join(one, other)
    return {span.key: groups.find_root(span.key) for span in spans}


def _list_names(incident: Incident) -> frozenset[Hashable]:
    named = (("service", normalize_name(incident.service)), ("vendor", normalize_name(incident.vendor)))
    return frozenset(pair for pair in named if pair[1])


def build_span(incident: Incident) -> OutageSpan:
    """Return when an incident happened, with the names it may share: its service and its vendor."""
    start = incident.happened_at
    end = incident.resolved_at if incident.resolved_at and start and incident.resolved_at > start else start
    return OutageSpan(incident.incident_id, _list_names(incident), start, end, frozenset(incident.apart_from))


def map_outages(incidents: Iterable[Incident]) -> Mapping[str, str]:
    """Return for each incident id the id that represents its outage; the distinct values count outages."""
    return cluster_spans([build_span(incident) for incident in incidents])


def has_shared_name(one: Incident, other: Incident) -> bool:
    """Return whether two incidents share service or vendor, so that they may be one outage."""
    return bool(_list_names(one) & _list_names(other))


def is_near_in_time(one: Lifecycle, other: Lifecycle) -> bool:
    """Return whether two incidents began so close to each other that they may be one outage."""
    return one.incident_id != other.incident_id and abs(one.opened_at - other.opened_at) <= NEAR
