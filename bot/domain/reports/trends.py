"""Find what became of fixes and vendors over a period: fixes that stopped working or were not used for long, and how
often each vendor was down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.domain.brief.recommendation import RECENT, find_attempt_time
from bot.domain.fixes.identity import FixGroups, FixKey, build_fix_key
from bot.domain.incidents.outages import map_outages
from bot.domain.incidents.record import Boundary, Incident, VerificationStatus
from bot.domain.text.names import normalize_name

SHOWN = 5
_TELLS = frozenset({VerificationStatus.VERIFIED, VerificationStatus.FAILED})


@dataclass(frozen=True, slots=True)
class FixNews:
    """A fix that there is news of."""

    fix: str  # as last worded
    last_worked: datetime
    worked: int  # in how many incidents before
    incidents: tuple[str, ...]  # where it failed; for an unused one, where it last worked


@dataclass(frozen=True, slots=True)
class VendorLine:
    """A vendor's period, in outages."""

    vendor: str
    outages: int
    at_fault: int  # where people said that the fault was the vendor's
    outages_before: int
    minutes: float | None  # how long they took together, as far as known


@dataclass(frozen=True, slots=True)
class _KnownOutcome:
    when: datetime
    fix: str
    worked: bool
    incident_id: str


def _collect_outcomes(
    records: Iterable[Incident], until: datetime, filed: FixGroups | None
) -> Mapping[tuple[str | None, FixKey], list[_KnownOutcome]]:
    """Return the uses of each fix at each service whose outcome is known, oldest first.

    The same words at another service are another fix: "restart it" means nothing without its "it".
    """
    found: dict[tuple[str | None, FixKey], list[_KnownOutcome]] = {}
    for record in records:
        for attempt in record.attempts:
            when = find_attempt_time(record, attempt)
            # A runbook is one fix wherever it is used and however it is worded.
            key = ("runbook", attempt.runbook_id) if attempt.runbook_id else build_fix_key(attempt.fix, filed)
            if key and when and when < until and attempt.status in _TELLS:
                worked = attempt.status is VerificationStatus.VERIFIED
                place = None if attempt.runbook_id else normalize_name(record.service or record.vendor)
                named = attempt.fix.strip() or attempt.runbook_id or ""
                found.setdefault((place, key), []).append(_KnownOutcome(when, named, worked, record.incident_id))
    return {key: sorted(uses, key=lambda u: (u.when, u.incident_id)) for key, uses in found.items()}


def _list_ids(uses: Iterable[_KnownOutcome]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(use.incident_id for use in uses))


def find_stopped_fixes(
    records: Iterable[Incident], since: datetime, until: datetime, filed: FixGroups | None = None
) -> tuple[FixNews, ...]:
    """Return the fixes that had worked, failed in [since, until), and did not work again by its end, most trusted
    first."""
    found = []
    for uses in _collect_outcomes(records, until, filed).values():
        worked = [use for use in uses if use.worked]
        failed = [
            use for use in uses if not use.worked and use.when >= since and worked and use.when >= worked[-1].when
        ]
        if failed:
            found.append(FixNews(failed[-1].fix, worked[-1].when, len(_list_ids(worked)), _list_ids(failed)))
    return tuple(sorted(found, key=lambda n: (-n.worked, n.fix))[:SHOWN])


def find_aged_fixes(
    records: Iterable[Incident], since: datetime, until: datetime, filed: FixGroups | None = None
) -> tuple[FixNews, ...]:
    """Return the fixes whose last success became too old to trust within the period, so that each is reported once."""
    found = []
    for uses in _collect_outcomes(records, until, filed).values():
        worked = [use for use in uses if use.worked]
        if worked and uses[-1] is worked[-1] and since <= worked[-1].when + RECENT < until:
            found.append(FixNews(worked[-1].fix, worked[-1].when, len(_list_ids(worked)), _list_ids(worked[-1:])))
    return tuple(sorted(found, key=lambda n: (-n.worked, n.fix))[:SHOWN])


def _sum_minutes(records: Sequence[Incident], outage: Mapping[str, str]) -> float | None:
    """Return how long the outages of these records took; of one outage the longest record counts."""
    longest: dict[str, float] = {}
    for record in records:
        if record.started_at and record.resolved_at and record.resolved_at >= record.started_at:
            lasted = (record.resolved_at - record.started_at).total_seconds() / 60
            key = outage[record.incident_id]
            longest[key] = max(lasted, longest.get(key, 0.0))
    return sum(longest.values()) if longest else None


def build_vendor_lines(records: Iterable[Incident], since: datetime, until: datetime) -> tuple[VendorLine, ...]:
    """Return the vendors named by outages of [since, until), those most often down first."""
    by_vendor: dict[str, list[Incident]] = {}
    for record in records:
        form, when = normalize_name(record.vendor), record.happened_at
        if form and when and since - (until - since) <= when < until:
            by_vendor.setdefault(form, []).append(record)
    found = []
    for named in by_vendor.values():
        outage = map_outages(named)
        now = [r for r in named if r.happened_at and r.happened_at >= since]
        before = {outage[r.incident_id] for r in named} - {outage[r.incident_id] for r in now}
        if now:
            at_fault = {outage[r.incident_id] for r in now if r.boundary is Boundary.VENDOR}
            count = len({outage[r.incident_id] for r in now})
            name = now[-1].vendor or ""
            found.append(VendorLine(name, count, len(at_fault), len(before), _sum_minutes(now, outage)))
    return tuple(sorted(found, key=lambda v: (-v.outages, -v.at_fault, v.vendor))[:SHOWN])
