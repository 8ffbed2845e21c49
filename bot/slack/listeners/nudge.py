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
from bot.ports import RecordRejected
from bot.slack import ids
from bot.slack.listeners.context import Listening, require_visible
from bot.slack.listeners.recall_question import Answer
from bot.slack.listeners.resolve import OPEN_WITHIN_S, fixed, trigger_of, user_of, view_for
from bot.slack.views.brief.sections import MAX_ID
from bot.slack.views.markup import place, prose
from bot.slack.views.nudge import BY_ITSELF, RECORD, STOP, WORKED, settled
from bot.workflows.resolutions.resolve import Outcome, Recorded, Resolution

Body = Mapping[str, Any]
FIRES = "It fires again. Record what fixed it when it is over: *Record…* under its brief."
KNOWN = "Meanwhile a resolution of *{}* was recorded. Nothing was changed."


def listen(app: AsyncApp, deps: Listening) -> None:
    """Register the buttons; before the catch-alls."""

    @app.action(f"{ids.NUDGE}.{RECORD}")
    async def record(ack: Answer, body: dict[str, Any], action: dict[str, Any], client: Any) -> None:
        await ack()
        await open_modal(deps, client, body, str(action.get("value")))

    @app.action(re.compile(rf"{re.escape(ids.NUDGE)}\..*"))
    async def answered(ack: Answer, body: dict[str, Any], action: dict[str, Any], respond: Answer) -> None:
        await ack()
        value = str(action.get("value"))
        line = await answer(deps, body, str(action.get("action_id")), value)
        message = ids.object_of(body, "message")
        rows = message.get("blocks")
        incident_id = ids.text_of(ids.decode(value), "i") or ""
        blocks = settled(
            [b for b in rows if isinstance(b, Mapping)] if isinstance(rows, list) else [], incident_id, line
        )
        await respond(text=ids.text_of(message, "text") or line, blocks=blocks, replace_original=True)


async def open_modal(deps: Listening, client: AsyncWebClient, body: Body, value: str) -> None:
    """ "Record…": the modal, as under the brief."""
    said, user = ids.decode(value), user_of(body)
    incident_id, channel = (ids.text_of(said, key) or "" for key in ("i", "c"))
    async with asyncio.timeout(OPEN_WITHIN_S):
        here = (b.root_ts for b in await deps.store.briefs(incident_id) if b.channel == channel)
        view = await view_for(deps, incident_id, channel, user, next(here, None))
        await client.views_open(trigger_id=trigger_of(body), view=view)


async def answer(deps: Listening, body: Body, action_id: str, value: str) -> str:
    """Do what was answered; the line (mrkdwn) that says so. Raises what the workflows raise, RecordRejected where the alert
    fires again."""
    said, user = ids.decode(value), user_of(body)
    incident_id, channel = (ids.text_of(said, key) or "" for key in ("i", "c"))
    await require_visible(deps, incident_id, channel, user)
    act = _ANSWERS.get(action_id.removeprefix(f"{ids.NUDGE}."))
    if act is None:
        raise RecordRejected("", "This button is of an older message. /precedent help shows what I can do.")
    return await act(deps, body, incident_id, channel, value)


async def _worked(deps: Listening, body: Body, incident_id: str, channel: str, value: str) -> str:
    await _require_over(deps, incident_id)
    return _told(await fixed(deps, body, value, channel))


async def _by_itself(deps: Listening, body: Body, incident_id: str, channel: str, value: str) -> str:
    """Whoever recorded more meanwhile knows better."""
    state = await _require_over(deps, incident_id)
    if state is IncidentState.RESOLVED:
        return KNOWN.format(prose(incident_id, MAX_ID))
    user = user_of(body)
    resolution = Resolution(Outcome.BY_ITSELF, incident_id, how="button")
    return _told(await deps.resolve(resolution, user, f"nudge:{incident_id}:{user}"))


async def _stop(deps: Listening, body: Body, incident_id: str, channel: str, value: str) -> str:
    mute = await deps.agreed.stop_nudges(incident_id, channel, user_of(body))
    return f"No more of this about {prose(mute.shown, 150)}. `/precedent rules` in {place(channel)} has Undo."


_ANSWERS: Mapping[str, Callable[[Listening, Body, str, str, str], Awaitable[str]]] = {
    WORKED: _worked,
    BY_ITSELF: _by_itself,
    STOP: _stop,
}


async def _require_over(deps: Listening, incident_id: str) -> IncidentState:
    state = (await deps.store.life(incident_id)).state
    if state is IncidentState.OPEN:
        raise RecordRejected("", FIRES.replace("*", ""))
    return state


def _told(recorded: Recorded) -> str:
    more = f" {prose(recorded.unconfirmed, 400)}" if recorded.unconfirmed else ""
    return f"*{prose(recorded.incident.incident_id, MAX_ID)}* recorded: {prose(recorded.summary, 300)}.{more}"
