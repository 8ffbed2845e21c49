"""The fix with the best record, and its rivals. Counts are counts of outages.

Must not rank precedents or render text other than the explanation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from bot.domain.fixes.identity import FILED, FixGroups, FixKey, build_fix_key
from bot.domain.fixes.steps import normalize_fix
from bot.domain.incidents.outages import map_outages
from bot.domain.incidents.record import Attempt, Incident, VerificationStatus
from bot.domain.recall.contrast import describe_contrast
from bot.domain.recall.ranking import Precedent
from bot.domain.text.format import join_names

RECENT = timedelta(days=180)
IDS_SHOWN = 8
RUNBOOK = "runbook"


class Confidence(StrEnum):
    """How far to trust a recommendation."""

    HIGH = "HIGH"
    MEDIUM = "MEDIUM"
    LOW = "LOW"


@dataclass(frozen=True, slots=True)
class Recommendation:
    """One fix with its record over the strong precedents. `outages` is the denominator: all similar outages, whether
    this fix was tried in them or not. `explanation` states it in words with the ids. `incidents`: where it was tried,
    those where it worked first, best precedent first. `title` is the runbook's, if the fix carries one. `worked_in`: the
    boundaries of the incidents in which it worked, sorted. `resolved`: the incidents in which it worked."""

    fix: str
    successes: int
    partial: int
    failures: int
    outages: int
    confidence: Confidence
    explanation: str
    last_worked: datetime | None = None
    incidents: tuple[str, ...] = ()
    runbook_id: str | None = None
    title: str | None = None
    worked_in: tuple[str, ...] = ()
    resolved: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FailedFix:
    """A fix with failures and no success; `runbook_id` and `title` of the runbook, if it carries one."""

    fix: str
    failures: int
    incidents: tuple[str, ...] = ()
    runbook_id: str | None = None
    title: str | None = None


@dataclass(frozen=True, slots=True)
class FixRecord:
    """Everything the strong precedents say about fixes."""

    recommendation: Recommendation | None = None
    alternatives: tuple[Recommendation, ...] = ()
    did_not_work: tuple[FailedFix, ...] = ()


@dataclass(frozen=True, slots=True)
class _FixUse:
    """The last attempt of one fix in one incident. `rank` is the precedent's place, best first."""

    rank: int
    incident: Incident
    attempt: Attempt
    outage: str


@dataclass(frozen=True, slots=True)
class _FixTally:
    """All uses of one fix, with the status that each outage counts as."""

    uses: tuple[_FixUse, ...]
    statuses: Mapping[str, VerificationStatus]

    def count(self, status: VerificationStatus) -> int:
        """How many outages count as this."""
        return sum(1 for s in self.statuses.values() if s is status)

    def select(self, status: VerificationStatus) -> tuple[_FixUse, ...]:
        """The uses in outages that count as this."""
        return tuple(u for u in self.uses if self.statuses[u.outage] is status)


# Within one outage the worst outcome counts: a fix that failed beside a success is no success to rely on.
_GRAVITY = (
    VerificationStatus.UNVERIFIED,
    VerificationStatus.VERIFIED,
    VerificationStatus.PARTIAL,
    VerificationStatus.FAILED,
)
_ORDER = {Confidence.HIGH: 0, Confidence.MEDIUM: 1, Confidence.LOW: 2}


def _map_runbooks(strong: Sequence[Precedent], filed: FixGroups | None) -> Mapping[FixKey, str]:
    """The runbook of a fix, so that a use recorded without the runbook's id joins the others."""
    pairs = sorted(
        (build_fix_key(a.fix, filed), a.runbook_id)
        for p in strong
        for a in p.incident.attempts
        if a.runbook_id and a.fix.strip()
    )
    return dict(reversed(pairs))


def _find_last_attempts(
    incident: Incident, runbooks: Mapping[FixKey, str], filed: FixGroups | None
) -> Mapping[FixKey, Attempt]:
    """The last attempt of each fix of one incident, in the order the record tells them."""
    found: dict[FixKey, Attempt] = {}
    for attempt in incident.attempts:
        key = build_fix_key(attempt.fix, filed)
        runbook = attempt.runbook_id or runbooks.get(key)
        if runbook or key:
            found[(RUNBOOK, runbook) if runbook else key] = attempt
    return found


def _tally_fixes(
    strong: Sequence[Precedent], outage: Mapping[str, str], filed: FixGroups | None
) -> Iterator[tuple[FixKey, _FixTally]]:
    runbooks = _map_runbooks(strong, filed)
    uses: dict[FixKey, list[_FixUse]] = {}
    for rank, precedent in enumerate(strong):
        incident = precedent.incident
        for key, attempt in _find_last_attempts(incident, runbooks, filed).items():
            uses.setdefault(key, []).append(_FixUse(rank, incident, attempt, outage[incident.incident_id]))
    for key, used in uses.items():
        statuses: dict[str, VerificationStatus] = {}
        for use in used:
            before = statuses.get(use.outage, VerificationStatus.UNVERIFIED)
            statuses[use.outage] = max(before, use.attempt.status, key=_GRAVITY.index)
        yield key, _FixTally(tuple(used), statuses)


def find_attempt_time(incident: Incident, attempt: Attempt) -> datetime | None:
    """When an attempt was made, as far as the record tells: its own time, else when the incident ended or began."""
    return attempt.at or incident.resolved_at or incident.started_at


def _collect_success_dates(tally: _FixTally) -> tuple[list[datetime], int]:
    """(times of the successes that have one, how many different dates all successes stand for).
    A success without a time is an outage of its own date."""
    times: dict[str, datetime | None] = {}
    for use in tally.select(VerificationStatus.VERIFIED):
        if use.attempt.status is VerificationStatus.VERIFIED:
            when, before = find_attempt_time(use.incident, use.attempt), times.get(use.outage)
            times[use.outage] = max(when, before) if when and before else when or before
    known = [t for t in times.values() if t]
    return known, len({t.date() for t in known}) + len(times) - len(known)


def _rate_confidence(tally: _FixTally, at: datetime) -> Confidence:
    s, p, f = (
        tally.count(status)
        for status in (VerificationStatus.VERIFIED, VerificationStatus.PARTIAL, VerificationStatus.FAILED)
    )
    if f or not s:
        return Confidence.LOW
    known, dates = _collect_success_dates(tally)
    recent = not known or at - max(known) <= RECENT
    return Confidence.HIGH if s >= 2 and dates >= 2 and p < s and recent else Confidence.MEDIUM


def _explain_age(tally: _FixTally, at: datetime) -> list[str]:
    """That the last success is long ago, where it is: it is no longer trusted as a recent one is."""
    last = max(_collect_success_dates(tally)[0], default=None)
    if last is None or at - last <= RECENT:
        return []
    return [f"last worked {(at - last).days} days ago, on {last.date().isoformat()}"]


def _explain_grouping(key: FixKey, tally: _FixTally) -> list[str]:
    """That a person said which wordings are counted here, where that is so."""
    if key[0] != FILED:
        return []
    wordings = len({normalize_fix(use.attempt.fix) for use in tally.uses})
    return [f"{wordings} wordings counted as one fix, as a person said" if wordings > 1 else "filed by a person"]


def _explain(key: FixKey, tally: _FixTally, total: int, ids: Sequence[str], at: datetime) -> str:
    s, p, f, u = (
        tally.count(status)
        for status in (
            VerificationStatus.VERIFIED,
            VerificationStatus.PARTIAL,
            VerificationStatus.FAILED,
            VerificationStatus.UNVERIFIED,
        )
    )
    tried, known = len(tally.statuses), s + p + f
    imported = len({use.outage for use in tally.uses if use.attempt.how == "import"})
    said = [f"tried in {tried} of {total} similar outages"]
    said += [f"worked {s} of {known}"] if s else []
    said += [f"mixed results: {s} success, {f} failure"] if s and f else []
    said += _explain_age(tally, at)
    said += [f"helped partly {p} of {known}"] if p else []
    said += [f"outcome not recorded in {u}"] if u and known else []
    said += ["outcome not recorded"] if not known else []
    said += [_explain_imports(imported, tried)] if imported else []
    said += _explain_grouping(key, tally)
    return f"{', '.join(said)}: {join_names(ids, IDS_SHOWN)}"


def _explain_imports(imported: int, tried: int) -> str:
    """How many of the counted outages only an import vouches for."""
    if imported < tried:
        return f"{imported} of these {tried} imported"
    return "all imported" if tried > 1 else "imported"


def _choose_wording(best: Sequence[_FixUse], runbook_id: str | None) -> tuple[str, str | None]:
    """The fix as the best incident words it (a bare runbook: its steps), and the runbook's title."""
    runbooks = [r for use in best for r in use.incident.runbooks if r.id == runbook_id]
    written = [use.attempt.fix for use in best if use.attempt.fix.strip()]
    stepwise = ["\n".join(r.steps) for r in runbooks if r.steps]
    titles = [r.title for r in runbooks]
    return next(iter([*written, *stepwise, *titles, runbook_id or ""])), next(iter(titles), None)


def _build_recommendation(key: FixKey, tally: _FixTally, total: int, at: datetime) -> Recommendation:
    worked = [u for u in tally.select(VerificationStatus.VERIFIED) if u.attempt.status is VerificationStatus.VERIFIED]
    best = [*worked, *tally.uses]
    ids = tuple(dict.fromkeys(u.incident.incident_id for u in best))
    runbook_id = key[1] if key[0] == RUNBOOK else None
    fix, title = _choose_wording(best, runbook_id)
    return Recommendation(
        fix=fix,
        successes=tally.count(VerificationStatus.VERIFIED),
        partial=tally.count(VerificationStatus.PARTIAL),
        failures=tally.count(VerificationStatus.FAILED),
        outages=total,
        confidence=_rate_confidence(tally, at),
        explanation=_explain(key, tally, total, ids, at),
        last_worked=max(_collect_success_dates(tally)[0], default=None),
        incidents=ids,
        runbook_id=runbook_id,
        title=title,
        worked_in=tuple(sorted({u.incident.boundary.value for u in worked})),
        resolved=tuple(dict.fromkeys(u.incident.incident_id for u in worked)),
    )


def _build_sort_key(found: Recommendation, rank: int, side: Collection[str]) -> tuple[bool, int, int, float, int, str]:
    """Order of fixes: those that worked in cases of the alert's own side; those that worked by confidence, successes, share
    of successes, best precedent; then those that helped partly; then those whose outcome nobody recorded."""
    known = found.successes + found.partial + found.failures
    level = _ORDER[found.confidence] if found.successes else len(_ORDER) + (not found.partial)
    elsewhere = not set(found.resolved) & set(side)
    return elsewhere, level, -found.successes, -found.successes / known if known else 0.0, rank, found.fix


def _explain_rival(best: Recommendation, rival: Recommendation, strong: Sequence[Precedent]) -> Recommendation:
    """A rival that also worked, with what tells its incidents from the recommended fix's in its explanation."""
    with_best = [p.incident for p in strong if p.incident.incident_id in best.incidents]
    only_rival = [p.incident for p in strong if p.incident.incident_id in set(rival.incidents) - set(best.incidents)]
    apart = describe_contrast(with_best, only_rival, "recommended", "this") if rival.successes else None
    return replace(rival, explanation=f"{rival.explanation}; told apart by {apart}") if apart else rival


def build_fix_record(
    strong: Sequence[Precedent], at: datetime, *, side: Collection[str] = (), filed: FixGroups | None = None
) -> FixRecord:
    """What the strong precedents (best first) say about fixes, for an alert at `at`.

    One fix is one runbook, else all wordings that say the same, or that a person `filed` under one name. Recommended is
    the best that ever worked; one that worked in an incident of `side` (those that the alert is like) goes before all
    that did not. A fix with failures and no success is under `did_not_work`, never recommended and never an alternative.
    """
    outage = map_outages(p.incident for p in strong)
    total = len(set(outage.values()))
    ranked = [
        (min(use.rank for use in tally.uses), _build_recommendation(key, tally, total, at))
        for key, tally in _tally_fixes(strong, outage, filed)
    ]
    failed = [(rank, found) for rank, found in ranked if found.failures and not found.successes]
    failed.sort(key=lambda pair: (-pair[1].failures, pair[0], pair[1].fix))
    ranked.sort(key=lambda pair: _build_sort_key(pair[1], pair[0], side))
    ordered = [found for _, found in ranked if found.successes or not found.failures]
    best = ordered[0] if ordered and ordered[0].successes else None
    rivals = [_explain_rival(best, rival, strong) for rival in ordered[1:]] if best else ordered
    did_not_work = (FailedFix(f.fix, f.failures, f.incidents, f.runbook_id, f.title) for _, f in failed)
    return FixRecord(best, tuple(rivals), tuple(did_not_work))
