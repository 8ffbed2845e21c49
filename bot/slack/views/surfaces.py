"""Decisions as Slack messages: every message, ephemeral answer and the Home view. Pure.

Must not decide, fetch or send anything; what comes from data goes through `markup`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.domain.alerts.suppression import Mute
from bot.domain.brief.decide import Brief
from bot.domain.incidents.corrections import BOUNDARY, FAILED_CHECKS, LESSON, ROOT_CAUSE, FieldChange
from bot.domain.incidents.lifecycle import IncidentState, Lifecycle
from bot.domain.operations.storms import StormSummary
from bot.domain.reports.digest import Digest
from bot.domain.resolutions.nudge import Nudge
from bot.domain.resolutions.recurrence import QuestionedFix, RecurrenceAnswer
from bot.ports.chat import ChatMessage
from bot.slack import ids
from bot.slack.views.brief.layout import render_brief, render_recalled, render_superseded
from bot.slack.views.brief.sections import MAX_ID, format_verdict, join_parts
from bot.slack.views.channel import render_mute
from bot.slack.views.digest import render_digest
from bot.slack.views.forms import button
from bot.slack.views.markup import (
    actions,
    context,
    format_channel,
    format_time,
    format_user,
    header,
    link,
    prose,
    section,
)
from bot.slack.views.nudge import render_nudge
from bot.slack.views.recurrence import render_recurrence_answer, render_recurrence_question
from bot.slack.views.storm import render_storm
from bot.workflows.operations.status import StatusLine

MARKS = {True: ":white_check_mark:", False: ":x:", None: ":heavy_minus_sign:"}
COMMANDS = (
    ("/recall <text> [vendor: service: region: since: limit:]", "similar past incidents, shown to you only"),
    ("/resolve [INC-… or a message link]", "record what fixed an incident"),
    ("/incidents", "the open incidents you may see"),
    ("/digest [7d|30d]", "what recurs, shown to you only"),
    ("/precedent channel", "what is set for this channel, and changing it"),
    ("/precedent rules", "what is silenced or set aside here, with Undo"),
    ("/precedent edit|retract|purge INC-…", "correct a record, take it out of memory, or remove it for good"),
    ("/precedent report [30d]", "what became of the briefs: acted on, right or wrong, recorded"),
    ("/precedent sent INC-…", "exactly what a language model was sent about an incident"),
    ("/precedent status", "what the bot depends on, and whether it works"),
    ("/precedent help", "this text"),
)
CHANGED_LABELS = {ROOT_CAUSE: "*Root cause*", BOUNDARY: "*Fault*", FAILED_CHECKS: "*Wasted time*", LESSON: "*Lesson*"}
SHORTCUTS = (
    "In a thread use the message menu: *Record resolution* or *Recall similar*. Is a message the fix? React to it with "
    ":memo:, and I ask you whether to record it. Name me under a brief and ask: what now, what to skip, who fixed it last time, "
    "write the status update."
)


@dataclass(frozen=True, slots=True)
class OpenIncident:
    """An incident that is not resolved, as lists show it."""

    life: Lifecycle
    title: str


class SlackSurfaces:
    """The surfaces of `bot.ports.chat`, and those that only Slack's listeners need. Same value, same bytes."""

    def render_brief(self, brief: Brief, tell: str | None = None) -> ChatMessage:
        """The brief as the thread shows it; `tell` is mentioned."""
        return render_brief(brief, tell)

    def render_storm(self, said: StormSummary) -> ChatMessage:
        """The one message that tells of a storm's incidents."""
        return render_storm(said)

    def render_mute(self, mute: Mute) -> ChatMessage:
        """The line in the thread that says what was muted, by whom, until when."""
        return render_mute(mute)

    def render_correction(self, incident_id: str, what: str, *, same_advice: bool) -> ChatMessage:
        """The line in the thread of a brief that used a record which was corrected, retracted or purged."""
        return render_correction(incident_id, what, same_advice=same_advice)

    def render_repeat(self, brief: Brief, link: str | None) -> ChatMessage:
        """One line for a repeat that came as a new root."""
        return render_repeat(brief, link)

    def render_recorded(
        self, life: Lifecycle, summary: str, by: str, changed: Sequence[FieldChange] = ()
    ) -> ChatMessage:
        """The line in the thread that says what was recorded, by whom, and what it changed."""
        return render_recorded(life, summary, by, changed)

    def render_superseded(self, brief: Brief) -> ChatMessage:
        """A changed recommendation, as a new reply that marks the old one superseded."""
        return render_superseded(brief)

    def render_nudge(self, nudge: Nudge) -> ChatMessage:
        """The question what ended incidents that cleared with no recorded fix."""
        return render_nudge(nudge)

    def render_recurrence_question(self, asked: QuestionedFix) -> ChatMessage:
        """The question about a fix after which its alert fired again."""
        return render_recurrence_question(asked)

    def render_recurrence_answer(self, asked: QuestionedFix, answer: RecurrenceAnswer, by: str) -> ChatMessage:
        """The answer, in the place of the question."""
        return render_recurrence_answer(asked, answer, by)

    def render_digest(self, digest: Digest) -> ChatMessage:
        """The digest as the channel shows it."""
        return render_digest(digest)

    def render_recalled(self, brief: Brief, asked: str, limit: int = 5, by: str | None = None) -> ChatMessage:
        """The answer to a recall, for the asker's eyes, or shared `by` somebody; `asked` repeats the question and its
        filters."""
        return render_recalled(brief, asked, limit, by)

    def render_open_incidents(self, rows: Sequence[OpenIncident]) -> ChatMessage:
        """The open incidents."""
        return render_open_incidents(rows)

    def render_status(self, lines: Sequence[StatusLine]) -> ChatMessage:
        """How the bot is doing."""
        return ChatMessage("Status of Precedent", build_status_blocks(lines))

    def render_help(self, unknown: str | None = None) -> ChatMessage:
        """What can be asked of the bot; first what was not understood."""
        said = [f"I do not know “{prose(unknown, 40)}”."] if unknown else []
        return ChatMessage("How to use Precedent", (section("\n".join([*said, *format_help()])),))

    def render_recall_usage(self) -> ChatMessage:
        """How `/recall` is asked."""
        return render_note(
            "Say what is happening: `/recall payment 504 vendor:razorpay since:30d`. "
            "Filters: vendor: service: region: since: (30d, 12h or a date) limit: (1–10). "
            "`/recall vendor:razorpay` alone tells what is known of a vendor."
        )

    def render_hello(self, channel: str | None = None) -> ChatMessage:
        """What the bot says when it is invited to a channel."""
        return render_hello(channel)

    def render_home(self, lines: Sequence[StatusLine], rows: Sequence[OpenIncident]) -> ChatMessage:
        """The Home view's blocks."""
        return render_home(lines, rows)


MAX_STATUS_LINES = 64


def render_note(text: str) -> ChatMessage:
    """A sentence of our own (mrkdwn)."""
    return ChatMessage(text, (section(text),))


def render_apology(text: str) -> ChatMessage:
    """A sentence that may hold data, as a plain answer."""
    said = prose(text, 600)
    return ChatMessage(said, (section(said),))


def render_repeat(brief: Brief, url: str | None) -> ChatMessage:
    """Still the same incident: its brief is elsewhere."""
    incident = brief.incident
    name = prose(incident.incident_id, MAX_ID) if incident else "an open incident"
    fired = f", fired {incident.fired}×" if incident and incident.fired > 1 else ""
    where = link(url, "the brief is here") if url else "the brief is in its first thread"
    return ChatMessage(f"Still {name}{fired}: {format_verdict(brief)}", (section(f"Still *{name}*{fired}: {where}."),))


def render_recorded(life: Lifecycle, summary: str, by: str, changed: Sequence[FieldChange] = ()) -> ChatMessage:
    """What was recorded, by whom, and what it changed of an earlier record; the next alert will know."""
    name = prose(life.incident_id, MAX_ID)
    goes_on = " It stays open." if life.state is IncidentState.OPEN else ""
    text = f"*{name}* recorded by {format_user(by)}: {prose(summary, 400)}{goes_on and '.'}{goes_on}"
    lines = [text, *(format_change(CHANGED_LABELS[one.field], one) for one in changed if one.field in CHANGED_LABELS)]
    return ChatMessage(f"{name} recorded: {prose(summary, 100)}", (section("\n".join(lines)),))


def format_change(label: str, one: FieldChange) -> str:
    """A field before and after; `label` is mrkdwn."""
    before, after = (prose(text.replace("\n", "; "), 300) or "nothing" for text in (one.before, one.after))
    return f"{label}: {before} → {after}"


def render_correction(incident_id: str, what: str, *, same_advice: bool) -> ChatMessage:
    """What happened to a record that the brief above used, and what that means for its steps."""
    name, done = prose(incident_id, MAX_ID), prose(what, 50)
    means = "the recommendation stays as it is" if same_advice else "its steps above no longer count"
    text = f"*{name}* was {done}: {means}. The brief is computed anew."
    return ChatMessage(f"{name} was {done}: {means}.", (section(text),))


def format_status(lines: Iterable[StatusLine]) -> list[str]:
    """One line for each dependency."""
    return [f"{MARKS[line.ok]} *{prose(line.name, 30)}* {_format_status_detail(line)}" for line in lines]


def _format_status_detail(line: StatusLine) -> str:
    seen = (f"{format_channel(channel)} {format_time(at)}" for channel, at in line.channels)
    return ", ".join((*((prose(line.detail, 240),) if line.detail else ()), *seen))


def build_status_blocks(lines: Iterable[StatusLine]) -> tuple[Mapping[str, Any], ...]:
    """The status in as many sections as it needs: Slack takes 3,000 characters in each."""
    shown = ["*Status*", *format_status(lines)]
    return tuple(section("\n".join(shown[n : n + 8])) for n in range(0, min(len(shown), MAX_STATUS_LINES), 8))


def format_help() -> list[str]:
    """The commands and what they do."""
    lines = [f"• `{name.replace('<', '&lt;').replace('>', '&gt;')}` {what}" for name, what in COMMANDS]
    return ["*Precedent* answers alerts with what fixed them last time.", *lines, SHORTCUTS]


def render_hello(channel: str | None = None) -> ChatMessage:
    """The first words in a channel: what will happen, and what will not. The button names the channel, for the message
    may stand in another one."""
    text = (
        "I answer alerts here in their thread: what fixed them last time, what wasted time, and which incidents say so. "
        "When you have fixed one, press *Record…* and the next alert knows. Messages that are no alerts I do not keep."
    )
    value = ids.encode({"c": channel}) if channel else None
    ask = actions(ids.HELLO_ACTIONS, [button(ids.PREVIEW, "Preview on the last 50 alerts", value)])
    blocks = (section(text), ask, context("Only you see the preview. `/precedent help` shows the commands."))
    return ChatMessage("Precedent answers alerts in this channel.", blocks)


def render_open_incidents(rows: Sequence[OpenIncident]) -> ChatMessage:
    """The open incidents, newest first."""
    if not rows:
        return render_note("No open incidents that you may see from here.")
    return ChatMessage(
        f"{len(rows)} open incidents", (section("\n".join(["*Open incidents*", *format_open_incidents(rows)])),)
    )


def format_open_incidents(rows: Sequence[OpenIncident], most: int = 12) -> list[str]:
    """One line for each open incident."""
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


def render_home(lines: Sequence[StatusLine], rows: Sequence[OpenIncident]) -> ChatMessage:
    """Home: how the bot is doing, what is open in public channels, and how to use it."""
    blocks: list[Mapping[str, Any]] = [header("Precedent")]
    blocks += build_status_blocks(lines)
    blocks.append({"type": "divider"})
    open_text = format_open_incidents(rows) or ["None in public channels."]
    blocks.append(section("\n".join(["*Open incidents*", *open_text])))
    blocks.append({"type": "divider"})
    blocks.append(section("\n".join(format_help())))
    return ChatMessage("Precedent", tuple(blocks))
