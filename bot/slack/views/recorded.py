"""What a person is told after recording: why it is not verified yet, and what others recorded before them. Pure.

Must not decide either.
"""

from __future__ import annotations

from bot.ports.chat import ChatMessage
from bot.slack.views.brief.sections import MAX_ID
from bot.slack.views.correction_modals import build_info_view
from bot.slack.views.forms import View
from bot.slack.views.markup import Block, prose, section
from bot.slack.views.resolve_modal import format_attempt
from bot.workflows.resolutions.resolve import RecordedResolution

MAX_ATTEMPTS = 5


def render_recorded_note(recorded: RecordedResolution, user_id: str) -> ChatMessage | None:
    """For the person's eyes, after a button; None where there is nothing to tell."""
    blocks = _render_blocks(recorded, user_id, 0)
    name = recorded.incident.incident_id[:MAX_ID]
    return ChatMessage(f"What to know about {prose(name, MAX_ID)}", tuple(blocks)) if blocks else None


def build_recorded_view(recorded: RecordedResolution, user_id: str, known: int) -> View | None:
    """In the modal, after it recorded; None where there is nothing to tell. `known`: how many attempts the record had
    when the modal was opened."""
    blocks = _render_blocks(recorded, user_id, known)
    return build_info_view("Recorded", blocks) if blocks else None


def _render_blocks(recorded: RecordedResolution, user_id: str, known: int) -> list[Block]:
    name = prose(recorded.incident.incident_id, MAX_ID)
    blocks: list[Block] = []
    if recorded.unconfirmed:
        blocks.append(section(f"*{name}* is recorded. {prose(recorded.unconfirmed, 400)}"))
    others = [a for a in recorded.before[known:] if a.by != user_id]
    if others:
        lines = [format_attempt(a) for a in others[-MAX_ATTEMPTS:]]
        blocks.append(section("\n".join([f"*{name}* had been recorded before you; both are kept:", *lines])))
    return blocks
