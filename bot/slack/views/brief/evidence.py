"""Render the evidence of now, as the brief and its details show it, and the snapshot of the past incident beside it.

Evidence and memory never share a sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from bot.domain.brief.decide import Brief
from bot.domain.brief.then_and_now import compare_then_and_now
from bot.domain.evidence.items import (
    ComparisonValue,
    EvidenceKind,
    Observed,
    Unavailable,
    format_quantity,
    is_deploy,
    select_observed,
)
from bot.slack.views.brief.sections import MAX_ID, SEPARATOR, Blocks, Levels, join_parts
from bot.slack.views.markup import MAX_URL, context, link, prose, section

# What is left of the values compared when room gets short.
TELLING = ("30 min ago", "threshold")
# A longer address would take the place of a value; Details has it.
SHORT_URL = 120
WHAT, REASON, SAID, UNIT = 60, 110, 120, 12


def render_now(brief: Brief) -> Levels:
    """Return contradictions first, then a line for each observation, then what is unavailable. Shorter forms hold fewer
    values; the first contradiction stays in all of them."""
    if not brief.evidence:
        return ((),)
    forms = _format_lines(brief, 8, 3, None), _format_lines(brief, 6, 2, TELLING), _format_one_line(brief)
    speaks_against = format_contradictions(brief)
    whole = [[*speaks_against, *lines] for lines in forms]
    shortest = format_contradictions(brief, 60, 30)[:1] or _format_one_line(brief)
    return tuple((section("\n".join([_format_heading(brief), *lines])),) for lines in (*whole, shortest))


def _format_lines(brief: Brief, most: int, most_unseen: int, labels: Sequence[str] | None) -> list[str]:
    """Return a line for each item, as many as there is room for. `labels`: the compared values to show, None for
    all."""
    seen, unseen = select_observed(brief.evidence), _list_unavailable(brief)
    lines = [
        format_item(item, brief.now, labels, most_url=SHORT_URL if labels is None else 0)
        for item in _pick_first(seen, most)
    ]
    lines += [format_unavailable(item) for item in unseen[:most_unseen]]
    hidden = len(seen) + len(unseen) - len(lines)
    return [*lines, f"+{hidden} more in Details"] if hidden else lines


def _format_one_line(brief: Brief) -> list[str]:
    seen = select_observed(brief.evidence)
    values = [f"• {SEPARATOR.join(_format_bare(item, brief.now) for item in _pick_first(seen, 5))}"] if seen else []
    return [*values, *_format_unavailable_sources(_list_unavailable(brief))]


def _pick_first(seen: Sequence[Observed], most: int) -> list[Observed]:
    """Return as many observations as there is room for, in their order: the first of each kind, then the second ones.

    Two metrics count as one of the other kinds, so that many metrics do not hide a deploy.
    """
    ranks: dict[EvidenceKind, int] = {}
    placed: list[tuple[int, int]] = []
    for place, item in enumerate(seen):
        rank = ranks.get(item.kind, 0)
        ranks[item.kind] = rank + 1
        placed.append((rank // 2 if item.kind is EvidenceKind.METRIC else rank, place))
    return [seen[place] for place in sorted(place for _, place in sorted(placed)[:most])]


def _list_unavailable(brief: Brief) -> list[Unavailable]:
    return [item for item in brief.evidence if isinstance(item, Unavailable)]


def _format_heading(brief: Brief) -> str:
    return f"*NOW* {format_clock_time(brief.evidence_at)}" if brief.evidence_at else "*NOW*"


def format_clock_time(at: datetime) -> str:
    """Return the time of day in the reader's own zone."""
    return f"<!date^{int(at.timestamp())}^{{time}}|{at.astimezone(UTC):%H:%M} UTC>"


def format_contradictions(brief: Brief, room: int = 130, memory_room: int = 90) -> list[str]:
    """Return each contradiction as two sentences: what is seen, and what memory says instead."""
    return [
        f":warning: *{prose(c.now, room)}.* Memory says: {prose(c.memory, memory_room)}."
        for c in brief.contradictions[:3]
    ]


def format_item(
    item: Observed, alert_at: datetime | None, labels: Sequence[str] | None = None, *, most_url: int = MAX_URL
) -> str:
    """Return one observation: value and window, the compared values (all, or those of `labels`), the source."""
    shown = [c for c in item.compared if labels is None or c.label in labels]
    window = f"({prose(item.window, 30)})" if item.window else ""
    head = " ".join(p for p in ("•", prose(item.what, WHAT), _format_value(item), window) if p)
    if item.kind is EvidenceKind.LOGS and item.count is not None:
        head = f"• {item.count:,}× {prose(item.text or item.what, SAID)}"
    else:
        head = join_parts((head, prose(item.text, SAID) if item.text else None))
    source = link(item.url, item.source, 30) if item.url and len(item.url) <= most_url else None
    cut = "not all of it" if item.truncated else None
    return join_parts(
        (head, _format_when(item, alert_at), *(_format_comparison(c, item.unit) for c in shown), cut, source)
    )


def _format_value(item: Observed) -> str:
    return f"*{prose(format_quantity(item.value, item.unit[:UNIT]), 30)}*" if item.value is not None else ""


def _format_comparison(other: ComparisonValue, unit: str) -> str:
    return f"{prose(other.label, 30)} {prose(format_quantity(other.value, unit[:UNIT]), 30)}"


def _format_when(item: Observed, alert_at: datetime | None) -> str | None:
    """Return when it happened, for items with a time of their own: a deploy by its distance to the alert, log lines
    from first to last."""
    if is_deploy(item) and alert_at:
        minutes = int((alert_at - item.at).total_seconds() // 60)
        return f"*{minutes} min before the alert*" if minutes >= 0 else f"*{-minutes} min after the alert*"
    if item.first and item.last:
        return f"{format_clock_time(item.first)} to {format_clock_time(item.last)}"
    return None


def _format_bare(item: Observed, alert_at: datetime | None) -> str:
    if item.kind is EvidenceKind.LOGS:
        return f"{item.count or 1:,}× {prose(item.text or item.what, 40)}"
    text = _format_value(item) or _format_when(item, alert_at) or prose(item.text or "", 40)
    return f"{prose(item.what, 40)} {text}".rstrip()


def format_unavailable(item: Unavailable) -> str:
    """Return one item that could not be observed, and why."""
    name = join_parts((prose(item.what, WHAT), prose(item.source, 30) if item.source != item.what else None))
    return f"• {name}: unavailable: {prose(item.reason, REASON)}"


def _format_unavailable_sources(unseen: Sequence[Unavailable]) -> list[str]:
    """Return the unavailable sources in one line, each with its first reason."""
    reasons = {item.source: item.reason for item in reversed(unseen)}
    text = "; ".join(f"{prose(source, 30)}: {prose(why, 50)}" for source, why in list(reasons.items())[:3])
    return [f"• unavailable: {text}"] if text else []


def render_then(brief: Brief) -> Levels:
    """Return the snapshot of the past incident whose steps are shown, beside what is seen now."""
    pairs = compare_then_and_now(brief.then, brief.evidence)
    if brief.then is None or not pairs:
        return ((),)
    lines = [f"{prose(p.what, 40)}: then {prose(p.then, 40)}, now {prose(p.now, 30)}" for p in pairs]
    name = f"*THEN* ({prose(brief.then.incident_id, MAX_ID)})"
    full, short = (f"{name} {SEPARATOR.join(lines[:most])}" for most in (4, 2))
    return ((section(full),), (section(short),), ())


def format_now(brief: Brief) -> list[str]:
    """Return all evidence, for the details."""
    seen = [format_item(item, brief.now) for item in select_observed(brief.evidence)]
    return [
        *format_contradictions(brief),
        *seen,
        *(format_unavailable(i) for i in brief.evidence if isinstance(i, Unavailable)),
    ]


def format_then(brief: Brief) -> list[str]:
    """Return the whole snapshot of the past incident."""
    if brief.then is None:
        return []
    now_of = {pair.signal: pair.now for pair in compare_then_and_now(brief.then, brief.evidence)}
    return [
        f"• {prose(signal, WHAT)}: then {prose(text, 80)}"
        + (f", now {prose(now_of[signal], 80)}" if signal in now_of else "")
        for signal, text in brief.then.values.items()
    ]


def render_withheld(brief: Brief) -> Blocks:
    """Return the checks that memory would skip, and that are not skipped while a contradiction exists."""
    if not brief.withheld:
        return ()
    names = "; ".join(prose(skip.check, 90) for skip in brief.withheld)
    return (context(f"Not skipped while a contradiction stands: {names}"),)
