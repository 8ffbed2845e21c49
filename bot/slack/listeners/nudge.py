"""Answer the buttons of the question what ended an incident, which are pressed in a direct message.

Who may see the incident is asked for the channel of its brief, which the buttons carry.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from bot.domain.incidents.lifecycle import IncidentState
from bot.ports.errors import RecordRejected
from bot.slack.listeners.context import UseCases
from bot.slack.listeners.interaction import Interaction
from bot.slack.listeners.resolve import load_resolve_view, record_suggested_fix
from bot.slack.payload import read_object, read_objects, read_text
from bot.slack.views.brief.sections import MAX_ID
from bot.slack.views.forms import View
from bot.slack.views.markup import format_channel, prose
from bot.slack.views.nudge import BY_ITSELF, STOP, WORKED, format_recorded, replace_buttons
from bot.workflows.resolutions.resolve import FixOutcome, Resolution

KNOWN = "Meanwhile a resolution of *{}* was recorded. Nothing was changed."
OLD = "This button is of an older message. /precedent help shows what I can do."


async def open_resolve(uses: UseCases, it: Interaction) -> None:
    """Open the modal behind "Record…", as under the brief."""
    await it.open(_load_view(uses, it))


async def _load_view(uses: UseCases, it: Interaction) -> View:
    channel_id = read_text(it.value, "c") or ""
    root = await uses.read_thread.find_root(it.incident_id, channel_id)
    return await load_resolve_view(uses, it.incident_id, channel_id, it.user, root)


async def answer(uses: UseCases, it: Interaction) -> None:
    """Do what was answered, and put a line that says so in the place of the buttons. Raises what the use cases raise,
    RecordRejected where the alert fires again."""
    channel_id = read_text(it.value, "c") or ""
    await uses.access.require_visible(it.incident_id, channel_id, it.user)
    act = ANSWERS.get(it.answer)
    if act is None:
        raise RecordRejected("", OLD)
    line = await act(uses, it, channel_id)
    message = read_object(it.body, "message")
    blocks = replace_buttons(read_objects(message, "blocks"), it.incident_id, line)
    await it.respond(text=read_text(message, "text") or line, blocks=blocks, replace_original=True)


async def _record_suggested(uses: UseCases, it: Interaction, channel_id: str) -> str:
    await uses.require_over(it.incident_id)
    return format_recorded(await record_suggested_fix(uses, it, channel_id))


async def _record_by_itself(uses: UseCases, it: Interaction, channel_id: str) -> str:
    # A person who recorded a resolution meanwhile knows better.
    if await uses.require_over(it.incident_id) is IncidentState.RESOLVED:
        return KNOWN.format(prose(it.incident_id, MAX_ID))
    resolution = Resolution(FixOutcome.BY_ITSELF, it.incident_id, how="button")
    return format_recorded(await uses.resolve(resolution, it.user, f"nudge:{it.incident_id}:{it.user}"))


async def _stop(uses: UseCases, it: Interaction, channel_id: str) -> str:
    mute = await uses.channels.stop_nudges(it.incident_id, channel_id, it.user)
    where = format_channel(channel_id)
    return f"No more of this about {prose(mute.shown, 150)}. `/precedent rules` in {where} has Undo."


ANSWERS: Mapping[str, Callable[[UseCases, Interaction, str], Awaitable[str]]] = {
    WORKED: _record_suggested,
    BY_ITSELF: _record_by_itself,
    STOP: _stop,
}
