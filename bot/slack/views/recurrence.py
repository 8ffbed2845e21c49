"""The question about a fix after which its alert fired again, and the answer that takes its place."""

from __future__ import annotations

from bot.domain.resolutions.recurrence import Again, AskedFix
from bot.ports.chat import ChatMessage
from bot.slack import ids
from bot.slack.payload import encode
from bot.slack.views.brief.sections import MAX_ID, format_fix_line
from bot.slack.views.markup import Block, format_user, prose, section

LABELS = {Again.PARTLY: "Partly", Again.FAILED: "Did not work", Again.UNRELATED: "Unrelated"}


def render_recurrence_question(asked: AskedFix) -> ChatMessage:
    """Return the question with its three answers."""
    text = f"{asked.incident_id} fired again {asked.minutes} min after it was fixed. Did the fix work?"
    said = (
        f"*{prose(asked.incident_id, MAX_ID)} fired again* {asked.minutes} min after this fix was seen to work:"
        f"\n> {prose(format_fix_line(asked.fix), 300)}\nIt counts as partly until somebody says what it was."
    )
    return ChatMessage(text, (section(said), _build_answers(asked)))


def _build_answers(asked: AskedFix) -> Block:
    buttons = [
        {
            "type": "button",
            "action_id": f"{ids.AGAIN}.{answer.name.lower()}",
            "text": {"type": "plain_text", "text": label},
            "value": encode({"i": asked.incident_id, "n": asked.number, "a": answer.value}),
        }
        for answer, label in LABELS.items()
    ]
    return {"type": "actions", "elements": buttons}


def render_recurrence_answer(asked: AskedFix, answer: Again, by: str) -> ChatMessage:
    """Return what was answered, by whom; the buttons are gone."""
    said = f"{prose(asked.incident_id, MAX_ID)} fired again after: {prose(format_fix_line(asked.fix), 300)}"
    line = f"{said}\n*{prose(LABELS[answer], 30)}*, says {format_user(by)}."
    return ChatMessage(f"{asked.incident_id}: {answer.value}", (section(line),))
