"""The answers to the question what ended an incident, pressed in a direct message. Listeners.

Must not decide anything: workflows do. Who may see the incident is asked for the channel of its brief, each time anew.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.incidents.lifecycle import IncidentState
from bot.ports.errors import RecordRejected
from bot.slack import ids
from bot.slack.listeners.context import UseCases, require_visible
from bot.slack.listeners.recall_question import BoltCall
from bot.slack.listeners.resolve import OPEN_WITHIN_S, load_resolve_view, read_trigger, read_user, record_suggested_fix
from bot.slack.views.brief.sections import MAX_ID
from bot.slack.views.markup import format_channel, prose
from bot.slack.views.nudge import BY_ITSELF, RECORD, STOP, WORKED, replace_buttons
from bot.workflows.resolutions.resolve import FixOutcome, RecordedResolution, Resolution

Body = Mapping[str, Any]
FIRES = "It fires again. Record what fixed it when it is over: *Record…* under its brief."
KNOWN = "Meanwhile a resolution of *{}* was recorded. Nothing was changed."


def register(app: AsyncApp, deps: UseCases) -> None:
    """Register the buttons; before the catch-alls."""

    @app.action(f"{ids.NUDGE}.{RECORD}")
    async def record(ack: BoltCall, body: dict[str, Any], action: dict[str, Any], client: Any) -> None:
        await ack()
        await open_modal(deps, client, body, str(action.get("value")))

    @app.action(re.compile(rf"{re.escape(ids.NUDGE)}\..*"))
    async def answered(ack: BoltCall, body: dict[str, Any], action: dict[str, Any], respond: BoltCall) -> None:
        await ack()
        value = str(action.get("value"))
        line = await answer(deps, body, str(action.get("action_id")), value)
        message = ids.read_object(body, "message")
        rows = message.get("blocks")
        incident_id = ids.read_text(ids.decode(value), "i") or ""
        blocks = replace_buttons(
            [b for b in rows if isinstance(b, Mapping)] if isinstance(rows, list) else [], incident_id, line
        )
        await respond(text=ids.read_text(message, "text") or line, blocks=blocks, replace_original=True)


async def open_modal(deps: UseCases, client: AsyncWebClient, body: Body, value: str) -> None:
    """ "Record…": the modal, as under the brief."""
    said, user = ids.decode(value), read_user(body)
    incident_id, channel = (ids.read_text(said, key) or "" for key in ("i", "c"))
    async with asyncio.timeout(OPEN_WITHIN_S):
        here = (b.root_ts for b in await deps.store.list_briefs(incident_id) if b.channel == channel)
        view = await load_resolve_view(deps, incident_id, channel, user, next(here, None))
        await client.views_open(trigger_id=read_trigger(body), view=view)


async def answer(deps: UseCases, body: Body, action_id: str, value: str) -> str:
    """Do what was answered; the line (mrkdwn) that says so. Raises what the workflows raise, RecordRejected where the alert
    fires again."""
    said, user = ids.decode(value), read_user(body)
    incident_id, channel = (ids.read_text(said, key) or "" for key in ("i", "c"))
    await require_visible(deps, incident_id, channel, user)
    act = _ANSWERS.get(action_id.removeprefix(f"{ids.NUDGE}."))
    if act is None:
        raise RecordRejected("", "This button is of an older message. /precedent help shows what I can do.")
    return await act(deps, body, incident_id, channel, value)


async def _record_suggested_fix(deps: UseCases, body: Body, incident_id: str, channel: str, value: str) -> str:
    await _refuse_while_open(deps, incident_id)
    return _format_recorded(await record_suggested_fix(deps, body, value, channel))


async def _record_by_itself(deps: UseCases, body: Body, incident_id: str, channel: str, value: str) -> str:
    """Whoever recorded more meanwhile knows better."""
    state = await _refuse_while_open(deps, incident_id)
    if state is IncidentState.RESOLVED:
        return KNOWN.format(prose(incident_id, MAX_ID))
    user = read_user(body)
    resolution = Resolution(FixOutcome.BY_ITSELF, incident_id, how="button")
    return _format_recorded(await deps.resolve(resolution, user, f"nudge:{incident_id}:{user}"))


async def _stop(deps: UseCases, body: Body, incident_id: str, channel: str, value: str) -> str:
    mute = await deps.agreed.stop_nudges(incident_id, channel, read_user(body))
    return f"No more of this about {prose(mute.shown, 150)}. `/precedent rules` in {format_channel(channel)} has Undo."


_ANSWERS: Mapping[str, Callable[[UseCases, Body, str, str, str], Awaitable[str]]] = {
    WORKED: _record_suggested_fix,
    BY_ITSELF: _record_by_itself,
    STOP: _stop,
}


async def _refuse_while_open(deps: UseCases, incident_id: str) -> IncidentState:
    state = (await deps.store.read_lifecycle(incident_id)).state
    if state is IncidentState.OPEN:
        raise RecordRejected("", FIRES.replace("*", ""))
    return state


def _format_recorded(recorded: RecordedResolution) -> str:
    more = f" {prose(recorded.unconfirmed, 400)}" if recorded.unconfirmed else ""
    return f"*{prose(recorded.incident.incident_id, MAX_ID)}* recorded: {prose(recorded.summary, 300)}.{more}"
