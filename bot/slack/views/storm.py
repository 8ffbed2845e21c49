"""A storm's summary as one message."""

from __future__ import annotations

from bot.domain.operations.storms import ANYTHING, StormSummary
from bot.ports.chat import ChatMessage
from bot.slack.views.brief.sections import MAX_ID, join_parts
from bot.slack.views.markup import Block, context, format_time, header, link, plain, prose, section

NAMES = 8


def render_storm(said: StormSummary) -> ChatMessage:
    """Return how many alerts of what, how many have cleared, what memory knows of them, and where each was posted."""
    head = format_headline(said)
    blocks: list[Block] = [header(head), context(_format_state(said))]
    if said.affected:
        blocks.append(section(f"*AFFECTED* {_format_affected(said)}"))
    blocks += _render_memory(said)
    if said.alerts:
        blocks.append(section("\n".join(["*WITHOUT A BRIEF OF THEIR OWN*", *_format_alerts(said)])))
    if not said.over:
        blocks.append(context("More of these are added here instead of a brief each. `/resolve` records any of them."))
    return ChatMessage(head, tuple(blocks))


def format_headline(said: StormSummary) -> str:
    """Return the storm in one line; it is also the notification."""
    what = "" if said.scope == ANYTHING else f" of {plain(said.scope.split(':', 1)[1], 60)}"
    count = f"{said.count} alert{'' if said.count == 1 else 's'}{what}"
    return f"{'Storm over' if said.over else 'Alert storm'}: {count}, {said.cleared} cleared"


def _format_state(said: StormSummary) -> str:
    briefs = f"{said.briefs} with a brief of {'its' if said.briefs == 1 else 'their'} own" if said.briefs else None
    return join_parts((f"since {format_time(said.since)}", f"last one {format_time(said.until)}", briefs))


def _format_affected(said: StormSummary) -> str:
    shown = ", ".join(f"{prose(name, 40)}{f' ({n})' if n > 1 else ''}" for name, n in said.affected[:NAMES])
    left = len(said.affected) - NAMES
    return f"{shown} +{left} more" if left > 0 else shown


def _render_memory(said: StormSummary) -> list[Block]:
    if said.lead is None:
        return []
    sources = [join_parts((link(url, name, MAX_ID), prose(title, 60))) for name, title, url in said.lead.sources]
    text = "\n".join([f"*MOST TELLING (memory)* {prose(said.lead.verdict, 140)}", *(f"• {s}" for s in sources)])
    return [section(text)]


def _format_alerts(said: StormSummary) -> list[str]:
    lines = [join_parts((f"• {link(url, name, MAX_ID)}", prose(title, 60))) for name, title, url in said.alerts]
    left = said.count - said.briefs - len(said.alerts)
    return [*lines, f"+{left} more"] if left > 0 else lines
