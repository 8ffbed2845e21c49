"""Ask about a fix after which its alert fired again, and show the answer in the place of the question."""

from __future__ import annotations

from bot.domain.resolutions.recurrence import QuestionedFix, RecurrenceAnswer
from bot.ports.chat import ChatMessage
from bot.slack import ids
from bot.slack.payload import encode
from bot.slack.views.brief.sections import MAX_ID, format_fix_line
from bot.slack.views.markup import Block, format_user, prose, section

LABELS = {
    RecurrenceAnswer.PARTLY: "Partly",
    RecurrenceAnswer.FAILED: "Did not work",
    RecurrenceAnswer.UNRELATED: "Unrelated",
}


def render_recurrence_question(question: QuestionedFix) -> ChatMessage:
    """Return the question with its three answers."""
    text = f"{question.incident_id} fired again {question.minutes} min after it was fixed. Did the fix work?"
    said = (
        f"*{prose(question.incident_id, MAX_ID)} fired again* {question.minutes} min after this fix was seen to work:"
        f"\n> {prose(format_fix_line(question.fix), 300)}\nIt counts as partly until somebody says what it was."
    )
    return ChatMessage(text, (section(said), _build_answers(question)))


def _build_answers(question: QuestionedFix) -> Block:
    buttons = [
        {
            "type": "button",
            "action_id": f"{ids.AGAIN}.{answer.name.lower()}",
            "text": {"type": "plain_text", "text": label},
            "value": encode({"i": question.incident_id, "n": question.number, "a": answer.value}),
        }
        for answer, label in LABELS.items()
    ]
    return {"type": "actions", "elements": buttons}


def render_recurrence_answer(question: QuestionedFix, answer: RecurrenceAnswer, by: str) -> ChatMessage:
    """Return what was answered, by whom; the buttons are gone."""
    said = f"{prose(question.incident_id, MAX_ID)} fired again after: {prose(format_fix_line(question.fix), 300)}"
    line = f"{said}\n*{prose(LABELS[answer], 30)}*, says {format_user(by)}."
    return ChatMessage(f"{question.incident_id}: {answer.value}", (section(line),))
