"""Render a storm's summary as one message."""

from __future__ import annotations

from bot.domain.operations.storms import ANYTHING, StormSummary
from bot.ports.chat import ChatMessage
from bot.slack.views.brief.sections import MAX_ID, join_parts
from bot.slack.views.markup import Block, context, format_time, header, link, plain, prose, section

NAMES = 8


def render_storm(storm: StormSummary) -> ChatMessage:
    """Return how many alerts of what, how many have cleared, what memory knows of them, and where each was posted."""
    head = format_headline(storm)
    blocks: list[Block] = [header(head), context(_format_state(storm))]
    if storm.affected:
        blocks.append(section(f"*AFFECTED* {_format_affected(storm)}"))
    blocks += _render_memory(storm)
    if storm.alerts:
        blocks.append(section("\n".join(["*WITHOUT A BRIEF OF THEIR OWN*", *_format_alerts(storm)])))
    if not storm.over:
        blocks.append(context("More of these are added here instead of a brief each. `/resolve` records any of them."))
    return ChatMessage(head, tuple(blocks))


def format_headline(storm: StormSummary) -> str:
    """Return the storm in one line; it is also the notification."""
    what = "" if storm.scope == ANYTHING else f" of {plain(storm.scope.split(':', 1)[1], 60)}"
    count = f"{storm.count} alert{'' if storm.count == 1 else 's'}{what}"
    return f"{'Storm over' if storm.over else 'Alert storm'}: {count}, {storm.cleared} cleared"


def _format_state(storm: StormSummary) -> str:
    briefs = f"{storm.briefs} with a brief of {'its' if storm.briefs == 1 else 'their'} own" if storm.briefs else None
    return join_parts((f"since {format_time(storm.since)}", f"last one {format_time(storm.until)}", briefs))


def _format_affected(storm: StormSummary) -> str:
    shown = ", ".join(f"{prose(name, 40)}{f' ({n})' if n > 1 else ''}" for name, n in storm.affected[:NAMES])
    left = len(storm.affected) - NAMES
    return f"{shown} +{left} more" if left > 0 else shown


def _render_memory(storm: StormSummary) -> list[Block]:
    if storm.lead is None:
        return []
    sources = [join_parts((link(url, name, MAX_ID), prose(title, 60))) for name, title, url in storm.lead.sources]
    text = "\n".join([f"*MOST TELLING (memory)* {prose(storm.lead.verdict, 140)}", *(f"• {s}" for s in sources)])
    return [section(text)]


def _format_alerts(storm: StormSummary) -> list[str]:
    lines = [join_parts((f"• {link(url, name, MAX_ID)}", prose(title, 60))) for name, title, url in storm.alerts]
    left = storm.count - storm.briefs - len(storm.alerts)
    return [*lines, f"+{left} more"] if left > 0 else lines
