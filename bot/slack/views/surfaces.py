"""`bot.ports.chat.Surfaces` for Slack, and the short messages in threads that have no module of their own.

Pure: same value, same bytes. What comes from data goes through `markup`.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.domain.brief.decide import Brief
from bot.domain.incidents.corrections import BOUNDARY, FAILED_CHECKS, LESSON, ROOT_CAUSE, FieldChange
from bot.domain.incidents.lifecycle import IncidentState, Lifecycle
from bot.ports.chat import ChatMessage
from bot.slack.views.brief.layout import render_brief, render_recalled, render_superseded
from bot.slack.views.brief.sections import MAX_ID, format_verdict
from bot.slack.views.channel import render_mute
from bot.slack.views.digest import render_digest
from bot.slack.views.markup import format_user, link, prose, section
from bot.slack.views.nudge import render_nudge
from bot.slack.views.recurrence import render_recurrence_answer, render_recurrence_question
from bot.slack.views.storm import render_storm

CHANGED_LABELS = {ROOT_CAUSE: "*Root cause*", BOUNDARY: "*Fault*", FAILED_CHECKS: "*Wasted time*", LESSON: "*Lesson*"}


def render_note(text: str) -> ChatMessage:
    """Return a sentence of our own (mrkdwn)."""
    return ChatMessage(text, (section(text),))


def render_apology(text: str) -> ChatMessage:
    """Return a sentence that may hold data, as a plain answer."""
    return render_note(prose(text, 600))


def render_repeat(brief: Brief, url: str | None) -> ChatMessage:
    """Return one line for an alert that was posted again outside its thread: where its brief is."""
    incident = brief.incident
    name = prose(incident.incident_id, MAX_ID) if incident else "an open incident"
    fired = f", fired {incident.fired}×" if incident and incident.fired > 1 else ""
    where = link(url, "the brief is here") if url else "the brief is in its first thread"
    return ChatMessage(f"Still {name}{fired}: {format_verdict(brief)}", (section(f"Still *{name}*{fired}: {where}."),))


def render_recorded(life: Lifecycle, summary: str, by: str, changed: Sequence[FieldChange] = ()) -> ChatMessage:
    """Return what was recorded, by whom, and what it changed of an earlier record."""
    name = prose(life.incident_id, MAX_ID)
    goes_on = " It stays open." if life.state is IncidentState.OPEN else ""
    text = f"*{name}* recorded by {format_user(by)}: {prose(summary, 400)}{goes_on and '.'}{goes_on}"
    lines = [text, *(_format_change(CHANGED_LABELS[one.field], one) for one in changed if one.field in CHANGED_LABELS)]
    return ChatMessage(f"{name} recorded: {prose(summary, 100)}", (section("\n".join(lines)),))


def _format_change(label: str, one: FieldChange) -> str:
    before, after = (prose(text.replace("\n", "; "), 300) or "nothing" for text in (one.before, one.after))
    return f"{label}: {before} → {after}"


def render_correction(incident_id: str, what: str, *, same_advice: bool) -> ChatMessage:
    """Return what happened to a record that the brief above used, and what that means for its steps."""
    name, done = prose(incident_id, MAX_ID), prose(what, 50)
    means = "the recommendation stays as it is" if same_advice else "its steps above no longer count"
    text = f"*{name}* was {done}: {means}. The brief is computed anew."
    return ChatMessage(f"{name} was {done}: {means}.", (section(text),))


class SlackSurfaces:
    """`bot.ports.surfaces.Surfaces`, each message from its own module, and `render_recalled` for the answers of
    memory."""

    render_brief = staticmethod(render_brief)
    render_superseded = staticmethod(render_superseded)
    render_recalled = staticmethod(render_recalled)
    render_repeat = staticmethod(render_repeat)
    render_recorded = staticmethod(render_recorded)
    render_correction = staticmethod(render_correction)
    render_mute = staticmethod(render_mute)
    render_storm = staticmethod(render_storm)
    render_digest = staticmethod(render_digest)
    render_nudge = staticmethod(render_nudge)
    render_recurrence_question = staticmethod(render_recurrence_question)
    render_recurrence_answer = staticmethod(render_recurrence_answer)
