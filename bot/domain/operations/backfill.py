"""Decide what a channel's past amounts to: which spans were read, what was counted, which threads are worth recording."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from bot.domain.alerts.alert import Severity
from bot.domain.incidents.alert_history import list_firing_periods
from bot.domain.incidents.lifecycle import IncidentState, Lifecycle
from bot.domain.incidents.record import Incident

ReadSpan = tuple[datetime, datetime]
# A portion is as long as some pages of messages: not one call for each quiet day, nor a week of a storm at once.
PORTION_MESSAGES = 1_000
SHORTEST, FIRST, LONGEST = timedelta(hours=1), timedelta(days=1), timedelta(days=30)
GROWS_AT_MOST = 4.0
# Severity makes a thread weigh more, never enough to outweigh that nobody wrote in it.
WEIGHT = {Severity.CRITICAL: 1.5, Severity.HIGH: 1.25}


@dataclass(frozen=True, slots=True)
class BackfillTally:
    """Counts of one backfill."""

    messages: int = 0  # of the channel
    replies: int = 0  # of alert threads
    by_people: int = 0
    own: int = 0
    ignored: int = 0  # alerts that the channel agreed to ignore
    live: int = 0  # alerts that the bot had received live
    alerts: Mapping[str, int] = field(default_factory=dict)  # alert messages by tool
    unread: Mapping[str, int] = field(default_factory=dict)  # bots' messages that were not read as alerts, by poster


@dataclass(frozen=True, slots=True)
class ThreadActivity:
    """How many people wrote how many messages in a thread."""

    people: int
    messages: int


@dataclass(frozen=True, slots=True)
class ThreadToRecord:
    """A thread worth recording."""

    incident_id: str
    title: str
    ts: str  # of its root
    at: datetime
    fired: int  # how often the alert fired in the time that was read
    talk: ThreadActivity
    severity: Severity | None = None
    minutes: int | None = None  # how long the incident took; None if nobody saw it clear
    more: int = 0  # other threads about the same alert
    url: str | None = None


@dataclass(frozen=True, slots=True)
class AlertFamily:
    """One alert: how many incidents it caused, and how often it fired."""

    title: str
    tool: str
    service: str | None
    incidents: int
    fired: int


def add_tallies(one: BackfillTally, other: BackfillTally) -> BackfillTally:
    """Return the sums of both tallies."""
    return BackfillTally(
        one.messages + other.messages,
        one.replies + other.replies,
        one.by_people + other.by_people,
        one.own + other.own,
        one.ignored + other.ignored,
        one.live + other.live,
        dict(Counter(one.alerts) + Counter(other.alerts)),
        dict(Counter(one.unread) + Counter(other.unread)),
    )


def find_unread(done: Sequence[ReadSpan], since: datetime, until: datetime) -> tuple[ReadSpan, ...]:
    """Return the parts of [since, until) that are not read yet, oldest first. `done` is as `add_span` returns it."""
    gaps: list[ReadSpan] = []
    at = since
    for start, end in done:
        if start > at:
            gaps.append((at, min(start, until)))
        at = max(at, end)
    return tuple(gap for gap in (*gaps, (at, until)) if gap[0] < gap[1])


def add_span(done: Sequence[ReadSpan], span: ReadSpan) -> tuple[ReadSpan, ...]:
    """Return the spans that are read, in order, with adjacent ones merged."""
    merged: list[ReadSpan] = []
    for start, end in sorted((*done, span)):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return tuple(merged)


def choose_next_length(length: timedelta, messages: int) -> timedelta:
    """Return how long the next portion should be, after one of this length held so many messages."""
    factor = min(GROWS_AT_MOST, PORTION_MESSAGES / max(1, messages))
    return min(LONGEST, max(SHORTEST, length * factor))


def group_families(lives: Iterable[Lifecycle], records: Mapping[str, Incident]) -> tuple[AlertFamily, ...]:
    """Return the alerts behind these incidents, most often fired first."""
    found: dict[str, AlertFamily] = {}
    for life in lives:
        record = records.get(life.incident_id)
        if record is None:
            continue
        tool = next((a.tool for a in record.alerts if a.tool), None) or "unknown"
        known = found.get(life.fingerprint, AlertFamily(record.title, tool, record.service, 0, 0))
        fired = known.fired + len(list_firing_periods(life))
        found[life.fingerprint] = replace(known, incidents=known.incidents + 1, fired=fired)
    return tuple(sorted(found.values(), key=lambda f: (-f.fired, -f.incidents, f.title)))


def choose_threads(
    lives: Iterable[Lifecycle], records: Mapping[str, Incident], talks: Mapping[str, tuple[str, ThreadActivity]]
) -> tuple[ThreadToRecord, ...]:
    """Return the threads worth recording, best first; for each alert the one that tells most.

    `talks` maps an incident to its thread's root and activity. Without messages there is nothing to record, and
    what is recorded needs no recording.
    """
    told = tuple(lives)
    fired: Counter[str] = Counter()
    for life in told:
        fired[life.fingerprint] += len(list_firing_periods(life))
    found: dict[str, ThreadToRecord] = {}
    for life in told:
        record, talk = records.get(life.incident_id), talks.get(life.incident_id)
        if record is None or talk is None or not _is_recordable(life, record) or not talk[1].messages:
            continue
        one = ThreadToRecord(
            life.incident_id,
            record.title,
            talk[0],
            life.opened_at,
            fired[life.fingerprint],
            talk[1],
            life.severity,
            _count_minutes(life),
            url=_build_link(record, talk[0]),
        )
        found[life.fingerprint] = _choose_better(found.get(life.fingerprint), one)
    return tuple(sorted(found.values(), key=_build_sort_key))


def _is_recordable(life: Lifecycle, record: Incident) -> bool:
    return life.state not in (IncidentState.RESOLVED, IncidentState.DISMISSED) and not record.attempts


def _choose_better(known: ThreadToRecord | None, one: ThreadToRecord) -> ThreadToRecord:
    if known is None:
        return one
    best = min(known, one, key=_build_sort_key)
    return replace(best, more=known.more + 1)


def score_thread(one: ThreadToRecord) -> float:
    """Score how much recording it gains: how often the alert returns, times how much is written to record."""
    written = math.log2(1 + one.talk.messages) + one.talk.people / 2
    return (1 + math.log2(max(1, one.fired))) * written * (WEIGHT.get(one.severity, 1.0) if one.severity else 1.0)


def _build_sort_key(one: ThreadToRecord) -> tuple[float, float, float, str]:
    return -score_thread(one), -(one.minutes or 0), -one.at.timestamp(), one.incident_id


def _build_link(record: Incident, ts: str) -> str | None:
    """Return the address of the thread, in the workspace of the incident's own link."""
    workspace, archives, _ = (record.source.url or "").partition("/archives/")
    return f"{workspace}{archives}{record.source.channel}/p{ts.replace('.', '')}" if archives else None


def _count_minutes(life: Lifecycle) -> int | None:
    return round((life.cleared_at - life.opened_at).total_seconds() / 60) if life.cleared_at else None
