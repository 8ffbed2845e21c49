"""Ask whether a message is the fix, after a 📝 on it, and show what was recorded."""

from __future__ import annotations

from bot.domain.incidents.record import Attempt
from bot.domain.text.tokens import hash_wording
from bot.ports.chat import ChatMessage, ThreadMessage
from bot.slack import ids
from bot.slack.payload import encode
from bot.slack.views.brief.sections import MAX_ID, format_fix_line
from bot.slack.views.forms import button
from bot.slack.views.markup import actions, format_user, prose, section
from bot.slack.views.resolve_modal import STATUS_WORDS, render_recorded_note
from bot.slack.views.surfaces import render_note
from bot.workflows.resolutions.resolve import FixOutcome, RecordedResolution

LABELS = {"recovered": "It worked", "not_sure": "Record, not verified", "none": "Not the fix"}
# By answer; any other answer records nothing.
OUTCOMES = {"recovered": FixOutcome.RECOVERED, "not_sure": FixOutcome.NOT_SURE}


class SlackMemoSurfaces:
    """`bot.workflows.resolutions.memo_reaction.MemoSurfaces`."""

    def render_question(self, incident_id: str, message: ThreadMessage, fix: str) -> ChatMessage:
        """Return the question, with the text that would be recorded."""
        name = prose(incident_id, MAX_ID)
        text = f"Record this as the fix of *{name}*?\n> {prose(format_fix_line(message.text), 600)}"
        value = encode({"i": incident_id, "ts": message.ts, "f": hash_wording(fix)})
        row = [button(f"{ids.MEMO}.{answer}", label, value) for answer, label in LABELS.items()]
        return ChatMessage(f"Record this as the fix of {name}?", (section(text), actions(ids.MEMO, row)))

    def render_known(self, incident_id: str, attempt: Attempt) -> ChatMessage:
        """Return that somebody has answered before."""
        name, status = prose(incident_id, MAX_ID), STATUS_WORDS[attempt.status]
        return render_note(f"This is recorded for *{name}* already, by {format_user(attempt.by)}: {status}.")


def render_recorded(recorded: RecordedResolution, user: str) -> ChatMessage:
    """Return what was recorded, or that it was before."""
    name = prose(recorded.incident.incident_id, MAX_ID)
    if recorded.again:
        return render_note(f"This message is recorded for *{name}* already. *Record…* under the brief adds to it.")
    more = render_recorded_note(recorded, user)
    text = f"*{name}*: {prose(recorded.summary, 300)}"
    return ChatMessage(text, (section(text), *(more.blocks if more else ())))
