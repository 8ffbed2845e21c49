"""The brief: what the person on call reads first. `decide` is the one function that every surface shows.

Must not read a clock, call a model, or render Slack blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from bot.domain.alerts.alert import Alert
from bot.domain.brief.boundary import BoundaryCall, call_boundary, contradicts
from bot.domain.brief.checks import Later, Skip, checks
from bot.domain.brief.contradictions import Contradiction, Remembered, contradictions
from bot.domain.brief.recommendation import DidNotWork, FixRecord, Recommendation, fix_record
from bot.domain.brief.runbooks import RunbookRecord, runbook_records
from bot.domain.brief.then_and_now import Then, then_of
from bot.domain.brief.triage_checklist import collect_list
from bot.domain.brief.verdict import verdict
from bot.domain.evidence.items import Evidence, in_order
from bot.domain.fixes.identity import Filed
from bot.domain.fixes.steps import fix_form, split_steps, step_warnings
from bot.domain.incidents.alert_history import AlertHistory
from bot.domain.incidents.opening import IncidentView
from bot.domain.incidents.outages import outage_of
from bot.domain.incidents.record import Boundary, Incident, VerificationStatus
from bot.domain.recall.dismissed import SetAside
from bot.domain.recall.ranking import (
    STRONG_FROM,
    Missing,
    Precedent,
    Recalled,
    Tier,
    gated,
    place,
)
from bot.domain.text.names import counted, cut, one_line

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
    did_not_work: tuple[DidNotWork, ...] = ()
    skip: tuple[Skip, ...] = ()
    later: tuple[Later, ...] = ()
    sources: tuple[SourceLine, ...] = ()
    possible: tuple[SourceLine, ...] = ()
    missing: tuple[Missing, ...] = ()
    history: AlertHistory | None = None
    now: datetime | None = None
    outages: int = 0
    same_outage: SameOutage | None = None
    read_at: datetime | None = None
    runbooks: tuple[RunbookRecord, ...] = ()
    set_aside: tuple[SetAside, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    evidence_at: datetime | None = None
    contradictions: tuple[Contradiction, ...] = ()
    then: Then | None = None
    withheld: tuple[Skip, ...] = ()


def _verified(incident: Incident) -> bool:
    return any(a.status is VerificationStatus.VERIFIED for a in incident.attempts)


def _fixed_by(incident: Incident) -> str | None:
    """Who made the last attempt that a person saw work."""
    makers = [a.by for a in incident.attempts if a.status is VerificationStatus.VERIFIED and a.by]
    return makers[-1] if makers else None


def source_line(precedent: Precedent) -> SourceLine:
    """A precedent as it is listed, with a link: to where it was worked on, else to the alert that announced it."""
    incident = precedent.incident
    links = (incident.source.url, *(a.url for a in incident.alerts))
    return SourceLine(
        incident_id=incident.incident_id,
        title=one_line(incident.title, TITLE_LIMIT),
        boundary=incident.boundary,
        tier=precedent.tier.value,
        probability=precedent.probability,
        date=incident.happened_at,
        why=tuple(one_line(reason, CHECK_LIMIT) for reason in precedent.why),
        url=next((link for link in links if link), None),
        fixed_by=_fixed_by(incident),
    )


def _root_cause(strong: Sequence[Precedent]) -> RootCause | None:
    """The cause of the best precedent with a fix seen to work; else of the best that states one, not verified."""
    stated = [p.incident for p in strong if p.incident.root_cause]
    best = next((i for i in stated if _verified(i)), stated[0] if stated else None)
    if best is None or best.root_cause is None:
        return None
    return RootCause(cut(best.root_cause.strip(), CAUSE_LIMIT), _verified(best), best.incident_id)


def _apart(alert: Alert, precedent: Precedent) -> tuple[str, str]:
    """What keeps the nearest record from counting: in a few words, and in full with its title and the values."""
    nearest, title = precedent.incident.incident_id, one_line(precedent.incident.title, 60)
    if not precedent.differs:
        return f"nearest {nearest} is alike only in part", f"{nearest} ({title}) is alike only in part"
    now = {"vendor": alert.vendor, "service": alert.service, "environment": alert.environment, "region": alert.region}
    fields = [(field, one_line(then, 30), now[field]) for field, then in precedent.differs]
    told = (f"{field} ({then}{f', now {one_line(value, 30)}' if value else ''})" for field, then, value in fields)
    names = ", ".join(field for field, _ in precedent.differs)
    return f"nearest {nearest} differs in {names}", f"{nearest} ({title}) differs in {', '.join(told)}"


def _runbook(alert: Alert) -> str | None:
    """The runbook that the alert itself links, else its dashboard."""
    links = {key.casefold(): url for key, url in sorted(alert.links.items())}
    return next((url for word in ("runbook", "playbook", "dashboard") for k, url in links.items() if word in k), None)


def _insufficient(alert: Alert, recalled: Recalled) -> InsufficientMemory:
    """Why memory cannot answer: unreachable, empty, or nothing near enough; and what to collect meanwhile."""
    possible = recalled.possible
    nearest: str | None = None
    unreachable = next((m for m in recalled.missing if m.what == MEMORY), None)
    if possible:
        reason, nearest = _apart(alert, possible[0])
    elif recalled.known:
        reason = f"nothing close among {counted(recalled.known, 'past incident')}"
    elif unreachable:
        reason = f"memory unreachable ({one_line(unreachable.reason, 80)})"
    else:
        reason = "nothing in memory yet"
    return InsufficientMemory(reason, nearest, collect_list(alert), _runbook(alert))


def _without_memory(alert: Alert) -> InsufficientMemory:
    return InsufficientMemory("memory is off for this brief", None, collect_list(alert), _runbook(alert))


def _shown_fix(found: Recommendation) -> Recommendation:
    fix, explanation = cut(found.fix.strip(), FIX_LIMIT), cut(found.explanation, EXPLANATION_LIMIT)
    return replace(found, fix=fix, explanation=explanation)


def _shown_runbook(found: RunbookRecord) -> RunbookRecord:
    return replace(found, title=one_line(found.title, TITLE_LIMIT), record=one_line(found.record, CHECK_LIMIT))


def _with_fixes(brief: Brief, fixes: FixRecord, strong: Sequence[Precedent]) -> Brief:
    """The brief with the recommended fix, its steps verbatim, what to beware of in them, and the other fixes."""
    best = fixes.recommendation
    steps = split_steps(best.fix)[:STEPS_LIMIT] if best else ()
    past = next((p.incident for p in strong if best and p.incident.incident_id == best.incidents[0]), None)
    failed = (replace(d, fix=one_line(d.fix, CHECK_LIMIT)) for d in fixes.did_not_work[:LISTED_LIMIT])
    warnings = [*_of_the_other_side(brief.boundary, best), *step_warnings(steps, past, brief.alert)]
    return replace(
        brief,
        steps=tuple(cut(step, STEP_LIMIT) for step in steps),
        step_warnings=tuple(one_line(w, CHECK_LIMIT) for w in warnings[:LISTED_LIMIT]),
        recommendation=_shown_fix(best) if best else None,
        alternatives=tuple(_shown_fix(a) for a in fixes.alternatives[:LISTED_LIMIT]),
        did_not_work=tuple(failed),
        runbooks=tuple(_shown_runbook(r) for r in runbook_records(fixes, strong)[:LISTED_LIMIT]),
    )


def _of_the_other_side(call: BoundaryCall, best: Recommendation | None) -> list[str]:
    """That the fix only ever worked where the fault lay elsewhere than memory says it lies now."""
    if best is None or not contradicts(call, best.worked_in):
        return []
    return [f"worked in {'/'.join(best.worked_in)} cases only; memory says {call.value.value} for this alert"]


def _remember(
    brief: Brief, strong: Sequence[Precedent], possible: Sequence[Precedent], now: datetime, filed: Filed
) -> Brief:
    """The brief with everything that the strong precedents say (best first; not empty)."""
    skip, later = checks(strong, possible)
    call = call_boundary(strong, brief.alert)
    side = [p.incident.incident_id for p in strong if call.like and p.incident.boundary is call.value]
    told = _with_fixes(replace(brief, boundary=call), fix_record(strong, now, side=side, filed=filed), strong)
    return replace(
        told,
        root_cause=_root_cause([p for p in strong if p.incident.incident_id in side] or strong) or _root_cause(strong),
        skip=tuple(replace(s, check=one_line(s.check, CHECK_LIMIT)) for s in skip),
        later=tuple(replace(x, check=one_line(x.check, CHECK_LIMIT)) for x in later),
        outages=len(set(outage_of(p.incident for p in strong).values())),
        then=then_of(strong),
    )


def _verdict(brief: Brief) -> str:
    return verdict(
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
    brief = _from_memory(alert, recalled, now, incident, history, memory_mode)
    return with_evidence(brief, evidence, evidence_at or now)


def _from_memory(
    alert: Alert,
    recalled: Recalled,
    now: datetime,
    incident: IncidentView | None,
    history: AlertHistory | None,
    memory_mode: str,
) -> Brief:
    """What memory alone says; the verdict is still open."""
    if memory_mode == "off":
        return Brief("", alert, incident, memory_mode, _without_memory(alert), now=now)
    precedents = sorted(recalled.precedents, key=place)
    strong = [p for p in precedents if p.tier is Tier.STRONG]
    possible = [p for p in precedents if p.tier is Tier.POSSIBLE]
    brief = Brief("", alert, incident, memory_mode, history=history, missing=recalled.missing, now=now)
    ordered = replace(recalled, precedents=tuple(precedents))
    brief = (
        _remember(brief, strong, possible, now, recalled.filed)
        if strong
        else replace(brief, insufficient_memory=_insufficient(alert, ordered))
    )
    return replace(
        brief,
        sources=tuple(source_line(p) for p in strong),
        possible=tuple(source_line(p) for p in possible[:LISTED_LIMIT]),
        set_aside=recalled.set_aside[:LISTED_LIMIT],
    )


def with_evidence(brief: Brief, evidence: Sequence[Evidence], at: datetime | None) -> Brief:
    """The same brief with what sources showed at `at`: what contradicts memory leads the verdict, and while it stands
    nothing is to be skipped. What memory says stays as it is."""
    skip = brief.skip or brief.withheld
    remembered = Remembered(
        brief.boundary,
        brief.root_cause.text if brief.root_cause else None,
        brief.recommendation.fix if brief.recommendation else None,
        skip,
    )
    fires = brief.incident is None or brief.incident.state == "open"
    found = contradictions(remembered, evidence, brief.now, fires=fires) if brief.now else ()
    shown = replace(
        brief,
        evidence=in_order(evidence),
        evidence_at=at if evidence else None,
        contradictions=found,
        skip=() if found else skip,
        withheld=skip if found else (),
    )
    return replace(shown, verdict=_verdict(shown))


def with_life(brief: Brief, incident: IncidentView) -> Brief:
    """The same brief for an incident that went on: its state and the verdict change, its steps never do."""
    moved = replace(brief, incident=incident)
    return replace(moved, verdict=_verdict(moved))


def same_advice(one: Brief, other: Brief) -> bool:
    """Whether two briefs recommend the same: if not, the newer one is a new reply, not an edit."""
    first, second = one.recommendation, other.recommendation
    if first is None or second is None:
        return first is second
    return fix_form(first.fix) == fix_form(second.fix) and first.confidence is second.confidence


def spoke_of_strong(aside: SetAside, brief: Brief) -> bool:
    """Whether the precedent that was set aside is one that the brief counted, as far as the brief still tells: below a
    strong one's least place among the possible it was possible by itself."""
    line = next((p for p in brief.possible if p.incident_id == aside.incident_id), None)
    return line is None or line.probability >= gated(STRONG_FROM)
