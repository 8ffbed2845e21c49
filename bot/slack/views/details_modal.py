"""Everything behind a brief as a modal: all steps, rivals, checks and sources with their reasons; and two briefs side by
side. Pure. Must not say anything that the brief does not say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bot.domain.brief.decide import Brief, SourceLine
from bot.domain.brief.recommendation import Recommendation
from bot.domain.brief.timings import TraceStep
from bot.domain.fixes.grouping import FixPair
from bot.domain.recall.ranking import OutsideMemory
from bot.slack import ids
from bot.slack.views.brief.evidence import now_lines, then_lines, withheld
from bot.slack.views.brief.sections import MAX_ID, Blocks, boundary_line, check_minutes, ids_of, joined, record_of
from bot.slack.views.brief.sections import verdict as verdict_of
from bot.slack.views.correction_modals import closing
from bot.slack.views.forms import View, button
from bot.slack.views.markup import Block, actions, context, day, link, plain, prose, second, section, verbatim
from bot.slack.views.same_fix import same_fix_blocks
from bot.slack.views.wrong_precedent_modal import aside_text
from bot.workflows.recall.details import Details

# Slack takes 100 blocks, and 3,000 characters in each.
MOST_BLOCKS = 95
MOST_TEXT = 2900
MOST_CAUSE = 1200
ANEW = "Computed anew: something that the posted brief rested on is gone, or not for your eyes."
LOADING = "Looking it up…"


def loading_view(title: str, said: str = LOADING) -> View:
    """What is there at once, for a modal must be opened within three seconds."""
    return closing(title, [section(said)])


def details_view(details: Details, pairs: Sequence[FixPair] = (), where: Mapping[str, Any] | None = None) -> View:
    """All of a brief; `pairs` of fixes that this person may say something of, `where` they do (incident and channel)."""
    brief = details.brief
    blocks: list[Block] = [verbatim(verdict_of(brief))]
    blocks += [context(ANEW)] if details.anew else []
    blocks += [section(f"*{prose(m.what, 20)} is missing*: {prose(m.reason, 300)}") for m in brief.missing]
    blocks += _listed("NOW", now_lines(brief))
    if brief.insufficient_memory:
        why = brief.insufficient_memory
        blocks.append(section(f"*INSUFFICIENT_MEMORY* {prose(why.nearest or why.reason, 600)}"))
    blocks += _cause(brief)
    blocks += _listed(f"THEN ({prose(brief.then.incident_id, MAX_ID)})" if brief.then else "", then_lines(brief))
    blocks += _fixes(brief)
    blocks += _listed("SKIP", [_skip(brief, n) for n in range(len(brief.skip))])
    blocks += withheld(brief)
    blocks += _listed("LATER", [f"• {prose(x.check, 150)}: {prose(x.reason, 200)}" for x in brief.later])
    failed = [f"• {prose(d.fix, 200)} (failed {d.failures}×: {ids_of(d.incidents, 8)})" for d in brief.did_not_work]
    blocks += _listed("DID NOT WORK", failed)
    blocks += _sources("SOURCES, and why each counts", brief.sources)
    blocks += _sources("POSSIBLE, never counted", brief.possible)
    blocks += _listed("SET ASIDE, with Undo in `/precedent rules`", [f"• {aside_text(a)}" for a in brief.set_aside])
    blocks += _outside(details.outside)
    blocks += _listed("TRACE", [_step(step) for step in details.trace])
    asked = same_fix_blocks(pairs)
    return closing("Details", [*_within(blocks, MOST_BLOCKS - len(asked)), *asked], where or {})


def _cause(brief: Brief) -> Blocks:
    cause = brief.root_cause
    if not (brief.sources or cause):
        return ()
    line = boundary_line(brief)
    apart = brief.boundary.told_apart_by
    told = [section(line + (f"\nTold apart by {prose(apart, 600)}" if apart else ""))]
    if cause:
        known = "memory" if cause.verified else "memory; reported, not verified"
        said = f"*ROOT CAUSE ({known})* {prose(cause.text, MOST_CAUSE)} ({prose(cause.incident_id, MAX_ID)})"
        told.append(section(said))
    return tuple(told)


def _fixes(brief: Brief) -> Blocks:
    best = brief.recommendation
    if best is None:
        return (section("*RESOLUTION STEPS* nothing in memory is known to have worked"),) if brief.sources else ()
    warned = [f":warning: {prose(w, 200)}" for w in brief.step_warnings]
    heading = section("\n".join([_heading("RESOLUTION STEPS", best), *warned]))
    steps = [f"{number}. {plain(step, 1000, exact=True)}" for number, step in enumerate(brief.steps or (best.fix,), 1)]
    rivals = [b for r in brief.alternatives for b in (section(_heading("ALTERNATIVE", r)), *_copied([r.fix]))]
    return (heading, *_copied(steps), *rivals)


def _heading(word: str, rated: Recommendation) -> str:
    last = f"last worked {day(rated.last_worked)}" if rated.last_worked else None
    title = prose(rated.title, 100) if rated.title else None
    return (
        f"*{word}* {joined((rated.confidence.value, record_of(rated), last, title))}\n{prose(rated.explanation, 600)}"
    )


def _copied(parts: Sequence[str]) -> Blocks:
    """Text to copy as it stands, in as many blocks as it needs."""
    chunks: list[str] = []
    for part in parts:
        text = plain(part, MOST_TEXT, lines=True, exact=True)
        if chunks and len(chunks[-1]) + len(text) < MOST_TEXT:
            chunks[-1] += f"\n{text}"
        else:
            chunks.append(text)
    return tuple(verbatim(chunk) for chunk in chunks if chunk)


def _skip(brief: Brief, place: int) -> str:
    check = brief.skip[place]
    counted = f"not the cause in {check.count} of {check.of}{check_minutes(check)}"
    return f"• {prose(check.check, 150)}: {counted} ({ids_of(check.incidents, 8)})"


def _listed(heading: str, lines: Sequence[str]) -> Blocks:
    """Lines under a heading, in as many sections as they need."""
    chunks: list[str] = []
    for line in lines:
        if chunks and len(chunks[-1]) + len(line) < MOST_TEXT:
            chunks[-1] += f"\n{line}"
        else:
            chunks.append(line if chunks else f"*{heading}*\n{line}")
    return tuple(section(chunk) for chunk in chunks)


def _sources(heading: str, lines: Iterable[SourceLine]) -> Blocks:
    return _listed(heading, [_source(line) for line in lines])


def _source(line: SourceLine) -> str:
    """One past incident with every reason why it qualified."""
    head = f"{link(line.url, line.incident_id, MAX_ID)} {day(line.date)} {prose(line.title, 150)}"
    rated = f"{line.tier}, {line.probability:.0%}"
    why = "; ".join(prose(reason, 150) for reason in line.why) or "by its wording alone"
    return f"• {joined((head, line.boundary.value, rated))}\n   why: {why}"


def _step(step: TraceStep) -> str:
    """One step with its time to the second, in the reader's own zone."""
    said = f": {prose(step.said, 200)}" if step.said else ""
    return f"• {second(step.at) if step.at else '—'} {prose(step.what, 30)}{said}"


def _outside(found: Sequence[OutsideMemory]) -> Blocks:
    lines = [f"• {prose(one.id, 60)}: {prose(one.text, 300)}" for one in found]
    return _listed("OUTSIDE MEMORY: others' words without a record, never counted", lines)


def _within(blocks: Sequence[Block], most: int = MOST_BLOCKS) -> Sequence[Block]:
    if len(blocks) <= most:
        return blocks
    return [*blocks[:most], context(f"+{len(blocks) - most} more, which a modal has no room for")]


ASK_BOTH = "Ask the model with and without memory"


def compared_view(
    with_memory: Brief,
    without: Brief,
    messages: tuple[Blocks, Blocks],
    where: Mapping[str, Any] | None = None,
    why_not: str | None = None,
) -> View:
    """Both briefs, one under the other; `messages` are their blocks as the thread shows them, without buttons. `where`: the
    incident and channel, if a model may be asked about it; `why_not` says why it may not."""
    blocks: list[Block] = []
    for name, brief, shown in (
        ("With memory", with_memory, messages[0]),
        ("Without memory", without, messages[1]),
    ):
        blocks += [{"type": "header", "text": {"type": "plain_text", "text": name, "emoji": False}}]
        blocks += [b for b in shown if b["type"] != "actions"] or [verbatim(verdict_of(brief))]
    ask = [actions(ids.BRIEF_ACTIONS, [button(ids.ASK_MODEL, ASK_BOTH)])] if where and not why_not else []
    asked = [context(prose(why_not, 300))] if why_not else ask
    return closing("Compare", [*_within(blocks, MOST_BLOCKS - 1), *asked], where or {})
