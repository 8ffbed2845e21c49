"""The brief: what the person on call reads first. `decide` is the one function that every surface shows.

Must not read a clock, call a model, or render Slack blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from bot.domain.alerts.alert import Alert
from bot.domain.brief.boundary import BoundaryCall, call_boundary, has_other_boundary
from bot.domain.brief.checks import PostponedCheck, SkippedCheck, choose_checks
from bot.domain.brief.contradictions import Contradiction, MemoryClaims, find_contradictions
from bot.domain.brief.recommendation import FailedFix, FixRecord, Recommendation, build_fix_record
from bot.domain.brief.runbooks import RunbookRecord, list_runbooks
from bot.domain.brief.then_and_now import PastSnapshot, find_past_snapshot
from bot.domain.brief.triage_checklist import build_triage_checklist
from bot.domain.brief.verdict import write_verdict
from bot.domain.evidence.items import Evidence, sort_evidence
from bot.domain.fixes.identity import FixGroups
from bot.domain.fixes.steps import find_step_warnings, normalize_fix, split_steps
from bot.domain.incidents.alert_history import AlertHistory
from bot.domain.incidents.opening import IncidentView
from bot.domain.incidents.outages import map_outages
from bot.domain.incidents.record import Boundary, Incident, VerificationStatus
from bot.domain.recall.dismissed import DismissedPrecedent
from bot.domain.recall.ranking import (
    STRONG_FROM,
    MissingPart,
    Precedent,
    Recalled,
    Tier,
    build_sort_key,
    cap_probability,
)
from bot.domain.text.format import cut, fit_one_line, format_count

# Lengths of what a brief holds, so that no record can make it too long to show.
TITLE_LIMIT = 150
FIX_LIMIT = 2_000
STEP_LIMIT = 500
STEPS_LIMIT = 20
CAUSE_LIMIT = 600
CHECK_LIMIT = 150
EXPLANATION_LIMIT = 500
LISTED_LIMIT = 10
MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class InsufficientMemory:
    """Why memory cannot answer, and what to collect. `nearest` names the nearest record and what tells it apart."""

    reason: str
    nearest: str | None = None
    collect: tuple[str, ...] = ()
    runbook: str | None = None


@dataclass(frozen=True, slots=True)
class RootCause:
    """The root cause as a record states it; `verified` if that incident has a VERIFIED attempt."""

    text: str
    verified: bool
    incident_id: str


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A precedent as the brief lists it."""

    incident_id: str
    title: str
    boundary: Boundary
    tier: str
    probability: float
    date: datetime | None = None
    why: tuple[str, ...] = ()
    url: str | None = None
    fixed_by: str | None = None


@dataclass(frozen=True, slots=True)
class SameOutage:
    """An incident that another tool announced at about the same time, on the same service or vendor."""

    incident_id: str
    tool: str
    title: str
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Brief:
    """Everything that a thread, `/recall`, the command line and Details show. `outages`: how many past ones count;
    `same_outage`: what else may be this outage, until a person says that it is not; `read_at`: when the alert was read,
    where that was late, after a gap. `evidence` is what sources showed at `evidence_at`, `then` what they showed in a past
    incident; `withheld` are the checks to skip while a contradiction stands; `set_aside`: what persons said against
    precedents that would be listed."""

    verdict: str
    alert: Alert
    incident: IncidentView | None = None
    memory_mode: str = "on"
    insufficient_memory: InsufficientMemory | None = None
    boundary: BoundaryCall = field(default_factory=BoundaryCall)
    root_cause: RootCause | None = None
    steps: tuple[str, ...] = ()
    step_warnings: tuple[str, ...] = ()
    recommendation: Recommendation | None = None
    alternatives: tuple[Recommendation, ...] = ()
    did_not_work: tuple[FailedFix, ...] = ()
    skip: tuple[SkippedCheck, ...] = ()
    later: tuple[PostponedCheck, ...] = ()
    sources: tuple[SourceLine, ...] = ()
    possible: tuple[SourceLine, ...] = ()
    missing: tuple[MissingPart, ...] = ()
    history: AlertHistory | None = None
    now: datetime | None = None
    outages: int = 0
    same_outage: SameOutage | None = None
    read_at: datetime | None = None
    runbooks: tuple[RunbookRecord, ...] = ()
    set_aside: tuple[DismissedPrecedent, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    evidence_at: datetime | None = None
    contradictions: tuple[Contradiction, ...] = ()
    then: PastSnapshot | None = None
    withheld: tuple[SkippedCheck, ...] = ()


def _has_verified(incident: Incident) -> bool:
    return any(a.status is VerificationStatus.VERIFIED for a in incident.attempts)


def _find_fixer(incident: Incident) -> str | None:
    """Who made the last attempt that a person saw work."""
    makers = [a.by for a in incident.attempts if a.status is VerificationStatus.VERIFIED and a.by]
    return makers[-1] if makers else None


def build_source_line(precedent: Precedent) -> SourceLine:
    """A precedent as it is listed, with a link: to where it was worked on, else to the alert that announced it."""
    incident = precedent.incident
    links = (incident.source.url, *(a.url for a in incident.alerts))
    return SourceLine(
        incident_id=incident.incident_id,
        title=fit_one_line(incident.title, TITLE_LIMIT),
        boundary=incident.boundary,
        tier=precedent.tier.value,
        probability=precedent.probability,
        date=incident.happened_at,
        why=tuple(fit_one_line(reason, CHECK_LIMIT) for reason in precedent.why),
        url=next((link for link in links if link), None),
        fixed_by=_find_fixer(incident),
    )


def _choose_root_cause(strong: Sequence[Precedent]) -> RootCause | None:
    """The cause of the best precedent with a fix seen to work; else of the best that states one, not verified."""
    stated = [p.incident for p in strong if p.incident.root_cause]
    best = next((i for i in stated if _has_verified(i)), stated[0] if stated else None)
    if best is None or best.root_cause is None:
        return None
    return RootCause(cut(best.root_cause.strip(), CAUSE_LIMIT), _has_verified(best), best.incident_id)


def _describe_gap(alert: Alert, precedent: Precedent) -> tuple[str, str]:
    """What keeps the nearest record from counting: in a few words, and in full with its title and the values."""
    nearest, title = precedent.incident.incident_id, fit_one_line(precedent.incident.title, 60)
    if not precedent.differs:
        return f"nearest {nearest} is alike only in part", f"{nearest} ({title}) is alike only in part"
    now = {"vendor": alert.vendor, "service": alert.service, "environment": alert.environment, "region": alert.region}
    fields = [(field, fit_one_line(then, 30), now[field]) for field, then in precedent.differs]
    told = (f"{field} ({then}{f', now {fit_one_line(value, 30)}' if value else ''})" for field, then, value in fields)
    names = ", ".join(field for field, _ in precedent.differs)
    return f"nearest {nearest} differs in {names}", f"{nearest} ({title}) differs in {', '.join(told)}"


def _find_runbook(alert: Alert) -> str | None:
    """The runbook that the alert itself links, else its dashboard."""
    links = {key.casefold(): url for key, url in sorted(alert.links.items())}
    return next((url for word in ("runbook", "playbook", "dashboard") for k, url in links.items() if word in k), None)


def _explain_insufficient(alert: Alert, recalled: Recalled) -> InsufficientMemory:
    """Why memory cannot answer: unreachable, empty, or nothing near enough; and what to collect meanwhile."""
    possible = recalled.possible
    nearest: str | None = None
    unreachable = next((m for m in recalled.missing if m.what == MEMORY), None)
    if possible:
        reason, nearest = _describe_gap(alert, possible[0])
    elif recalled.known:
        reason = f"nothing close among {format_count(recalled.known, 'past incident')}"
    elif unreachable:
        reason = f"memory unreachable ({fit_one_line(unreachable.reason, 80)})"
    else:
        reason = "nothing in memory yet"
    return InsufficientMemory(reason, nearest, build_triage_checklist(alert), _find_runbook(alert))


def _explain_no_memory(alert: Alert) -> InsufficientMemory:
    return InsufficientMemory("memory is off for this brief", None, build_triage_checklist(alert), _find_runbook(alert))


def _cut_fix(found: Recommendation) -> Recommendation:
    fix, explanation = cut(found.fix.strip(), FIX_LIMIT), cut(found.explanation, EXPLANATION_LIMIT)
    return replace(found, fix=fix, explanation=explanation)


def _cut_runbook(found: RunbookRecord) -> RunbookRecord:
    return replace(found, title=fit_one_line(found.title, TITLE_LIMIT), record=fit_one_line(found.record, CHECK_LIMIT))


def _add_fixes(brief: Brief, fixes: FixRecord, strong: Sequence[Precedent]) -> Brief:
    """The brief with the recommended fix, its steps verbatim, what to beware of in them, and the other fixes."""
    best = fixes.recommendation
    steps = split_steps(best.fix)[:STEPS_LIMIT] if best else ()
    past = next((p.incident for p in strong if best and p.incident.incident_id == best.incidents[0]), None)
    failed = (replace(d, fix=fit_one_line(d.fix, CHECK_LIMIT)) for d in fixes.did_not_work[:LISTED_LIMIT])
    warnings = [*_warn_other_side(brief.boundary, best), *find_step_warnings(steps, past, brief.alert)]
    return replace(
        brief,
        steps=tuple(cut(step, STEP_LIMIT) for step in steps),
        step_warnings=tuple(fit_one_line(w, CHECK_LIMIT) for w in warnings[:LISTED_LIMIT]),
        recommendation=_cut_fix(best) if best else None,
        alternatives=tuple(_cut_fix(a) for a in fixes.alternatives[:LISTED_LIMIT]),
        did_not_work=tuple(failed),
        runbooks=tuple(_cut_runbook(r) for r in list_runbooks(fixes, strong)[:LISTED_LIMIT]),
    )


def _warn_other_side(call: BoundaryCall, best: Recommendation | None) -> list[str]:
    """That the fix only ever worked where the fault lay elsewhere than memory says it lies now."""
    if best is None or not has_other_boundary(call, best.worked_in):
        return []
    return [f"worked in {'/'.join(best.worked_in)} cases only; memory says {call.value.value} for this alert"]


def _add_memory(
    brief: Brief, strong: Sequence[Precedent], possible: Sequence[Precedent], now: datetime, filed: FixGroups
) -> Brief:
    """The brief with everything that the strong precedents say (best first; not empty)."""
    skip, later = choose_checks(strong, possible)
    call = call_boundary(strong, brief.alert)
    side = [p.incident.incident_id for p in strong if call.like and p.incident.boundary is call.value]
    told = _add_fixes(replace(brief, boundary=call), build_fix_record(strong, now, side=side, filed=filed), strong)
    return replace(
        told,
        root_cause=_choose_root_cause([p for p in strong if p.incident.incident_id in side] or strong)
        or _choose_root_cause(strong),
        skip=tuple(replace(s, check=fit_one_line(s.check, CHECK_LIMIT)) for s in skip),
        later=tuple(replace(x, check=fit_one_line(x.check, CHECK_LIMIT)) for x in later),
        outages=len(set(map_outages(p.incident for p in strong).values())),
        then=find_past_snapshot(strong),
    )


def _write_verdict(brief: Brief) -> str:
    return write_verdict(
        brief.alert,
        state=brief.incident.state if brief.incident else None,
        call=brief.boundary,
        recommendation=brief.recommendation,
        first_step=brief.steps[0] if brief.steps else "the fix",
        outages=brief.outages,
        insufficient=brief.insufficient_memory.reason if brief.insufficient_memory else None,
        memory_mode=brief.memory_mode,
        contradiction=brief.contradictions[0].lead if brief.contradictions else None,
    )


def decide(
    alert: Alert,
    recalled: Recalled,
    evidence: Sequence[Evidence],
    now: datetime,
    *,
    incident: IncidentView | None = None,
    history: AlertHistory | None = None,
    memory_mode: str = "on",
    evidence_at: datetime | None = None,
) -> Brief:
    """The brief for an alert: the same input gives the same brief, in whatever order precedents and evidence come.

    `now` is the alert's time, `history` what alerts alone tell of this fingerprint. `evidence` is what sources showed at
    `evidence_at` (default: now); what no source was asked for has no section. With `memory_mode` "off" nothing recalled
    is used or hinted at.
    """
    brief = _decide_from_memory(alert, recalled, now, incident, history, memory_mode)
    return add_evidence(brief, evidence, evidence_at or now)


def _decide_from_memory(
    alert: Alert,
    recalled: Recalled,
    now: datetime,
    incident: IncidentView | None,
    history: AlertHistory | None,
    memory_mode: str,
) -> Brief:
    """What memory alone says; the verdict is still open."""
    if memory_mode == "off":
        return Brief("", alert, incident, memory_mode, _explain_no_memory(alert), now=now)
    precedents = sorted(recalled.precedents, key=build_sort_key)
    strong = [p for p in precedents if p.tier is Tier.STRONG]
    possible = [p for p in precedents if p.tier is Tier.POSSIBLE]
    brief = Brief("", alert, incident, memory_mode, history=history, missing=recalled.missing, now=now)
    ordered = replace(recalled, precedents=tuple(precedents))
    brief = (
        _add_memory(brief, strong, possible, now, recalled.filed)
        if strong
        else replace(brief, insufficient_memory=_explain_insufficient(alert, ordered))
    )
    return replace(
        brief,
        sources=tuple(build_source_line(p) for p in strong),
        possible=tuple(build_source_line(p) for p in possible[:LISTED_LIMIT]),
        set_aside=recalled.set_aside[:LISTED_LIMIT],
    )


def add_evidence(brief: Brief, evidence: Sequence[Evidence], at: datetime | None) -> Brief:
    """The same brief with what sources showed at `at`: what contradicts memory leads the verdict, and while it stands
    nothing is to be skipped. What memory says stays as it is."""
    skip = brief.skip or brief.withheld
    remembered = MemoryClaims(
        brief.boundary,
        brief.root_cause.text if brief.root_cause else None,
        brief.recommendation.fix if brief.recommendation else None,
        skip,
    )
    fires = brief.incident is None or brief.incident.state == "open"
    found = find_contradictions(remembered, evidence, brief.now, fires=fires) if brief.now else ()
    shown = replace(
        brief,
        evidence=sort_evidence(evidence),
        evidence_at=at if evidence else None,
        contradictions=found,
        skip=() if found else skip,
        withheld=skip if found else (),
    )
    return replace(shown, verdict=_write_verdict(shown))


def add_lifecycle(brief: Brief, incident: IncidentView) -> Brief:
    """The same brief for an incident that went on: its state and the verdict change, its steps never do."""
    moved = replace(brief, incident=incident)
    return replace(moved, verdict=_write_verdict(moved))


def is_same_advice(one: Brief, other: Brief) -> bool:
    """Whether two briefs recommend the same: if not, the newer one is a new reply, not an edit."""
    first, second = one.recommendation, other.recommendation
    if first is None or second is None:
        return first is second
    return normalize_fix(first.fix) == normalize_fix(second.fix) and first.confidence is second.confidence


def is_counted_precedent(aside: DismissedPrecedent, brief: Brief) -> bool:
    """Whether the precedent that was set aside is one that the brief counted, as far as the brief still tells: below a
    strong one's least place among the possible it was possible by itself."""
    line = next((p for p in brief.possible if p.incident_id == aside.incident_id), None)
    return line is None or line.probability >= cap_probability(STRONG_FROM)
