"""Slash commands. Each listener: decode, ask a workflow, render, answer the asker alone.

Must not decide anything and must not catch: `bot.slack.app` has the one error handler.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.ports import IncidentNotFound, RecordRejected
from bot.ports.chat import Message
from bot.slack.listeners import channel as agreements
from bot.slack.listeners import corrections, usefulness
from bot.slack.listeners.context import Listening, asker_in, open_incidents
from bot.slack.listeners.recall import looked_up
from bot.slack.listeners.recall_question import Answer, tell
from bot.slack.listeners.resolve import channel_id_of, named, open_from_command
from bot.slack.views.hypothesis import sent_message
from bot.workflows.assistant.analyse import NOTHING_SENT

Body = Mapping[str, Any]
Command = Callable[[Listening, Body], Awaitable[Message]]


async def recall(deps: Listening, body: Body) -> Message:
    """`/recall`: similar past incidents, or what is known of a vendor, for the asker's eyes."""
    viewer = await asker_in(deps.chat, channel_id_of(body))
    return await looked_up(deps, str(body.get("text") or ""), viewer)


async def digest(deps: Listening, body: Body) -> Message:
    """`/digest [7d|30d]`: what recurs, for the asker's eyes."""
    viewer = await asker_in(deps.chat, channel_id_of(body))
    now, said = deps.clock.now(), str(body.get("text") or "").strip().lower() or "7d"
    since = now - timedelta(days=usefulness.days_said(said, "/digest 7d or /digest 30d"))
    return deps.surfaces.digest(await deps.compose_digest(since, now, viewer, f"the last {said}"))


async def incidents(deps: Listening, body: Body) -> Message:
    """`/incidents`: the open ones."""
    viewer = await asker_in(deps.chat, channel_id_of(body))
    return deps.surfaces.incidents(await open_incidents(deps, viewer))


async def precedent(deps: Listening, body: Body) -> Message:
    """`/precedent help|status|channel|rules|report|sent`; what opens a modal is in `correcting`."""
    word = next(iter(str(body.get("text") or "help").split()), "help").lower()
    if word in AGREED:
        return await AGREED[word](deps, body)
    if word == "status":
        return deps.surfaces.status(await deps.status(await asker_in(deps.chat, channel_id_of(body))))
    return deps.surfaces.help(None if word == "help" else word)


async def sent(deps: Listening, body: Body) -> Message:
    """`/precedent sent INC-…`: exactly what went to a model about an incident."""
    said = " ".join(str(body.get("text") or "").split()[1:])
    if not said:
        raise RecordRejected("", "Say which incident: /precedent sent INC-7.")
    viewer, incident_id = await asker_in(deps.chat, channel_id_of(body)), await named(deps, said)
    if deps.show_sent is None:
        raise IncidentNotFound(NOTHING_SENT.format(incident_id))
    return sent_message(await deps.show_sent(incident_id, viewer))


AGREED: Mapping[str, Command] = {
    "channel": agreements.channel,
    "rules": agreements.rules,
    "report": usefulness.report,
    "sent": sent,
}
COMMANDS: Mapping[str, Command] = {
    "/recall": recall,
    "/digest": digest,
    "/incidents": incidents,
}


def listen(app: AsyncApp, deps: Listening) -> None:
    """Register the commands."""
    for name, command in COMMANDS.items():
        app.command(name)(_answering(deps, command))

    @app.command("/precedent")
    async def precedents_own(ack: Answer, body: dict[str, Any], client: Any, respond: Answer) -> None:
        await ack()
        if corrections.opens_modal(body):
            await corrections.open_from_command(deps, client, body)
        else:
            await tell(respond, await precedent(deps, body))

    @app.command("/resolve")
    async def resolve(ack: Answer, body: dict[str, Any], client: Any) -> None:
        await ack()
        await open_from_command(deps, client, body)

    @app.command(re.compile("/.*"))
    async def unknown(ack: Answer, body: dict[str, Any], respond: Answer) -> None:
        await ack()
        await tell(respond, deps.surfaces.help(str(body.get("command"))))


def _answering(deps: Listening, command: Command) -> Callable[..., Awaitable[None]]:
    async def listener(ack: Answer, body: dict[str, Any], respond: Answer) -> None:
        await ack()
        await tell(respond, await command(deps, body))

    return listener
