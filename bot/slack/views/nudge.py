"""Ask about incidents that cleared with no recorded fix, and replace the buttons once one is answered."""

from __future__ import annotations

from collections.abc import Sequence

from bot.domain.resolutions.nudge import SHOWN, Nudge, NudgedIncident
from bot.domain.text.tokens import hash_wording
from bot.ports.chat import ChatMessage
from bot.slack import ids
from bot.slack.payload import Body, encode
from bot.slack.views.brief.buttons import build_confirmation
from bot.slack.views.brief.sections import MAX_ID, format_fix_line
from bot.slack.views.forms import button
from bot.slack.views.markup import Block, actions, context, format_channel, format_time, link, prose, section
from bot.workflows.resolutions.resolve import RecordedResolution

WORKED, BY_ITSELF, RECORD, STOP = "worked", "by_itself", "record", "stop"


def render_nudge(nudge: Nudge) -> ChatMessage:
    """Return one message for all incidents of a person, each with its buttons."""
    shown, more = nudge.incidents[:SHOWN], len(nudge.incidents) - SHOWN
    names = ", ".join(prose(one.incident_id, MAX_ID) for one in shown[:3])
    blocks: list[Block] = [
        section("*What ended these?* They cleared, and no fix is recorded. The next alert will know.")
    ]
    for one in shown:
        blocks += _render_incident(one)
    if more > 0:
        blocks.append(context(f"+{more} more: `/resolve` in their channels lists them."))
    return ChatMessage(
        f"Cleared with no recorded fix: {names}{' …' if len(nudge.incidents) > 3 else ''}", tuple(blocks)
    )


def _render_incident(one: NudgedIncident) -> list[Block]:
    name = link(one.url, one.incident_id, MAX_ID)
    lines = [
        f"*{name}* {prose(one.title, 150)}",
        f"cleared {format_time(one.cleared_at)} in {format_channel(one.channel)}",
    ]
    if one.suggested:
        lines.append(f"> Suggested: {prose(format_fix_line(one.suggested), 300)}")
    return [section("\n".join(lines)), actions(_build_block_id(one.incident_id), _build_buttons(one))]


def _build_buttons(one: NudgedIncident) -> list[dict[str, object]]:
    known = {"i": one.incident_id, "c": one.channel}
    value = encode(known)
    row = [
        button(f"{ids.NUDGE}.{BY_ITSELF}", "Cleared by itself", value),
        button(f"{ids.NUDGE}.{RECORD}", "Record…", value),
        button(f"{ids.NUDGE}.{STOP}", "Stop for this alert", value),
    ]
    if one.suggested:
        fix = encode(known | {"f": hash_wording(one.suggested)})
        row.insert(0, button(f"{ids.NUDGE}.{WORKED}", "The suggested fix worked", fix) | build_confirmation())
    return row


def _build_block_id(incident_id: str) -> str:
    return f"{ids.NUDGE}.{incident_id}"[:255]


def replace_buttons(blocks: Sequence[Body], incident_id: str, line: str) -> list[Block]:
    """Return the message with a line (mrkdwn) in the place of an incident's buttons."""
    return [context(line) if b.get("block_id") == _build_block_id(incident_id) else b for b in blocks]


def format_recorded(recorded: RecordedResolution) -> str:
    """Return the line (mrkdwn) that says what was recorded."""
    more = f" {prose(recorded.unconfirmed, 400)}" if recorded.unconfirmed else ""
    return f"*{prose(recorded.incident.incident_id, MAX_ID)}* recorded: {prose(recorded.summary, 300)}.{more}"
