"""How the bot is doing and what is open: the status, the open incidents, and the Home view of both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bot.ports.chat import ChatMessage
from bot.slack.views.brief.sections import MAX_ID, join_parts
from bot.slack.views.help import HelpLine, format_help
from bot.slack.views.markup import Block, format_channel, format_time, header, prose, section
from bot.workflows.operations.status import StatusLine
from bot.workflows.reports.open_incidents import OpenIncident

MARKS = {True: ":white_check_mark:", False: ":x:", None: ":heavy_minus_sign:"}
MAX_STATUS_LINES = 64
# A section holds 3,000 characters, which eight long lines may need.
LINES_IN_SECTION = 8
MAX_INCIDENTS = 12


def render_status(lines: Iterable[StatusLine]) -> ChatMessage:
    """Return how the bot is doing."""
    return ChatMessage("Status of Precedent", build_status_blocks(lines))


def build_status_blocks(lines: Iterable[StatusLine]) -> tuple[Block, ...]:
    """Return the status in as many sections as it needs."""
    shown = ["*Status*", *format_status(lines)]
    starts = range(0, min(len(shown), MAX_STATUS_LINES), LINES_IN_SECTION)
    return tuple(section("\n".join(shown[n : n + LINES_IN_SECTION])) for n in starts)


def format_status(lines: Iterable[StatusLine]) -> list[str]:
    """Return one line for each dependency."""
    return [f"{MARKS[line.ok]} *{prose(line.name, 30)}* {_format_detail(line)}" for line in lines]


def _format_detail(line: StatusLine) -> str:
    last_alerts = (f"{format_channel(channel)} {format_time(at)}" for channel, at in line.channels)
    return ", ".join((*((prose(line.detail, 240),) if line.detail else ()), *last_alerts))


def render_open_incidents(rows: Sequence[OpenIncident]) -> ChatMessage:
    """Return the open incidents, newest first."""
    if not rows:
        text = "No open incidents that you may see from here."
        return ChatMessage(text, (section(text),))
    lines = "\n".join(["*Open incidents*", *format_open_incidents(rows)])
    return ChatMessage(f"{len(rows)} open incidents", (section(lines),))


def format_open_incidents(rows: Sequence[OpenIncident], most: int = MAX_INCIDENTS) -> list[str]:
    """Return one line for each open incident, and how many more there are."""
    lines = [
        join_parts(
            (
                f"• *{prose(r.life.incident_id, MAX_ID)}* {prose(r.title, 80)}",
                r.life.state.value,
                format_time(r.life.opened_at),
                f"fired {r.life.fired}×" if r.life.fired > 1 else None,
            )
        )
        for r in rows[:most]
    ]
    return [*lines, f"+{len(rows) - most} more"] if len(rows) > most else lines


def render_home(
    status: Iterable[StatusLine], incidents: Sequence[OpenIncident], commands: Sequence[HelpLine]
) -> ChatMessage:
    """Return Home: how the bot is doing, what is open in public channels, and how to use it."""
    open_lines = format_open_incidents(incidents) or ["None in public channels."]
    blocks: list[Block] = [header("Precedent"), *build_status_blocks(status), {"type": "divider"}]
    blocks += [section("\n".join(["*Open incidents*", *open_lines])), {"type": "divider"}]
    blocks.append(section("\n".join(format_help(commands))))
    return ChatMessage("Precedent", tuple(blocks))
