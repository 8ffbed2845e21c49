"""What a person is told after recording: why it is not verified yet, and what others recorded before them. Pure.

Must not decide either.
"""

from __future__ import annotations

from bot.ports.chat import Message
from bot.slack.views.brief.sections import MAX_ID
from bot.slack.views.correction_modals import closing
from bot.slack.views.forms import View
from bot.slack.views.markup import Block, prose, section
from bot.slack.views.resolve_modal import attempt_line
from bot.workflows.resolutions.resolve import Recorded

MAX_ATTEMPTS = 5


def aside(recorded: Recorded, user_id: str) -> Message | None:
    """For the person's eyes, after a button; None where there is nothing to tell."""
    blocks = _blocks(recorded, user_id, 0)
    name = recorded.incident.incident_id[:MAX_ID]
    return Message(f"What to know about {prose(name, MAX_ID)}", tuple(blocks)) if blocks else None


def told_view(recorded: Recorded, user_id: str, known: int) -> View | None:
    """In the modal, after it recorded; None where there is nothing to tell. `known`: how many attempts the record had
    when the modal was opened."""
    blocks = _blocks(recorded, user_id, known)
    return closing("Recorded", blocks) if blocks else None


def _blocks(recorded: Recorded, user_id: str, known: int) -> list[Block]:
    name = prose(recorded.incident.incident_id, MAX_ID)
    blocks: list[Block] = []
    if recorded.unconfirmed:
        blocks.append(section(f"*{name}* is recorded. {prose(recorded.unconfirmed, 400)}"))
    others = [a for a in recorded.before[known:] if a.by != user_id]
    if others:
        lines = [attempt_line(a) for a in others[-MAX_ATTEMPTS:]]
        blocks.append(section("\n".join([f"*{name}* had been recorded before you; both are kept:", *lines])))
    return blocks
