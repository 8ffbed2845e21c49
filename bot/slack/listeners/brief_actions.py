"""Buttons under a brief that act at once."""

from __future__ import annotations

from bot.domain.resolutions.recurrence import RecurrenceAnswer
from bot.slack.listeners.context import UseCases
from bot.slack.listeners.interaction import Interaction
from bot.slack.listeners.resolve import record_suggested_fix
from bot.slack.payload import read_text
from bot.slack.views.brief.sections import MAX_ID
from bot.slack.views.markup import prose
from bot.slack.views.resolve_modal import render_recorded_note
from bot.slack.views.surfaces import render_note

ANSWERED_BEFORE = "Somebody has answered this already; the first answer stands. To change it, record the outcome again."
FILES_SCOPE = "files:write"
NO_SCOPE = (
    "I cannot post files: the app lacks the scope files:write. Add it under OAuth & Permissions and reinstall the app; "
    "until then the operator has `precedent export --postmortem`."
)


async def confirm_fix(uses: UseCases, it: Interaction) -> None:
    """Record "This fixed it"."""
    recorded = await record_suggested_fix(uses, it, it.channel_id)
    if message := render_recorded_note(recorded, it.user):
        await it.whisper(message)


async def keep_apart(uses: UseCases, it: Interaction) -> None:
    """Record "Not the same", by a person who may see both incidents from here."""
    one, other = (read_text(it.value, key) or "" for key in ("i", "o"))
    for incident_id in (one, other):
        await uses.access.require_visible(incident_id, it.channel_id, it.user)
    await uses.keep_apart(one, other, it.user)


async def answer_recurrence(uses: UseCases, it: Interaction) -> None:
    """Record what a fix was after which its alert fired again; the first answer counts."""
    number, answer = it.value.get("n"), read_text(it.value, "a")
    await uses.access.require_visible(it.incident_id, it.channel_id, it.user)
    # An unknown answer is one of an older button: then nothing is recorded, either.
    is_recorded = (
        isinstance(number, int)
        and answer in set(RecurrenceAnswer)
        and await uses.answer_recurrence(it.incident_id, number, RecurrenceAnswer(answer or ""), it.user)
    )
    if not is_recorded:
        await it.whisper(render_note(ANSWERED_BEFORE))


async def request_postmortem(uses: UseCases, it: Interaction) -> None:
    """Queue the post-mortem as a file in the incident's thread, and say so."""
    await uses.access.require_reader(it.incident_id, it.channel_id, it.user)
    scopes = (await it.client.auth_test()).headers.get("x-oauth-scopes") or FILES_SCOPE
    if FILES_SCOPE not in [scope.strip() for scope in scopes.split(",")]:
        await it.whisper(render_note(NO_SCOPE))
        return
    name = prose(it.incident_id, MAX_ID)
    if await uses.request_postmortem(it.incident_id, it.channel_id, it.user):
        text = f"The post-mortem of *{name}* comes as a file in its thread, with what people said there."
    else:
        text = f"The post-mortem of *{name}* is in its thread already; nothing was recorded since."
    await it.whisper(render_note(text))
