"""Answer people's questions in an incident's thread from its brief, its record and its attempts, without a model.

Evidence and memory stay in separate sentences; whatever is said about the past names its incidents. No answer
repeats the question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from bot.domain.assistant.current_answers import (
    MOST_ITEMS,
    SHORT,
    AnswerContext,
    answer_changed,
    answer_now,
    answer_tried,
    draft_status_update,
    explain_over,
    limit_items,
)
from bot.domain.assistant.intents import Intent, Reply
from bot.domain.assistant.thread_attempts import describe_observation
from bot.domain.brief.decide import Brief, SourceLine
from bot.domain.brief.recommendation import Recommendation
from bot.domain.evidence.items import EvidenceKind, select_observed
from bot.domain.fixes.identity import build_fix_key
from bot.domain.fixes.steps import split_steps
from bot.domain.incidents.record import Boundary, VerificationStatus
from bot.domain.text.format import fit_one_line, format_count, join_names

MOST_CITED = 8
CAN = (
    "what to do next, what to skip, what fixed it last time and who, the cause, whether it is us or the vendor, how sure that is, "
    "what changed, what did not work, what was tried, which incidents say so, and draft a status update"
)


def answer(intent: Intent, known: AnswerContext) -> Reply:
    """Answer a question from the record; for anything else, say what can be asked."""
    return ANSWERS.get(intent, _answer_unknown)(known)


def explain_missing_memory(brief: Brief) -> str | None:
    """Return why memory has nothing to say, as a sentence; None if it does have something."""
    if brief.memory_mode == "off":
        return "Memory is off for this brief, so I can say nothing about the past."
    if brief.sources:
        return None
    why = brief.insufficient_memory
    return f"INSUFFICIENT_MEMORY: {fit_one_line(why.reason, SHORT) if why else 'nothing counts here'}."


def _format_source(line: SourceLine) -> str:
    return f"{line.incident_id} ({line.date:%Y-%m-%d})" if line.date else f"{line.incident_id} (no date)"


def _choose_cited(ids: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ids))[:MOST_CITED]


def _list_contradictions(brief: Brief) -> tuple[str, ...]:
    first = brief.contradictions[:1]
    named = f" ({join_names((s.incident_id for s in brief.sources), 3)})" if brief.sources else ""
    return tuple(part for c in first for part in (f"Now: {c.now}.", f"Memory{named} says instead: {c.memory}."))


def _answer_next(known: AnswerContext) -> Reply:
    brief, over = known.brief, explain_over(known.brief)
    lead = tuple(filter(None, (over, *_list_contradictions(brief))))
    failed = {build_fix_key(t.fix) for t in known.tried if t.status is VerificationStatus.FAILED}
    best = brief.recommendation
    rated = [r for r in ((best,) if best else ()) + brief.alternatives if r.successes or r is best]
    usable = [r for r in rated if build_fix_key(r.fix) not in failed]
    given_up = tuple(
        f"“{fit_one_line(r.fix, SHORT)}” was tried in this incident and did not work, by its record or this thread."
        for r in rated[:1]
        if r not in usable
    )
    if usable:
        steps = brief.steps if usable[0] is best else split_steps(usable[0].fix)
        warned = tuple(f"Beware: {warning}." for warning in brief.step_warnings[:2]) if usable[0] is best else ()
        return Reply(
            (*lead, *given_up, _format_record(usable[0]), *warned),
            steps[:MOST_ITEMS],
            cites=_choose_cited(usable[0].incidents),
            numbered=True,
            more=max(0, len(steps) - MOST_ITEMS),
        )
    missing = explain_missing_memory(brief)
    if missing is None:
        missing = f"Nothing else in memory is known to have worked in {_join_ids(brief.sources)}."
    collect = brief.insufficient_memory.collect if brief.insufficient_memory else ()
    sentence = (*lead, *given_up, missing, *(("Collect this meanwhile:",) if collect else ()))
    return Reply(sentence, collect[:MOST_ITEMS], cites=_choose_cited([s.incident_id for s in brief.sources]))


def _format_record(rated: Recommendation) -> str:
    return f"Memory, confidence {rated.confidence.value}: {rated.explanation.rstrip('.')}."


def _join_ids(lines: Sequence[SourceLine]) -> str:
    return join_names((line.incident_id for line in lines), MOST_CITED)


def _answer_skip(known: AnswerContext) -> Reply:
    brief = known.brief
    if brief.contradictions and brief.withheld:
        names = join_names((f"“{fit_one_line(s.check, SHORT)}”" for s in brief.withheld), 3)
        cites = _choose_cited([i for s in brief.withheld for i in s.incidents])
        sentence = f"Skip nothing while that stands; memory would have skipped {names} ({join_names(cites)})."
        return Reply((*_list_contradictions(brief), sentence), cites=cites)
    later = tuple(
        f"Later, not never: {fit_one_line(x.check, SHORT)}: {x.reason} ({join_names(x.incidents, 3)})"
        for x in brief.later
    )
    checks = tuple(
        f"{fit_one_line(s.check, SHORT)}: not the cause in {s.count} of {s.of}{_format_minutes(s.minutes_range)} ({join_names(s.incidents, 3)})"
        for s in brief.skip
    )
    cites = _choose_cited(
        [*(i for s in brief.skip for i in s.incidents), *(i for x in brief.later for i in x.incidents)]
    )
    if checks:
        return Reply(("Memory says these checks were not the cause:",), limit_items((*checks, *later)), cites=cites)
    if later:
        return Reply(("Memory knows no check to skip.",), limit_items(later), cites=cites)
    missing = explain_missing_memory(brief) or f"No wasted check is recorded in {_join_ids(brief.sources)}."
    return Reply(
        (missing, "I can call nothing safe to skip."), cites=_choose_cited([s.incident_id for s in brief.sources])
    )


def _format_minutes(cost: tuple[float, float] | None) -> str:
    if cost is None:
        return ""
    low, high = cost
    return f", {low:g} min then" if low == high else f", {low:g}–{high:g} min then"


def _answer_fixed(known: AnswerContext) -> Reply:
    brief, best = known.brief, known.brief.recommendation
    missing = explain_missing_memory(brief)
    if missing:
        return Reply((missing,))
    if best is None or not best.resolved:
        sentence = f"No fix in {_join_ids(brief.sources)} is recorded as seen to work."
        return Reply((sentence, *_list_failures(brief)), cites=_choose_cited([s.incident_id for s in brief.sources]))
    fixers = [s for s in brief.sources if s.incident_id in best.resolved]
    who = tuple(f"{_format_source(s)}: {_find_name(s, known)}" for s in fixers[:MOST_ITEMS])
    last = f", last on {best.last_worked:%Y-%m-%d}" if best.last_worked else ""
    sentence = f"“{fit_one_line('; '.join(split_steps(best.fix)), 300)}” worked in {best.successes} of {format_count(best.outages, 'similar outage')}{last} ({join_names(best.resolved)})."
    return Reply((sentence, "By whom:"), who, cites=_choose_cited(best.resolved))


def _find_name(line: SourceLine, known: AnswerContext) -> str:
    """Return the name of the person who fixed it. An unknown id is not shown: in a message it would notify them."""
    by = (line.fixed_by or "").strip()
    if not by:
        return "not recorded by whom"
    is_id = by[:1] in "UW" and by.isupper() and by.isalnum() and any(c.isdigit() for c in by)
    return fit_one_line(known.names.get(by, "somebody whose name Slack does not tell" if is_id else by), 60)


def _list_failures(brief: Brief) -> tuple[str, ...]:
    return tuple(
        f"“{fit_one_line(d.fix, SHORT)}” did not work ({format_count(d.failures, 'failure')}: {join_names(d.incidents, 3)})."
        for d in brief.did_not_work[:2]
    )


def _answer_failed(known: AnswerContext) -> Reply:
    brief = known.brief
    here = [t for t in known.tried if t.status is VerificationStatus.FAILED]
    now = tuple(f"{fit_one_line(t.fix, SHORT)}: did not work in this incident" for t in here)
    then = tuple(
        f"{fit_one_line(d.fix, SHORT)}: failed in {format_count(d.failures, 'outage')} ({join_names(d.incidents, 3)})"
        for d in brief.did_not_work
    )
    if then:
        return Reply(
            ("Do not repeat these:",),
            limit_items((*now, *then)),
            cites=_choose_cited([i for d in brief.did_not_work for i in d.incidents]),
        )
    sentence = explain_missing_memory(brief) or f"No failed fix is recorded in {_join_ids(brief.sources)}."
    here_too = "In this incident:" if now else "Nothing is known to have failed in this incident."
    return Reply((sentence, here_too), limit_items(now), cites=_choose_cited([s.incident_id for s in brief.sources]))


def _answer_cause(known: AnswerContext) -> Reply:
    brief, own = known.brief, known.record.root_cause if known.record else None
    here = (
        f"Recorded for this incident: {fit_one_line(own, 300).rstrip('.')}."
        if own
        else "Nobody has recorded a cause of this incident yet."
    )
    then = brief.root_cause
    if then is None:
        missing = explain_missing_memory(brief) or f"No cause is recorded in {_join_ids(brief.sources)}."
        return Reply((here, missing), cites=_choose_cited([s.incident_id for s in brief.sources]))
    sure = "with a fix seen to work" if then.verified else "as reported, not verified"
    return Reply(
        (
            here,
            f"Memory says of {then.incident_id}, {sure}: {fit_one_line(then.text, 400)}",
            *_list_contradictions(brief),
        ),
        cites=(then.incident_id,),
    )


def _answer_sure(known: AnswerContext) -> Reply:
    brief, best = known.brief, known.brief.recommendation
    missing = explain_missing_memory(brief)
    if missing:
        nearest = brief.insufficient_memory.nearest if brief.insufficient_memory else None
        return Reply((missing, *((f"Nearest: {fit_one_line(nearest, 300)}.",) if nearest else ())))
    why = tuple(
        f"{_format_source(s)}, {s.probability:.0%}: {'; '.join(s.why[:3]) or 'by its wording'}"
        for s in brief.sources[:3]
    )
    rated = _format_record(best) if best else f"No fix in {_join_ids(brief.sources)} is known to have worked."
    return Reply(
        (rated, *_list_contradictions(brief), "Why these incidents count:"),
        why,
        cites=_choose_cited([s.incident_id for s in brief.sources]),
    )


def _answer_before(known: AnswerContext) -> Reply:
    brief, past = known.brief, known.brief.history
    fired = (
        f"This alert fired {past.times}× in {past.days} days before now, {past.unrecorded} of them cleared with no recorded fix."
        if past and past.times and brief.memory_mode == "on"
        else ""
    )
    missing = explain_missing_memory(brief)
    if missing:
        return Reply(tuple(filter(None, (missing, fired))))
    sentence = f"Yes: {format_count(brief.outages, 'similar outage')} in memory ({_join_ids(brief.sources)})."
    lines = tuple(f"{_format_source(s)}: {fit_one_line(s.title, SHORT)}" for s in brief.sources)
    return Reply(
        tuple(filter(None, (sentence, fired))),
        limit_items(lines),
        cites=_choose_cited([s.incident_id for s in brief.sources]),
    )


def _answer_side(known: AnswerContext) -> Reply:
    brief, call = known.brief, known.brief.boundary
    pages = [
        describe_observation(i, brief) for i in select_observed(brief.evidence) if i.kind is EvidenceKind.VENDOR_STATUS
    ]
    now = (
        tuple(f"Now: {fit_one_line(page, 200)}." for page in pages[:1])
        if not brief.contradictions
        else _list_contradictions(brief)
    )
    if call.value is Boundary.UNKNOWN:
        return Reply(
            (
                *now,
                explain_missing_memory(brief)
                or f"Memory does not say on which side the fault lay in {_join_ids(brief.sources)}.",
                "I cannot tell which it is.",
            )
        )
    side = {Boundary.VENDOR: "the vendor", Boundary.INTERNAL: "us", Boundary.MIXED: "both"}[call.value]
    total = sum(call.votes.values())
    votes = f" in {call.votes.get(call.value.value, 0)} of {format_count(total, 'outage')}" if total else ""
    apart = (f"What told the cases apart: {fit_one_line(call.told_apart_by, 200)}.",) if call.told_apart_by else ()
    here = (f"{call.this_alert[:1].upper()}{fit_one_line(call.this_alert[1:], 200)}.",) if call.this_alert else ()
    sentence = f"Memory says {side}{votes} ({_join_ids(brief.sources)})."
    return Reply((*now, sentence, *apart, *here), cites=_choose_cited([s.incident_id for s in brief.sources]))


def _answer_sources(known: AnswerContext) -> Reply:
    brief = known.brief
    lines = tuple(f"{_format_source(s)}: {fit_one_line(s.title, SHORT)}" for s in brief.sources)
    near = (f"Possibly related, not counted: {_join_ids(brief.possible)}.",) if brief.possible else ()
    cites = _choose_cited([s.incident_id for s in (*brief.sources, *brief.possible)])
    if not lines:
        return Reply((explain_missing_memory(brief) or "", *near), cites=cites)
    return Reply(
        (*near, f"The brief rests on {format_count(len(lines), 'past incident')}:"), limit_items(lines), cites=cites
    )


def _answer_record(_known: AnswerContext) -> Reply:
    return Reply(
        (
            "I record nothing from what is said here: press “This fixed it” or “Record…” under the brief, and the next alert knows.",
        )
    )


def _answer_do(_known: AnswerContext) -> Reply:
    return Reply(
        ("I change nothing and call nobody: that is for you. Ask me “what now?” for the steps that memory knows.",)
    )


def _answer_help(_known: AnswerContext) -> Reply:
    return Reply((f"In this thread I answer {CAN}.",))


def _answer_unknown(_known: AnswerContext) -> Reply:
    return Reply(("The record does not answer that.", f"I can tell {CAN}.", "Which of these do you want?"), asks=True)


ANSWERS: Mapping[Intent, Callable[[AnswerContext], Reply]] = {
    Intent.NEXT: _answer_next,
    Intent.SKIP: _answer_skip,
    Intent.FIXED: _answer_fixed,
    Intent.FAILED: _answer_failed,
    Intent.CAUSE: _answer_cause,
    Intent.SURE: _answer_sure,
    Intent.BEFORE: _answer_before,
    Intent.SIDE: _answer_side,
    Intent.CHANGED: answer_changed,
    Intent.SOURCES: _answer_sources,
    Intent.TRIED: answer_tried,
    Intent.SEEN: answer_now,
    Intent.STATUS: draft_status_update,
    Intent.RECORD: _answer_record,
    Intent.DO: _answer_do,
    Intent.HELP: _answer_help,
}
