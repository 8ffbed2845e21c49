"""Everything behind a brief as a modal: all steps, alternatives, checks and sources with their reasons; and two briefs
side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bot.domain.brief.decide import Brief, SourceLine
from bot.domain.brief.recommendation import Recommendation
from bot.domain.brief.timings import TimingStep
from bot.domain.fixes.grouping import FixPair
from bot.domain.fixes.steps import split_steps
from bot.domain.recall.ranking import OutsideMemory
from bot.domain.text.tokens import hash_wording
from bot.slack import ids
from bot.slack.payload import Body, encode
from bot.slack.views.brief.evidence import format_now, format_then, render_withheld
from bot.slack.views.brief.sections import (
    MAX_ID,
    Blocks,
    format_boundary,
    format_check_minutes,
    format_ids,
    format_track_record,
    join_parts,
)
from bot.slack.views.brief.sections import format_verdict as verdict_of
from bot.slack.views.forms import View, build_info_view, button
from bot.slack.views.markup import (
    Block,
    actions,
    context,
    format_date,
    format_seconds,
    link,
    plain,
    plain_text,
    prose,
    section,
    verbatim,
)
from bot.slack.views.wrong_precedent_modal import format_dismissal
from bot.workflows.recall.details import BriefDetails

# Slack takes 100 blocks, and 3,000 characters in each.
MOST_BLOCKS = 95
MOST_TEXT = 2900
MOST_CAUSE = 1200
RECOMPUTED = "Computed anew: something that the posted brief rested on is gone, or not for your eyes."
LOADING = "Looking it up…"
SAME_FIX_HEADING = "*SAME FIX?* What you say holds from the next brief on; `precedent fixes` lists and undoes it, too."


def build_loading_view(title: str, line: str = LOADING) -> View:
    """Return what is shown at once: a modal must be opened within three seconds."""
    return build_info_view(title, [section(line)])


def build_details_view(details: BriefDetails, pairs: Sequence[FixPair] = (), where: Body | None = None) -> View:
    """Return all of a brief. `pairs`: the fixes that this person may group; `where`: the incident and channel of the
    brief."""
    brief = details.brief
    blocks: list[Block] = [verbatim(verdict_of(brief))]
    blocks += [context(RECOMPUTED)] if details.anew else []
    blocks += [section(f"*{prose(m.what, 20)} is missing*: {prose(m.reason, 300)}") for m in brief.missing]
    blocks += _render_list("NOW", format_now(brief))
    if brief.insufficient_memory:
        why = brief.insufficient_memory
        blocks.append(section(f"*INSUFFICIENT_MEMORY* {prose(why.nearest or why.reason, 600)}"))
    blocks += _render_cause(brief)
    blocks += _render_list(f"THEN ({prose(brief.then.incident_id, MAX_ID)})" if brief.then else "", format_then(brief))
    blocks += _render_fixes(brief)
    blocks += _render_list("SKIP", [_format_skip(brief, n) for n in range(len(brief.skip))])
    blocks += render_withheld(brief)
    blocks += _render_list("LATER", [f"• {prose(x.check, 150)}: {prose(x.reason, 200)}" for x in brief.later])
    failed = [f"• {prose(d.fix, 200)} (failed {d.failures}×: {format_ids(d.incidents, 8)})" for d in brief.did_not_work]
    blocks += _render_list("DID NOT WORK", failed)
    blocks += _render_sources("SOURCES, and why each counts", brief.sources)
    blocks += _render_sources("POSSIBLE, never counted", brief.possible)
    blocks += _render_list(
        "SET ASIDE, with Undo in `/precedent rules`", [f"• {format_dismissal(a)}" for a in brief.set_aside]
    )
    blocks += _render_outside_memory(details.outside)
    blocks += _render_list("TRACE", [_format_step(step) for step in details.trace])
    asked = render_same_fix(pairs)
    return build_info_view("Details", [*_limit_blocks(blocks, MOST_BLOCKS - len(asked)), *asked], where or {})


def _render_cause(brief: Brief) -> Blocks:
    cause = brief.root_cause
    if not (brief.sources or cause):
        return ()
    line = format_boundary(brief)
    told_apart = brief.boundary.told_apart_by
    blocks = [section(line + (f"\nTold apart by {prose(told_apart, 600)}" if told_apart else ""))]
    if cause:
        known = "memory" if cause.verified else "memory; reported, not verified"
        line = f"*ROOT CAUSE ({known})* {prose(cause.text, MOST_CAUSE)} ({prose(cause.incident_id, MAX_ID)})"
        blocks.append(section(line))
    return tuple(blocks)


def _render_fixes(brief: Brief) -> Blocks:
    best = brief.recommendation
    if best is None:
        return (section("*RESOLUTION STEPS* nothing in memory is known to have worked"),) if brief.sources else ()
    warned = [f":warning: {prose(w, 200)}" for w in brief.step_warnings]
    heading = section("\n".join([_format_heading("RESOLUTION STEPS", best), *warned]))
    steps = [f"{number}. {plain(step, 1000, exact=True)}" for number, step in enumerate(brief.steps or (best.fix,), 1)]
    rivals = [
        b for r in brief.alternatives for b in (section(_format_heading("ALTERNATIVE", r)), *_render_verbatim([r.fix]))
    ]
    return (heading, *_render_verbatim(steps), *rivals)


def _format_heading(word: str, rated: Recommendation) -> str:
    last = f"last worked {format_date(rated.last_worked)}" if rated.last_worked else None
    title = prose(rated.title, 100) if rated.title else None
    return f"*{word}* {join_parts((rated.confidence.value, format_track_record(rated), last, title))}\n{prose(rated.explanation, 600)}"


def _render_verbatim(parts: Sequence[str]) -> Blocks:
    """Return text to copy unchanged, in as many blocks as it needs."""
    chunks: list[str] = []
    for part in parts:
        text = plain(part, MOST_TEXT, lines=True, exact=True)
        if chunks and len(chunks[-1]) + len(text) < MOST_TEXT:
            chunks[-1] += f"\n{text}"
        else:
            chunks.append(text)
    return tuple(verbatim(chunk) for chunk in chunks if chunk)


def _format_skip(brief: Brief, place: int) -> str:
    check = brief.skip[place]
    counted = f"not the cause in {check.count} of {check.of}{format_check_minutes(check)}"
    return f"• {prose(check.check, 150)}: {counted} ({format_ids(check.incidents, 8)})"


def _render_list(heading: str, lines: Sequence[str]) -> Blocks:
    """Return lines under a heading, in as many sections as they need."""
    chunks: list[str] = []
    for line in lines:
        if chunks and len(chunks[-1]) + len(line) < MOST_TEXT:
            chunks[-1] += f"\n{line}"
        else:
            chunks.append(line if chunks else f"*{heading}*\n{line}")
    return tuple(section(chunk) for chunk in chunks)


def _render_sources(heading: str, lines: Iterable[SourceLine]) -> Blocks:
    return _render_list(heading, [_format_source(line) for line in lines])


def _format_source(line: SourceLine) -> str:
    """Return one past incident with every reason why it qualified."""
    head = f"{link(line.url, line.incident_id, MAX_ID)} {format_date(line.date)} {prose(line.title, 150)}"
    rated = f"{line.tier}, {line.probability:.0%}"
    why = "; ".join(prose(reason, 150) for reason in line.why) or "by its wording alone"
    return f"• {join_parts((head, line.boundary.value, rated))}\n   why: {why}"


def _format_step(step: TimingStep) -> str:
    """Return one step with its time to the second, in the reader's own zone."""
    line = f": {prose(step.said, 200)}" if step.said else ""
    return f"• {format_seconds(step.at) if step.at else '—'} {prose(step.what, 30)}{line}"


def _render_outside_memory(found: Sequence[OutsideMemory]) -> Blocks:
    lines = [f"• {prose(one.id, 60)}: {prose(one.text, 300)}" for one in found]
    return _render_list("OUTSIDE MEMORY: others' words without a record, never counted", lines)


def _limit_blocks(blocks: Sequence[Block], most: int = MOST_BLOCKS) -> Sequence[Block]:
    if len(blocks) <= most:
        return blocks
    return [*blocks[:most], context(f"+{len(blocks) - most} more, which a modal has no room for")]


ASK_BOTH = "Ask the model with and without memory"


def build_compare_view(
    with_memory: Brief,
    without: Brief,
    messages: tuple[Blocks, Blocks],
    where: Body | None = None,
    why_not: str | None = None,
) -> View:
    """Return both briefs, one under the other.

    `messages` are their blocks as the thread shows them. `where`: the incident and channel, if a model may be asked
    about it; `why_not`: why it may not.
    """
    blocks: list[Block] = []
    for name, brief, shown in (
        ("With memory", with_memory, messages[0]),
        ("Without memory", without, messages[1]),
    ):
        blocks += [{"type": "header", "text": {"type": "plain_text", "text": name, "emoji": False}}]
        blocks += [b for b in shown if b["type"] != "actions"] or [verbatim(verdict_of(brief))]
    ask = [actions(ids.BRIEF_ACTIONS, [button(ids.ASK_MODEL, ASK_BOTH)])] if where and not why_not else []
    asked = [context(prose(why_not, 300))] if why_not else ask
    return build_info_view("Compare", [*_limit_blocks(blocks, MOST_BLOCKS - 1), *asked], where or {})


def render_same_fix(pairs: Sequence[FixPair]) -> list[Block]:
    """Return the question “Same fix?” for each pair, with its button; nothing for no pairs."""
    return [section(SAME_FIX_HEADING), *(_render_pair(pair) for pair in pairs)] if pairs else []


def build_pair_value(pair: FixPair) -> dict[str, str]:
    """Return what the button of a pair carries."""
    return {"a": hash_wording(pair.one.fix), "b": hash_wording(pair.other.fix)}


def _render_pair(pair: FixPair) -> Block:
    now = "counted as one fix" if pair.same else "counted as two fixes"
    one, other = (f"“{_format_fix(w.fix)}” ({prose(w.incident_id, MAX_ID)})" for w in (pair.one, pair.other))
    label, action = ("Different fixes", ids.OTHER_FIXES) if pair.same else ("Same fix", ids.SAME_FIX)
    button = {
        "type": "button",
        "action_id": action,
        "text": plain_text(label),
        "value": encode(build_pair_value(pair)),
    }
    return {**section(f"{one} and {other}: {now}"), "accessory": button}


def _format_fix(fix: str) -> str:
    return prose("; ".join(split_steps(fix)) or fix, 150)
