"""Answers to what people ask in an incident's thread, from its brief, its record and what was tried: no model, no guess.

What is seen now and what memory says are sentences of their own; whatever is said of the past names its incidents. Must not
hold a word of the question, or say anything that neither brief nor record says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from bot.domain.assistant.current_answers import (
    MOST_ITEMS,
    SHORT,
    Known,
    changed,
    is_over,
    seen_now,
    some,
    status_update,
    tried,
)
from bot.domain.assistant.intents import Intent, Reply
from bot.domain.assistant.thread_attempts import seen
from bot.domain.brief.decide import Brief, SourceLine
from bot.domain.brief.recommendation import Recommendation
from bot.domain.evidence.items import EvidenceKind, observed
from bot.domain.fixes.identity import fix_key
from bot.domain.fixes.steps import split_steps
from bot.domain.incidents.record import Boundary, VerificationStatus
from bot.domain.text.names import counted, listed, one_line

MOST_CITED = 8
CAN = (
    "what to do next, what to skip, what fixed it last time and who, the cause, whether it is us or the vendor, how sure that is, "
    "what changed, what did not work, what was tried, which incidents say so, and draft a status update"
)


def answer(intent: Intent, known: Known) -> Reply:
    """The answer to a question that the record answers; for any other what can be asked."""
    return ANSWERS.get(intent, _unknown)(known)


def no_memory(brief: Brief) -> str | None:
    """Why memory says nothing, as a sentence; None where it speaks."""
    if brief.memory_mode == "off":
        return "Memory is off for this brief, so I can say nothing about the past."
    if brief.sources:
        return None
    why = brief.insufficient_memory
    return f"INSUFFICIENT_MEMORY: {one_line(why.reason, SHORT) if why else 'nothing counts here'}."


def _dated(line: SourceLine) -> str:
    return f"{line.incident_id} ({line.date:%Y-%m-%d})" if line.date else f"{line.incident_id} (no date)"


def _cites(ids: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ids))[:MOST_CITED]


def _contradictions(brief: Brief) -> tuple[str, ...]:
    first = brief.contradictions[:1]
    named = f" ({listed((s.incident_id for s in brief.sources), 3)})" if brief.sources else ""
    return tuple(part for c in first for part in (f"Now: {c.now}.", f"Memory{named} says instead: {c.memory}."))


def _next(known: Known) -> Reply:
    brief, over = known.brief, is_over(known.brief)
    lead = tuple(filter(None, (over, *_contradictions(brief))))
    failed = {fix_key(t.fix) for t in known.tried if t.status is VerificationStatus.FAILED}
    best = brief.recommendation
    rated = [r for r in ((best,) if best else ()) + brief.alternatives if r.successes or r is best]
    usable = [r for r in rated if fix_key(r.fix) not in failed]
    given_up = tuple(
        f"“{one_line(r.fix, SHORT)}” was tried in this incident and did not work, by its record or this thread."
        for r in rated[:1]
        if r not in usable
    )
    if usable:
        steps = brief.steps if usable[0] is best else split_steps(usable[0].fix)
        warned = tuple(f"Beware: {warning}." for warning in brief.step_warnings[:2]) if usable[0] is best else ()
        return Reply(
            (*lead, *given_up, _rated(usable[0]), *warned),
            steps[:MOST_ITEMS],
            cites=_cites(usable[0].incidents),
            numbered=True,
            more=max(0, len(steps) - MOST_ITEMS),
        )
    missing = no_memory(brief)
    if missing is None:
        missing = f"Nothing else in memory is known to have worked in {_ids(brief.sources)}."
    collect = brief.insufficient_memory.collect if brief.insufficient_memory else ()
    said = (*lead, *given_up, missing, *(("Collect this meanwhile:",) if collect else ()))
    return Reply(said, collect[:MOST_ITEMS], cites=_cites([s.incident_id for s in brief.sources]))


def _rated(rated: Recommendation) -> str:
    return f"Memory, confidence {rated.confidence.value}: {rated.explanation.rstrip('.')}."


def _ids(lines: Sequence[SourceLine]) -> str:
    return listed((line.incident_id for line in lines), MOST_CITED)


def _skip(known: Known) -> Reply:
    brief = known.brief
    if brief.contradictions and brief.withheld:
        names = listed((f"“{one_line(s.check, SHORT)}”" for s in brief.withheld), 3)
        cites = _cites([i for s in brief.withheld for i in s.incidents])
        said = f"Skip nothing while that stands; memory would have skipped {names} ({listed(cites)})."
        return Reply((*_contradictions(brief), said), cites=cites)
    later = tuple(
        f"Later, not never: {one_line(x.check, SHORT)}: {x.reason} ({listed(x.incidents, 3)})" for x in brief.later
    )
    checks = tuple(
        f"{one_line(s.check, SHORT)}: not the cause in {s.count} of {s.of}{_minutes(s.minutes_range)} ({listed(s.incidents, 3)})"
        for s in brief.skip
    )
    cites = _cites([*(i for s in brief.skip for i in s.incidents), *(i for x in brief.later for i in x.incidents)])
    if checks:
        return Reply(("Memory says these checks were not the cause:",), some((*checks, *later)), cites=cites)
    if later:
        return Reply(("Memory knows no check to skip.",), some(later), cites=cites)
    missing = no_memory(brief) or f"No wasted check is recorded in {_ids(brief.sources)}."
    return Reply((missing, "I can call nothing safe to skip."), cites=_cites([s.incident_id for s in brief.sources]))


def _minutes(cost: tuple[float, float] | None) -> str:
    if cost is None:
        return ""
    low, high = cost
    return f", {low:g} min then" if low == high else f", {low:g}–{high:g} min then"


def _fixed(known: Known) -> Reply:
    brief, best = known.brief, known.brief.recommendation
    missing = no_memory(brief)
    if missing:
        return Reply((missing,))
    if best is None or not best.resolved:
        said = f"No fix in {_ids(brief.sources)} is recorded as seen to work."
        return Reply((said, *_failures(brief)), cites=_cites([s.incident_id for s in brief.sources]))
    fixers = [s for s in brief.sources if s.incident_id in best.resolved]
    who = tuple(f"{_dated(s)}: {_name(s, known)}" for s in fixers[:MOST_ITEMS])
    last = f", last on {best.last_worked:%Y-%m-%d}" if best.last_worked else ""
    said = f"“{one_line('; '.join(split_steps(best.fix)), 300)}” worked in {best.successes} of {counted(best.outages, 'similar outage')}{last} ({listed(best.resolved)})."
    return Reply((said, "By whom:"), who, cites=_cites(best.resolved))


def _name(line: SourceLine, known: Known) -> str:
    """Who fixed it, by name; an id that nobody can put a name to is not shown, for in a message it would call them."""
    by = (line.fixed_by or "").strip()
    if not by:
        return "not recorded by whom"
    is_id = by[:1] in "UW" and by.isupper() and by.isalnum() and any(c.isdigit() for c in by)
    return one_line(known.names.get(by, "somebody whose name Slack does not tell" if is_id else by), 60)


def _failures(brief: Brief) -> tuple[str, ...]:
    return tuple(
        f"“{one_line(d.fix, SHORT)}” did not work ({counted(d.failures, 'failure')}: {listed(d.incidents, 3)})."
        for d in brief.did_not_work[:2]
    )


def _failed(known: Known) -> Reply:
    brief = known.brief
    here = [t for t in known.tried if t.status is VerificationStatus.FAILED]
    now = tuple(f"{one_line(t.fix, SHORT)}: did not work in this incident" for t in here)
    then = tuple(
        f"{one_line(d.fix, SHORT)}: failed in {counted(d.failures, 'outage')} ({listed(d.incidents, 3)})"
        for d in brief.did_not_work
    )
    if then:
        return Reply(
            ("Do not repeat these:",),
            some((*now, *then)),
            cites=_cites([i for d in brief.did_not_work for i in d.incidents]),
        )
    said = no_memory(brief) or f"No failed fix is recorded in {_ids(brief.sources)}."
    here_too = "In this incident:" if now else "Nothing is known to have failed in this incident."
    return Reply((said, here_too), some(now), cites=_cites([s.incident_id for s in brief.sources]))


def _cause(known: Known) -> Reply:
    brief, own = known.brief, known.record.root_cause if known.record else None
    here = (
        f"Recorded for this incident: {one_line(own, 300).rstrip('.')}."
        if own
        else "Nobody has recorded a cause of this incident yet."
    )
    then = brief.root_cause
    if then is None:
        missing = no_memory(brief) or f"No cause is recorded in {_ids(brief.sources)}."
        return Reply((here, missing), cites=_cites([s.incident_id for s in brief.sources]))
    sure = "with a fix seen to work" if then.verified else "as reported, not verified"
    return Reply(
        (here, f"Memory says of {then.incident_id}, {sure}: {one_line(then.text, 400)}", *_contradictions(brief)),
        cites=(then.incident_id,),
    )


def _sure(known: Known) -> Reply:
    brief, best = known.brief, known.brief.recommendation
    missing = no_memory(brief)
    if missing:
        nearest = brief.insufficient_memory.nearest if brief.insufficient_memory else None
        return Reply((missing, *((f"Nearest: {one_line(nearest, 300)}.",) if nearest else ())))
    why = tuple(
        f"{_dated(s)}, {s.probability:.0%}: {'; '.join(s.why[:3]) or 'by its wording'}" for s in brief.sources[:3]
    )
    rated = _rated(best) if best else f"No fix in {_ids(brief.sources)} is known to have worked."
    return Reply(
        (rated, *_contradictions(brief), "Why these incidents count:"),
        why,
        cites=_cites([s.incident_id for s in brief.sources]),
    )


def _before(known: Known) -> Reply:
    brief, past = known.brief, known.brief.history
    fired = (
        f"This alert fired {past.times}× in {past.days} days before now, {past.unrecorded} of them cleared with no recorded fix."
        if past and past.times and brief.memory_mode == "on"
        else ""
    )
    missing = no_memory(brief)
    if missing:
        return Reply(tuple(filter(None, (missing, fired))))
    said = f"Yes: {counted(brief.outages, 'similar outage')} in memory ({_ids(brief.sources)})."
    lines = tuple(f"{_dated(s)}: {one_line(s.title, SHORT)}" for s in brief.sources)
    return Reply(tuple(filter(None, (said, fired))), some(lines), cites=_cites([s.incident_id for s in brief.sources]))


def _side(known: Known) -> Reply:
    brief, call = known.brief, known.brief.boundary
    pages = [seen(i, brief) for i in observed(brief.evidence) if i.kind is EvidenceKind.VENDOR_STATUS]
    now = (
        tuple(f"Now: {one_line(page, 200)}." for page in pages[:1])
        if not brief.contradictions
        else _contradictions(brief)
    )
    if call.value is Boundary.UNKNOWN:
        return Reply(
            (
                *now,
                no_memory(brief) or f"Memory does not say on which side the fault lay in {_ids(brief.sources)}.",
                "I cannot tell which it is.",
            )
        )
    side = {Boundary.VENDOR: "the vendor", Boundary.INTERNAL: "us", Boundary.MIXED: "both"}[call.value]
    total = sum(call.votes.values())
    votes = f" in {call.votes.get(call.value.value, 0)} of {counted(total, 'outage')}" if total else ""
    apart = (f"What told the cases apart: {one_line(call.told_apart_by, 200)}.",) if call.told_apart_by else ()
    here = (f"{call.this_alert[:1].upper()}{one_line(call.this_alert[1:], 200)}.",) if call.this_alert else ()
    said = f"Memory says {side}{votes} ({_ids(brief.sources)})."
    return Reply((*now, said, *apart, *here), cites=_cites([s.incident_id for s in brief.sources]))


def _sources(known: Known) -> Reply:
    brief = known.brief
    lines = tuple(f"{_dated(s)}: {one_line(s.title, SHORT)}" for s in brief.sources)
    near = (f"Possibly related, not counted: {_ids(brief.possible)}.",) if brief.possible else ()
    cites = _cites([s.incident_id for s in (*brief.sources, *brief.possible)])
    if not lines:
        return Reply((no_memory(brief) or "", *near), cites=cites)
    return Reply((*near, f"The brief rests on {counted(len(lines), 'past incident')}:"), some(lines), cites=cites)


def _record(_known: Known) -> Reply:
    return Reply(
        (
            "I record nothing from what is said here: press “This fixed it” or “Record…” under the brief, and the next alert knows.",
        )
    )


def _do(_known: Known) -> Reply:
    return Reply(
        ("I change nothing and call nobody: that is for you. Ask me “what now?” for the steps that memory knows.",)
    )


def _help(_known: Known) -> Reply:
    return Reply((f"In this thread I answer {CAN}.",))


def _unknown(_known: Known) -> Reply:
    return Reply(("The record does not answer that.", f"I can tell {CAN}.", "Which of these do you want?"), asks=True)


ANSWERS: Mapping[Intent, Callable[[Known], Reply]] = {
    Intent.NEXT: _next,
    Intent.SKIP: _skip,
    Intent.FIXED: _fixed,
    Intent.FAILED: _failed,
    Intent.CAUSE: _cause,
    Intent.SURE: _sure,
    Intent.BEFORE: _before,
    Intent.SIDE: _side,
    Intent.CHANGED: changed,
    Intent.SOURCES: _sources,
    Intent.TRIED: tried,
    Intent.SEEN: seen_now,
    Intent.STATUS: status_update,
    Intent.RECORD: _record,
    Intent.DO: _do,
    Intent.HELP: _help,
}
