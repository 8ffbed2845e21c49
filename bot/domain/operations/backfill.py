"""What a channel's past amounts to: which stretches of it were read, what was counted, which threads are worth recording.

Pure values and rules. Must not read a channel, look anything up or render.
"""

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
    """What was counted. `messages` are the channel's, `replies` those of alert threads; `alerts` counts alert messages by
    tool; `unread` the messages of bots that were not read as alerts, by who posted them; `ignored` are alerts that the
    channel agreed to ignore, `live` those that the bot had received as they came."""

    messages: int = 0
    replies: int = 0
    by_people: int = 0
    own: int = 0
    ignored: int = 0
    live: int = 0
    alerts: Mapping[str, int] = field(default_factory=dict)
    unread: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ThreadActivity:
    """How many people wrote how many messages in a thread."""

    people: int
    messages: int


@dataclass(frozen=True, slots=True)
class ThreadToRecord:
    """A thread worth recording. `ts` is its root; `fired` how often the alert fired in the time that was read;
    `minutes` how long the incident took, None if nobody saw it clear; `more` other threads about the same alert."""

    incident_id: str
    title: str
    ts: str
    at: datetime
    fired: int
    talk: ThreadActivity
    severity: Severity | None = None
    minutes: int | None = None
    more: int = 0
    url: str | None = None


@dataclass(frozen=True, slots=True)
class AlertFamily:
    """One alert: how many incidents it made, and how often it fired."""

    title: str
    tool: str
    service: str | None
    incidents: int
    fired: int


def add_tallies(one: BackfillTally, other: BackfillTally) -> BackfillTally:
    """Both counts."""
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
    """What of [since, until) is not read yet, oldest first. `done` is as `with_span` gives it."""
    gaps: list[ReadSpan] = []
    at = since
    for start, end in done:
        if start > at:
            gaps.append((at, min(start, until)))
        at = max(at, end)
    return tuple(gap for gap in (*gaps, (at, until)) if gap[0] < gap[1])


def add_span(done: Sequence[ReadSpan], span: ReadSpan) -> tuple[ReadSpan, ...]:
    """The stretches that are read, in order, what touches made one."""
    told: list[ReadSpan] = []
    for start, end in sorted((*done, span)):
        if told and start <= told[-1][1]:
            told[-1] = (told[-1][0], max(told[-1][1], end))
        else:
            told.append((start, end))
    return tuple(told)


def choose_next_length(length: timedelta, messages: int) -> timedelta:
    """How long the next portion is to be, after one of this length held so many messages."""
    factor = min(GROWS_AT_MOST, PORTION_MESSAGES / max(1, messages))
    return min(LONGEST, max(SHORTEST, length * factor))


def group_families(lives: Iterable[Lifecycle], records: Mapping[str, Incident]) -> tuple[AlertFamily, ...]:
    """The alerts behind these incidents, most often fired first."""
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
    """The threads worth recording, best first; of each alert the one that says most. `talks` are the root and the talk of
    an incident's thread, by incident: where nobody wrote there is nothing to record, and what is recorded needs it no
    more."""
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
    """How much recording it gives: how often the alert comes back, times how much is written there to be recorded."""
    written = math.log2(1 + one.talk.messages) + one.talk.people / 2
    return (1 + math.log2(max(1, one.fired))) * written * (WEIGHT.get(one.severity, 1.0) if one.severity else 1.0)


def _build_sort_key(one: ThreadToRecord) -> tuple[float, float, float, str]:
    return -score_thread(one), -(one.minutes or 0), -one.at.timestamp(), one.incident_id


def _build_link(record: Incident, ts: str) -> str | None:
    """The address of the thread, in the same workspace as the incident's own."""
    workspace, archives, _ = (record.source.url or "").partition("/archives/")
    return f"{workspace}{archives}{record.source.channel}/p{ts.replace('.', '')}" if archives else None


def _count_minutes(life: Lifecycle) -> int | None:
    return round((life.cleared_at - life.opened_at).total_seconds() / 60) if life.cleared_at else None
