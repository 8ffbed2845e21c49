"""Slash commands. Each listener: decode, ask a workflow, render, answer the asker alone.

Must not decide anything and must not catch: `bot.slack.app` has the one error handler.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.ports.chat import ChatMessage
from bot.ports.errors import IncidentNotFound, RecordRejected
from bot.slack.listeners import channel as agreements
from bot.slack.listeners import corrections, usefulness
from bot.slack.listeners.context import UseCases, list_open_incidents, require_viewer
from bot.slack.listeners.recall import answer_text
from bot.slack.listeners.recall_question import BoltCall, tell
from bot.slack.listeners.resolve import open_from_command, read_channel_id, read_incident_id
from bot.slack.views.hypothesis import render_sent
from bot.workflows.assistant.analyze import NOTHING_SENT

Body = Mapping[str, Any]
Command = Callable[[UseCases, Body], Awaitable[ChatMessage]]


async def recall(deps: UseCases, body: Body) -> ChatMessage:
    """`/recall`: similar past incidents, or what is known of a vendor, for the asker's eyes."""
    viewer = await require_viewer(deps.chat, read_channel_id(body))
    return await answer_text(deps, str(body.get("text") or ""), viewer)


async def show_digest(deps: UseCases, body: Body) -> ChatMessage:
    """`/digest [7d|30d]`: what recurs, for the asker's eyes."""
    viewer = await require_viewer(deps.chat, read_channel_id(body))
    now, said = deps.clock.now(), str(body.get("text") or "").strip().lower() or "7d"
    since = now - timedelta(days=usefulness.read_days(said, "/digest 7d or /digest 30d"))
    return deps.surfaces.render_digest(await deps.compose_digest(since, now, viewer, f"the last {said}"))


async def list_incidents(deps: UseCases, body: Body) -> ChatMessage:
    """`/incidents`: the open ones."""
    viewer = await require_viewer(deps.chat, read_channel_id(body))
    return deps.surfaces.render_open_incidents(await list_open_incidents(deps, viewer))


async def answer_precedent(deps: UseCases, body: Body) -> ChatMessage:
    """`/precedent help|status|channel|rules|report|sent`; what opens a modal is in `correcting`."""
    word = next(iter(str(body.get("text") or "help").split()), "help").lower()
    if word in SUBCOMMANDS:
        return await SUBCOMMANDS[word](deps, body)
    if word == "status":
        return deps.surfaces.render_status(await deps.status(await require_viewer(deps.chat, read_channel_id(body))))
    return deps.surfaces.render_help(None if word == "help" else word)


async def show_sent(deps: UseCases, body: Body) -> ChatMessage:
    """`/precedent sent INC-…`: exactly what went to a model about an incident."""
    said = " ".join(str(body.get("text") or "").split()[1:])
    if not said:
        raise RecordRejected("", "Say which incident: /precedent sent INC-7.")
    viewer, incident_id = await require_viewer(deps.chat, read_channel_id(body)), await read_incident_id(deps, said)
    if deps.show_sent is None:
        raise IncidentNotFound(NOTHING_SENT.format(incident_id))
    return render_sent(await deps.show_sent(incident_id, viewer))


SUBCOMMANDS: Mapping[str, Command] = {
    "channel": agreements.show_channel,
    "rules": agreements.show_rules,
    "report": usefulness.show_report,
    "sent": show_sent,
}
COMMANDS: Mapping[str, Command] = {
    "/recall": recall,
    "/digest": show_digest,
    "/incidents": list_incidents,
}


def register(app: AsyncApp, deps: UseCases) -> None:
    """Register the commands."""
    for name, command in COMMANDS.items():
        app.command(name)(_build_listener(deps, command))

    @app.command("/precedent")
    async def precedents_own(ack: BoltCall, body: dict[str, Any], client: Any, respond: BoltCall) -> None:
        await ack()
        if corrections.opens_modal(body):
            await corrections.open_from_command(deps, client, body)
        else:
            await tell(respond, await answer_precedent(deps, body))

    @app.command("/resolve")
    async def resolve(ack: BoltCall, body: dict[str, Any], client: Any) -> None:
        await ack()
        await open_from_command(deps, client, body)

    @app.command(re.compile("/.*"))
    async def unknown(ack: BoltCall, body: dict[str, Any], respond: BoltCall) -> None:
        await ack()
        await tell(respond, deps.surfaces.render_help(str(body.get("command"))))


def _build_listener(deps: UseCases, command: Command) -> Callable[..., Awaitable[None]]:
    async def listener(ack: BoltCall, body: dict[str, Any], respond: BoltCall) -> None:
        await ack()
        await tell(respond, await command(deps, body))

    return listener
