"""Compose the digest: what recurs in a period."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta, tzinfo

from bot.domain.fixes.identity import FixGroups, FixKey, build_fix_key
from bot.domain.incidents.lifecycle import IncidentState, Lifecycle
from bot.domain.incidents.outages import DisjointGroups, OutageSpan, cluster_spans
from bot.domain.incidents.record import Incident, VerificationStatus
from bot.domain.reports.trends import FixNews, VendorLine, build_vendor_lines, find_aged_fixes, find_stopped_fixes
from bot.domain.text.names import normalize_name
from bot.domain.text.tokens import normalize

FAMILIES_SHOWN = 20
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


@dataclass(frozen=True, slots=True)
class RecurringFamily:
    """A family of incidents that occurred more than once in the period."""

    title: str
    service: str | None
    vendor: str | None
    times: int  # outages
    times_before: int  # outages in the period before
    minutes: float | None  # how long they took together, as far as known
    unrecorded: int  # incidents that are over without a recorded fix
    workaround: str | None  # what helped more than once
    workaround_times: int  # how often in the period
    incidents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DayCount:
    """How many incidents began on a local day."""

    day: date
    count: int


@dataclass(frozen=True, slots=True)
class Digest:
    """What a period brought. Counts are incidents; `…_before` is the period before, of equal length."""

    period: str  # its name for people ("week of 2026-11-23")
    since: datetime
    until: datetime
    incidents: int
    resolved: int
    unrecorded: int  # over without a recorded fix
    families: tuple[RecurringFamily, ...] = ()
    open: int = 0  # not over
    incidents_before: int = 0
    minutes: float | None = None  # how long they took together, as far as known
    minutes_before: float | None = None
    stopped: tuple[FixNews, ...] = ()  # fixes that used to work and failed now
    unused: tuple[FixNews, ...] = ()  # fixes whose last success became too old to trust
    vendors: tuple[VendorLine, ...] = ()
    briefs: int = 0
    abstained: int = 0  # of `briefs` incidents with a brief, memory had no answer for so many
    by_day: tuple[DayCount, ...] = ()  # each local day of the period; empty if nothing happened
    urls: Mapping[str, str] = field(default_factory=dict)  # where the named incidents were posted, as far as known


@dataclass(frozen=True, slots=True)
class Period:
    """One period of a digest."""

    key: date  # the local date on which it is due, however often it is asked for
    since: datetime
    until: datetime
    name: str


def find_period(local_date: date, day: str, zone: tzinfo) -> Period:
    """Return the week that ended on the last `day` ("mon" … "sun") up to `local_date`: seven local days from midnight
    to midnight, whatever the clocks do in between."""
    due = local_date - timedelta(days=(local_date.weekday() - DAYS.index(day)) % 7)
    first = due - timedelta(days=7)
    since, until = (datetime.combine(d, time.min, zone) for d in (first, due))
    return Period(due, since, until, f"week of {first.isoformat()}")


@dataclass(frozen=True, slots=True)
class _DigestItem:
    """One incident, from its record, its lifecycle or both."""

    incident_id: str
    opened: datetime
    ended: datetime | None
    fingerprints: frozenset[str]
    record: Incident | None
    resolved: bool
    open: bool

    @property
    def is_unrecorded(self) -> bool:
        """Whether it is over and nobody recorded what was tried; one that still fires is not over."""
        return not self.open and not (self.record and self.record.attempts)


def _build_item(incident_id: str, record: Incident | None, life: Lifecycle | None) -> _DigestItem | None:
    opened = life.opened_at if life else record.happened_at if record else None
    if opened is None or (life and life.state is IncidentState.DISMISSED):
        return None
    ends = (
        record.resolved_at if record else None,
        life.cleared_at if life else None,
        life.resolved_at if life else None,
    )
    prints = {a.fingerprint for a in record.alerts if a.fingerprint} if record else set()
    return _DigestItem(
        incident_id=incident_id,
        opened=opened,
        ended=next((end for end in ends if end and end >= opened), None),
        fingerprints=frozenset(prints | ({life.fingerprint} if life else set())),
        record=record,
        # A record without a life was imported: people were done with it.
        resolved=life.state is IncidentState.RESOLVED if life else True,
        open=life is not None and life.state is IncidentState.OPEN,
    )


def _build_items(records: Iterable[Incident], lives: Iterable[Lifecycle]) -> list[_DigestItem]:
    by_id = {record.incident_id: record for record in records}
    living = {life.incident_id: life for life in lives}
    items = (_build_item(key, by_id.get(key), living.get(key)) for key in sorted({*by_id, *living}))
    return sorted((item for item in items if item), key=lambda item: (item.opened, item.incident_id))


def _list_family_keys(item: _DigestItem) -> set[tuple[str, ...]]:
    """Return the keys of which one in common makes a family: fingerprint, or title with service or vendor."""
    keys: set[tuple[str, ...]] = {("fingerprint", print_) for print_ in item.fingerprints}
    if item.record:
        title = normalize(item.record.title)
        places = (("service", normalize_name(item.record.service)), ("vendor", normalize_name(item.record.vendor)))
        keys |= {(kind, place, title) for kind, place in places if place}
    return keys


def _group_families(items: Sequence[_DigestItem]) -> list[list[_DigestItem]]:
    groups = DisjointGroups(item.incident_id for item in items)
    holder: dict[tuple[str, ...], str] = {}
    for item in items:
        for key in sorted(_list_family_keys(item)):
            groups.join(holder.setdefault(key, item.incident_id), item.incident_id)
    found: dict[str, list[_DigestItem]] = {}
    for item in items:
        found.setdefault(groups.find_root(item.incident_id), []).append(item)
    return list(found.values())


def _count_outages(items: Sequence[_DigestItem]) -> int:
    """Return how many outages a family's incidents were."""
    one, nobody = frozenset({"family"}), frozenset[str]()
    spans = (
        OutageSpan(i.incident_id, one, i.opened, i.ended, frozenset(i.record.apart_from) if i.record else nobody)
        for i in items
    )
    return len(set(cluster_spans(list(spans)).values()))


def _find_workaround(items: Sequence[_DigestItem], filed: FixGroups | None) -> tuple[str | None, int]:
    """Return the fix that helped in most of the incidents, as last worded, if it helped in more than one."""
    wording: dict[FixKey, str] = {}
    helped: Counter[FixKey] = Counter()
    for item in items:
        attempts = item.record.attempts if item.record else ()
        good = {VerificationStatus.VERIFIED, VerificationStatus.PARTIAL}
        keyed = ((build_fix_key(a.fix, filed), a.fix) for a in attempts if a.status in good)
        fixes: Mapping[FixKey, str] = {key: fix for key, fix in keyed if key}
        wording.update(fixes)
        helped.update(fixes.keys())
    best = min(helped, key=lambda form: (-helped[form], form), default=None)
    return (wording[best], helped[best]) if best is not None and helped[best] > 1 else (None, 0)


def _sum_minutes(items: Sequence[_DigestItem]) -> float | None:
    """Return how long the incidents took together, as far as known."""
    lasted = [(item.ended - item.opened).total_seconds() / 60 for item in items if item.ended]
    return sum(lasted) if lasted else None


def _count_by_day(items: Sequence[_DigestItem], since: datetime, until: datetime) -> tuple[DayCount, ...]:
    """Return the local days of [since, until) in the zone of `since`, with the incidents that began on each."""
    if not items:
        return ()
    began = Counter(item.opened.astimezone(since.tzinfo).date() for item in items)
    last = (until.astimezone(since.tzinfo) - timedelta(microseconds=1)).date()
    days = (since.date() + timedelta(days=n) for n in range((last - since.date()).days + 1))
    return tuple(DayCount(day, began[day]) for day in days)


def _build_family(
    now: Sequence[_DigestItem], before: Sequence[_DigestItem], filed: FixGroups | None
) -> RecurringFamily:
    named = [item.record for item in reversed(now) if item.record]
    workaround, times = _find_workaround(now, filed)
    return RecurringFamily(
        title=named[0].title if named else min(now[-1].fingerprints),
        service=next((r.service for r in named if r.service), None),
        vendor=next((r.vendor for r in named if r.vendor), None),
        times=_count_outages(now),
        times_before=_count_outages(before),
        minutes=_sum_minutes(now),
        unrecorded=sum(1 for item in now if item.is_unrecorded),
        workaround=workaround,
        workaround_times=times,
        incidents=tuple(item.incident_id for item in now),
    )


def compose_digest(
    records: Iterable[Incident],
    lives: Iterable[Lifecycle],
    since: datetime,
    until: datetime,
    period: str,
    answered: Collection[bool] = (),
    filed: FixGroups | None = None,
) -> Digest:
    """Compose the digest of [since, until): what happened, and which families recurred, most often first.

    `records` and `lives` may reach beyond the period; those of the equally long period before it are the
    comparison. Dismissed incidents and records without a date are left out. `answered` tells for each incident with
    a brief whether memory had an answer; `filed` groups wordings of fixes as people said, so that they count as in
    briefs.
    """
    known = tuple(records)
    items = [i for i in _build_items(known, lives) if since - (until - since) <= i.opened < until]
    current, before = [i for i in items if i.opened >= since], [i for i in items if i.opened < since]
    split = (([i for i in f if i.opened >= since], [i for i in f if i.opened < since]) for f in _group_families(items))
    families = [found for now, then in split if now for found in [_build_family(now, then, filed)] if found.times > 1]
    families.sort(key=lambda f: (-f.times, -(f.minutes or 0.0), f.title, f.incidents))
    shown = tuple(families[:FAMILIES_SHOWN])
    stopped, idle = find_stopped_fixes(known, since, until, filed), find_aged_fixes(known, since, until, filed)
    named = {i for ids in (*(f.incidents for f in shown), *(n.incidents for n in (*stopped, *idle))) for i in ids}
    counted = {item.incident_id for item in items}
    return Digest(
        period=period,
        since=since,
        until=until,
        incidents=len(current),
        resolved=sum(1 for i in current if i.resolved),
        unrecorded=sum(1 for i in current if i.is_unrecorded),
        families=shown,
        open=sum(1 for i in current if i.open),
        incidents_before=len(before),
        minutes=_sum_minutes(current),
        minutes_before=_sum_minutes(before),
        stopped=stopped,
        unused=idle,
        vendors=build_vendor_lines([r for r in known if r.incident_id in counted], since, until),
        briefs=len(answered),
        abstained=sum(1 for answer in answered if not answer),
        by_day=_count_by_day(current, since, until),
        urls={r.incident_id: r.source.url for r in known if r.incident_id in named and r.source.url},
    )
