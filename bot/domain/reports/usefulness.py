"""Measure whether the bot is worth keeping: what became of its briefs in a period, counted from plain rows.

Counts are outages unless they say incidents; what nobody judged is reported as such, not guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median

from bot.domain.brief.decide import Brief
from bot.domain.brief.recommendation import Confidence, Recommendation
from bot.domain.fixes.identity import FixGroups, is_same_fix
from bot.domain.incidents.lifecycle import IncidentState, Lifecycle
from bot.domain.incidents.outages import OutageSpan, build_span, cluster_spans
from bot.domain.incidents.record import Attempt, Incident, VerificationStatus
from bot.domain.text.format import fit_one_line


@dataclass(frozen=True, slots=True)
class ReportedIncident:
    """An incident of the period: its lifecycle, its record, its briefs, and how many messages the bot posted about it."""

    life: Lifecycle
    record: Incident | None = None
    briefs: tuple[Brief, ...] = ()
    posts: int = 0


@dataclass(frozen=True, slots=True)
class PrecedentJudgment:
    """A person's judgment of the strong precedents of an incident's brief."""

    incident_id: str
    right: bool


@dataclass(frozen=True, slots=True)
class Ratio:
    """A part of a whole."""

    part: int
    of: int

    @property
    def percent(self) -> int | None:
        """In whole percent; None of nothing."""
        return round(100 * self.part / self.of) if self.of else None


@dataclass(frozen=True, slots=True)
class WrongHigh:
    """A fix recommended with HIGH confidence that was wrong: it failed, or another one worked."""

    incident_id: str
    title: str
    fix: str
    at: datetime
    instead: str | None = None  # the fix that worked
    url: str | None = None  # where the incident was worked on, as far as known


@dataclass(frozen=True, slots=True)
class UsefulnessReport:
    """A period's account of the bot."""

    since: datetime
    until: datetime
    incidents: int
    outages: int
    worked: int  # outages in which people recorded what they tried
    shown: Ratio  # worked outages whose brief showed a fix that had worked before
    acted_on: Ratio  # worked outages in which a shown fix was used
    right: Ratio  # of the incidents with judged precedents, those judged right
    unjudged: int  # incidents whose precedents nobody judged
    high: int  # incidents with a HIGH recommendation
    high_untold: int  # of those, never recorded
    wrong_high: tuple[WrongHigh, ...]  # newest first
    recorded: Ratio  # of the incidents that are over, those with a record of what was tried
    minutes_to_record: float | None  # median from clearing to the first record; 0 if before
    posts: int  # messages of the bot

    @property
    def posts_per_outage(self) -> float | None:
        """Messages per outage."""
        return round(self.posts / self.outages, 1) if self.outages else None


def build_report(
    rows: Iterable[ReportedIncident],
    feedback: Iterable[PrecedentJudgment],
    since: datetime,
    until: datetime,
    filed: FixGroups | None = None,
) -> UsefulnessReport:
    """Report on the incidents that began in [since, until).

    Dismissed incidents were none, and at past ones the bot was not there. `filed` groups wordings of fixes as
    people said, so that a fix used under another wording counts as in briefs.
    """
    judgments = tuple(feedback)
    incidents = [t for t in rows if since <= t.life.opened_at < until and _is_counted(t.life)]
    outage = _map_outages(incidents)
    worked = {outage[t.life.incident_id] for t in incidents if _list_attempts(t)}
    shown = {outage[t.life.incident_id] for t in incidents if _has_fix(t)} & worked
    used = {outage[t.life.incident_id] for t in incidents if _has_used_fix(t, filed)}
    judgements = (_judge_precedents(t, select_feedback(judgments, t), filed) for t in incidents)
    judged = [judgement for judgement in judgements if judgement is not None]
    # a dismissed precedent has left the brief, so the judgment itself proves that there was one
    strong = [t for t in incidents if select_feedback(judgments, t) or any(brief.sources for brief in t.briefs)]
    high = [t for t in incidents if _find_high(t)]
    wrong = sorted(
        (w for t in high for w in [_find_wrong_high(t, filed)] if w), key=lambda w: (w.at, w.incident_id), reverse=True
    )
    over = [t for t in incidents if t.life.state in (IncidentState.CLEARED, IncidentState.RESOLVED)]
    return UsefulnessReport(
        since=since,
        until=until,
        incidents=len(incidents),
        outages=len(set(outage.values())),
        worked=len(worked),
        shown=Ratio(len(shown), len(worked)),
        acted_on=Ratio(len(used), len(worked)),
        right=Ratio(sum(judged), len(judged)),
        unjudged=len(strong) - len(judged),
        high=len(high),
        high_untold=sum(1 for t in high if not _list_attempts(t)),
        wrong_high=tuple(wrong),
        recorded=Ratio(sum(1 for t in over if _list_attempts(t)), len(over)),
        minutes_to_record=_measure_recording(over),
        posts=sum(t.posts for t in incidents),
    )


def select_feedback(feedback: Iterable[PrecedentJudgment], incident: ReportedIncident) -> tuple[bool, ...]:
    """Return what people said about this incident's precedents, oldest first."""
    return tuple(f.right for f in feedback if f.incident_id == incident.life.incident_id)


def _is_counted(life: Lifecycle) -> bool:
    return life.state is not IncidentState.DISMISSED and not life.past


def _map_outages(incident: Sequence[ReportedIncident]) -> Mapping[str, str]:
    """Return for each incident the one that represents its outage; one without a record stays alone."""
    alone = frozenset[str]()
    return cluster_spans([
        build_span(t.record) if t.record else OutageSpan(t.life.incident_id, alone, t.life.opened_at, None) for t in incident
    ])  # fmt: skip


def _list_attempts(incident: ReportedIncident) -> tuple[Attempt, ...]:
    return incident.record.attempts if incident.record else ()


def _list_fixes(incident: ReportedIncident) -> tuple[Recommendation, ...]:
    """Return the fixes that its briefs showed: recommended first, then the alternatives."""
    found = (r for brief in incident.briefs for r in (brief.recommendation, *brief.alternatives))
    return tuple(r for r in found if r is not None)


def _is_recommended(attempt: Attempt, shown: Recommendation, filed: FixGroups | None) -> bool:
    by_runbook = attempt.runbook_id is not None and attempt.runbook_id == shown.runbook_id
    return by_runbook or is_same_fix(attempt.fix, shown.fix, filed)


def _has_fix(incident: ReportedIncident) -> bool:
    return bool(_list_fixes(incident))


def _has_used_fix(incident: ReportedIncident, filed: FixGroups | None) -> bool:
    """Return whether a shown fix was tried, whatever its outcome."""
    return any(
        a.suggested or any(_is_recommended(a, r, filed) for r in _list_fixes(incident))
        for a in _list_attempts(incident)
    )


def _judge_precedents(incident: ReportedIncident, judgments: Sequence[bool], filed: FixGroups | None) -> bool | None:
    """Return whether its strong precedents were right; None if nobody judged.

    A person's last word on them comes first; else "This fixed it" means right, and a suggested fix that failed or
    was taken back means wrong.
    """
    if judgments:
        return judgments[-1]
    if not any(brief.sources for brief in incident.briefs):
        return None
    recommended = [b.recommendation for b in incident.briefs if b.recommendation]
    tried = [
        a for a in _list_attempts(incident) if a.suggested or any(_is_recommended(a, r, filed) for r in recommended)
    ]
    known = {VerificationStatus.VERIFIED: True, VerificationStatus.FAILED: False}
    told_of = [known[a.status] for a in tried if a.status in known]
    return told_of[-1] if told_of else None


def _find_high(incident: ReportedIncident) -> Recommendation | None:
    """Return what was recommended with HIGH confidence."""
    found = (brief.recommendation for brief in incident.briefs)
    return next((r for r in found if r and r.confidence is Confidence.HIGH), None)


def _find_wrong_high(incident: ReportedIncident, filed: FixGroups | None) -> WrongHigh | None:
    """Return how a HIGH recommendation was wrong, if it was.

    It was if its last trial failed, or if another fix worked while it did not. A fix that nobody tried, while
    nothing else worked, is not known to be wrong.
    """
    best = _find_high(incident)
    if best is None or incident.record is None:
        return None
    tried = [a.status for a in incident.record.attempts if _is_recommended(a, best, filed)]
    seen = [a for a in incident.record.attempts if a.status is VerificationStatus.VERIFIED]
    others = [a.fix for a in seen if not _is_recommended(a, best, filed)]
    failed = bool(tried) and tried[-1] is VerificationStatus.FAILED
    replaced = bool(others) and VerificationStatus.VERIFIED not in tried
    if not (failed or replaced):
        return None
    instead = fit_one_line(others[-1], 140) if others else None
    title, fix = fit_one_line(incident.record.title, 140), fit_one_line(best.fix, 140)
    return WrongHigh(
        incident.life.incident_id, title, fix, incident.life.opened_at, instead, incident.record.source.url
    )


def _measure_recording(over: Iterable[ReportedIncident]) -> float | None:
    took = []
    for incident in over:
        written = [a.at for a in _list_attempts(incident) if a.at]
        if written and incident.life.cleared_at:
            took.append(max(0.0, (min(written) - incident.life.cleared_at).total_seconds() / 60))
    return round(median(took), 1) if took else None
