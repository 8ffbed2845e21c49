"""Outages: which incidents were one event, so that it is counted once.

Incidents that share service or vendor and overlap, or start within 30 minutes of each other, are one outage. Must not
decide what an outage means for a fix, a check or a boundary.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate

from bot.domain.incident import Incident
from bot.domain.words import same_form

NEAR = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class Span:
    """When one thing happened, and the names by which it may be one with others. No times: it stays alone."""

    key: str
    names: frozenset[Hashable]
    start: datetime | None
    end: datetime | None


class Groups:
    """Disjoint sets of keys."""

    def __init__(self, keys: Iterable[str]) -> None:
        self._parent = {key: key for key in keys}

    def root(self, key: str) -> str:
        """The key that stands for the group of `key`."""
        while self._parent[key] != key:
            key = self._parent[key]
        return key

    def join(self, one: str, other: str) -> None:
        """Make one group of two; the lesser key stands for it, so that the order of joining does not show."""
        low, high = sorted((self.root(one), self.root(other)))
        self._parent[high] = low


def _touching(spans: Sequence[Span]) -> Iterator[tuple[str, str]]:
    """Neighbours in time among spans that share a name. Sorted by start, a span touches an earlier one exactly if it
    starts before the latest end so far, or within `NEAR` of the previous start."""
    timed = sorted((s.start, s.end or s.start, s.key) for s in spans if s.start is not None)
    latest_ends = accumulate((end for _, end, _ in timed), max)
    for (before_start, _, before), latest_end, (start, _, key) in zip(timed, latest_ends, timed[1:], strict=False):
        if start <= latest_end or start - before_start <= NEAR:
            yield before, key


def clusters(spans: Sequence[Span]) -> Mapping[str, str]:
    """For each key the key that stands for its outage."""
    groups = Groups(span.key for span in spans)
    by_name: dict[Hashable, list[Span]] = defaultdict(list)
    for span in spans:
        for name in span.names:
            by_name[name].append(span)
    for sharing in by_name.values():
        for one, other in _touching(sharing):
            groups.join(one, other)
    return {span.key: groups.root(span.key) for span in spans}


def span_of(incident: Incident) -> Span:
    """When an incident happened, and what it may share with others: its service and its vendor."""
    named = (("service", same_form(incident.service)), ("vendor", same_form(incident.vendor)))
    start = incident.happened_at
    end = incident.resolved_at if incident.resolved_at and start and incident.resolved_at > start else start
    return Span(incident.incident_id, frozenset(pair for pair in named if pair[1]), start, end)


def outage_of(incidents: Iterable[Incident]) -> Mapping[str, str]:
    """For each incident id the id that stands for its outage; count the distinct values to count outages."""
    return clusters([span_of(incident) for incident in incidents])
