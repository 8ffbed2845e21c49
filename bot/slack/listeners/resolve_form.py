"""Buttons inside the resolve modal: fill in what people wrote in the thread, and show the fields that are seldom needed.

A thread is read only when somebody asks for it. Nothing of it is stored: it goes into the modal, where the person sees it
and decides.
"""

from __future__ import annotations

from bot.ports.errors import ChatRejected, ChatUnavailable
from bot.slack.listeners.context import UseCases
from bot.slack.listeners.interaction import Interaction
from bot.slack.payload import read_ts
from bot.slack.views.forms import View
from bot.slack.views.resolve_form import NO_THREAD, add_more_fields, add_note, fill_lines

FAILED = "The thread could not be read: {} What you typed is still here."


async def fill_from_thread(uses: UseCases, it: Interaction) -> None:
    """Put what people wrote in the thread behind what was typed, or say why there is nothing. Raises IncidentNotFound,
    NotAllowedHere for a person who may not see it (any more)."""
    await it.replace(await _load_filled(uses, it))


async def _load_filled(uses: UseCases, it: Interaction) -> View:
    incident_id, channel_id = it.place
    try:
        if incident_id:
            await uses.access.require_visible(incident_id, channel_id, it.user)
        else:
            await uses.access.require_member(channel_id, it.user)
        messages = await uses.read_thread(incident_id, channel_id, read_ts(it.metadata))
    except (ChatRejected, ChatUnavailable) as problem:
        return add_note(it.view, FAILED.format(problem))
    if messages is None:
        return add_note(it.view, NO_THREAD)
    return fill_lines(it.view, it.answer, messages)


async def show_more_fields(uses: UseCases, it: Interaction) -> None:
    """Show the fields that are seldom needed."""
    await it.replace(add_more_fields(it.view))
