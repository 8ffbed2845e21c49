"""Decisions as Slack messages: every message, ephemeral answer and the Home view. Pure.

Must not decide, fetch or send anything; what comes from data goes through `markup`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.domain.alerts.suppression import Mute
from bot.domain.brief.decide import Brief
from bot.domain.incidents.corrections import BOUNDARY, FAILED_CHECKS, LESSON, ROOT_CAUSE, Difference
from bot.domain.incidents.lifecycle import IncidentState, Life
from bot.domain.operations.storms import StormSummary
from bot.domain.reports.digest import Digest
from bot.domain.resolutions.nudge import Nudge
from bot.domain.resolutions.recurrence import Again, AskedFix
from bot.ports.chat import Message
from bot.slack import ids
from bot.slack.views.brief.layout import brief_message, changed_message, recalled_message
from bot.slack.views.brief.sections import MAX_ID, joined, verdict
from bot.slack.views.channel import muted_message
from bot.slack.views.digest import digest_message
from bot.slack.views.forms import button
from bot.slack.views.markup import actions, context, header, link, moment, person, place, prose, section
from bot.slack.views.nudge import nudge_message
from bot.slack.views.recurrence import again_answered_message, again_message
from bot.slack.views.storm import storm_message
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
CHANGED = {ROOT_CAUSE: "*Root cause*", BOUNDARY: "*Fault*", FAILED_CHECKS: "*Wasted time*", LESSON: "*Lesson*"}
SHORTCUTS = (
    "In a thread use the message menu: *Record resolution* or *Recall similar*. Is a message the fix? React to it with "
    ":memo:, and I ask you whether to record it. Name me under a brief and ask: what now, what to skip, who fixed it last time, "
    "write the status update."
)


@dataclass(frozen=True, slots=True)
class OpenIncident:
    """An incident that is not resolved, as lists show it."""

    life: Life
    title: str


class SlackSurfaces:
    """The surfaces of `bot.ports.chat`, and those that only Slack's listeners need. Same value, same bytes."""

    def brief(self, brief: Brief, tell: str | None = None) -> Message:
        """The brief as the thread shows it; `tell` is mentioned."""
        return brief_message(brief, tell)

    def storm(self, said: StormSummary) -> Message:
        """The one message that tells of a storm's incidents."""
        return storm_message(said)

    def muted(self, mute: Mute) -> Message:
        """The line in the thread that says what was muted, by whom, until when."""
        return muted_message(mute)

    def corrected(self, incident_id: str, what: str, *, same_advice: bool) -> Message:
        """The line in the thread of a brief that used a record which was corrected, retracted or purged."""
        return corrected(incident_id, what, same_advice=same_advice)

    def repeat_notice(self, brief: Brief, link: str | None) -> Message:
        """One line for a repeat that came as a new root."""
        return repeat_notice(brief, link)

    def recorded(self, life: Life, summary: str, by: str, changed: Sequence[Difference] = ()) -> Message:
        """The line in the thread that says what was recorded, by whom, and what it changed."""
        return recorded(life, summary, by, changed)

    def superseded(self, brief: Brief) -> Message:
        """A changed recommendation, as a new reply that marks the old one superseded."""
        return changed_message(brief)

    def nudge(self, nudge: Nudge) -> Message:
        """The question what ended incidents that cleared with no recorded fix."""
        return nudge_message(nudge)

    def fired_again(self, asked: AskedFix) -> Message:
        """The question about a fix after which its alert fired again."""
        return again_message(asked)

    def again_answered(self, asked: AskedFix, answer: Again, by: str) -> Message:
        """The answer, in the place of the question."""
        return again_answered_message(asked, answer, by)

    def digest(self, digest: Digest) -> Message:
        """The digest as the channel shows it."""
        return digest_message(digest)

    def precedents(self, brief: Brief, asked: str, limit: int = 5, by: str | None = None) -> Message:
        """The answer to a recall, for the asker's eyes, or shared `by` somebody; `asked` repeats the question and its
        filters."""
        return recalled_message(brief, asked, limit, by)

    def incidents(self, rows: Sequence[OpenIncident]) -> Message:
        """The open incidents."""
        return open_message(rows)

    def status(self, lines: Sequence[StatusLine]) -> Message:
        """How the bot is doing."""
        return Message("Status of Precedent", status_blocks(lines))

    def help(self, unknown: str | None = None) -> Message:
        """What can be asked of the bot; first what was not understood."""
        said = [f"I do not know “{prose(unknown, 40)}”."] if unknown else []
        return Message("How to use Precedent", (section("\n".join([*said, *help_lines()])),))

    def recall_usage(self) -> Message:
        """How `/recall` is asked."""
        return note(
            "Say what is happening: `/recall payment 504 vendor:razorpay since:30d`. "
            "Filters: vendor: service: region: since: (30d, 12h or a date) limit: (1–10). "
            "`/recall vendor:razorpay` alone tells what is known of a vendor."
        )

    def hello(self, channel: str | None = None) -> Message:
        """What the bot says when it is invited to a channel."""
        return hello(channel)

    def home(self, lines: Sequence[StatusLine], rows: Sequence[OpenIncident]) -> Message:
        """The Home view's blocks."""
        return home(lines, rows)


MOST_STATUS = 64


def note(text: str) -> Message:
    """A sentence of our own (mrkdwn)."""
    return Message(text, (section(text),))


def sorry(text: str) -> Message:
    """A sentence that may hold data, as a plain answer."""
    said = prose(text, 600)
    return Message(said, (section(said),))


def repeat_notice(brief: Brief, url: str | None) -> Message:
    """Still the same incident: its brief is elsewhere."""
    incident = brief.incident
    name = prose(incident.incident_id, MAX_ID) if incident else "an open incident"
    fired = f", fired {incident.fired}×" if incident and incident.fired > 1 else ""
    where = link(url, "the brief is here") if url else "the brief is in its first thread"
    return Message(f"Still {name}{fired}: {verdict(brief)}", (section(f"Still *{name}*{fired}: {where}."),))


def recorded(life: Life, summary: str, by: str, changed: Sequence[Difference] = ()) -> Message:
    """What was recorded, by whom, and what it changed of an earlier record; the next alert will know."""
    name = prose(life.incident_id, MAX_ID)
    goes_on = " It stays open." if life.state is IncidentState.OPEN else ""
    text = f"*{name}* recorded by {person(by)}: {prose(summary, 400)}{goes_on and '.'}{goes_on}"
    lines = [text, *(changed_line(CHANGED[one.field], one) for one in changed if one.field in CHANGED)]
    return Message(f"{name} recorded: {prose(summary, 100)}", (section("\n".join(lines)),))


def changed_line(label: str, one: Difference) -> str:
    """A field before and after; `label` is mrkdwn."""
    before, after = (prose(text.replace("\n", "; "), 300) or "nothing" for text in (one.before, one.after))
    return f"{label}: {before} → {after}"


def corrected(incident_id: str, what: str, *, same_advice: bool) -> Message:
    """What happened to a record that the brief above used, and what that means for its steps."""
    name, done = prose(incident_id, MAX_ID), prose(what, 50)
    means = "the recommendation stays as it is" if same_advice else "its steps above no longer count"
    text = f"*{name}* was {done}: {means}. The brief is computed anew."
    return Message(f"{name} was {done}: {means}.", (section(text),))


def status_lines(lines: Iterable[StatusLine]) -> list[str]:
    """One line for each dependency."""
    return [f"{MARKS[line.ok]} *{prose(line.name, 30)}* {_status_detail(line)}" for line in lines]


def _status_detail(line: StatusLine) -> str:
    seen = (f"{place(channel)} {moment(at)}" for channel, at in line.channels)
    return ", ".join((*((prose(line.detail, 240),) if line.detail else ()), *seen))


def status_blocks(lines: Iterable[StatusLine]) -> tuple[Mapping[str, Any], ...]:
    """The status in as many sections as it needs: Slack takes 3,000 characters in each."""
    shown = ["*Status*", *status_lines(lines)]
    return tuple(section("\n".join(shown[n : n + 8])) for n in range(0, min(len(shown), MOST_STATUS), 8))


def help_lines() -> list[str]:
    """The commands and what they do."""
    lines = [f"• `{name.replace('<', '&lt;').replace('>', '&gt;')}` {what}" for name, what in COMMANDS]
    return ["*Precedent* answers alerts with what fixed them last time.", *lines, SHORTCUTS]


def hello(channel: str | None = None) -> Message:
    """The first words in a channel: what will happen, and what will not. The button names the channel, for the message
    may stand in another one."""
    text = (
        "I answer alerts here in their thread: what fixed them last time, what wasted time, and which incidents say so. "
        "When you have fixed one, press *Record…* and the next alert knows. Messages that are no alerts I do not keep."
    )
    value = ids.encode({"c": channel}) if channel else None
    ask = actions(ids.HELLO_ACTIONS, [button(ids.PREVIEW, "Preview on the last 50 alerts", value)])
    blocks = (section(text), ask, context("Only you see the preview. `/precedent help` shows the commands."))
    return Message("Precedent answers alerts in this channel.", blocks)


def open_message(rows: Sequence[OpenIncident]) -> Message:
    """The open incidents, newest first."""
    if not rows:
        return note("No open incidents that you may see from here.")
    return Message(f"{len(rows)} open incidents", (section("\n".join(["*Open incidents*", *open_lines(rows)])),))


def open_lines(rows: Sequence[OpenIncident], most: int = 12) -> list[str]:
    """One line for each open incident."""
    lines = [
        joined(
            (
                f"• *{prose(r.life.incident_id, MAX_ID)}* {prose(r.title, 80)}",
                r.life.state.value,
                moment(r.life.opened_at),
                f"fired {r.life.fired}×" if r.life.fired > 1 else None,
            )
        )
        for r in rows[:most]
    ]
    return [*lines, f"+{len(rows) - most} more"] if len(rows) > most else lines


def home(lines: Sequence[StatusLine], rows: Sequence[OpenIncident]) -> Message:
    """Home: how the bot is doing, what is open in public channels, and how to use it."""
    blocks: list[Mapping[str, Any]] = [header("Precedent")]
    blocks += status_blocks(lines)
    blocks.append({"type": "divider"})
    open_text = open_lines(rows) or ["None in public channels."]
    blocks.append(section("\n".join(["*Open incidents*", *open_text])))
    blocks.append({"type": "divider"})
    blocks.append(section("\n".join(help_lines())))
    return Message("Precedent", tuple(blocks))
