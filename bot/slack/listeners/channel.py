"""What people agree on in a channel: its settings, mutes, "not an alert", and undoing. Listeners and commands.

Must not decide anything: workflows do. Who may act is asked again when a modal is submitted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.ports.chat import ChatMessage
from bot.ports.errors import NotAllowedHere, RecordRejected
from bot.slack import ids
from bot.slack.listeners import postmortem
from bot.slack.listeners.context import UseCases, require_member, require_viewer, require_visible
from bot.slack.listeners.details import load_compare_view
from bot.slack.listeners.recall_question import BoltCall, tell
from bot.slack.listeners.resolve import OPEN_WITHIN_S, UNREADABLE, read_channel_id, read_trigger, read_user
from bot.slack.views.channel import render_channel, render_rules
from bot.slack.views.channel_modal import build_channel_view, read_channel_settings
from bot.slack.views.forms import View
from bot.slack.views.silence_modals import build_mute_view, build_not_alert_view, read_mute, read_reach
from bot.slack.views.wrong_precedent_modal import build_wrong_view, read_wrong_precedent
from bot.workflows.channels.silences import AnsweredAlert

Body = Mapping[str, Any]


async def show_channel(deps: UseCases, body: Body) -> ChatMessage:
    """`/precedent channel`: what is set here."""
    return render_channel(await deps.agreed.show(read_channel_id(body), read_user(body)))


async def show_rules(deps: UseCases, body: Body) -> ChatMessage:
    """`/precedent rules [page]`: what is silenced here."""
    await require_viewer(deps.chat, read_channel_id(body))
    page = next(iter(str(body.get("text") or "").split()[1:]), "1")
    if not page.isascii() or not page.isdigit() or not 1 <= int(page[:6]) <= 1000:
        raise RecordRejected("", "Say which page: /precedent rules 2.")
    asides = await deps.agreed.wrong.list_dismissed(read_channel_id(body))
    return render_rules(await deps.agreed.silences(read_channel_id(body)), int(page), asides)


def register(app: AsyncApp, deps: UseCases) -> None:
    """Register buttons, menus and modals; before the catch-alls."""
    _register_buttons(app, deps)
    _register_modals(app, deps)


def _register_buttons(app: AsyncApp, deps: UseCases) -> None:
    @app.action(ids.MORE)
    async def more(ack: BoltCall, body: dict[str, Any], action: dict[str, Any], client: Any, respond: BoltCall) -> None:
        await ack()
        said = ids.decode(ids.read_text(ids.read_object(action, "selected_option"), "value"))
        if said.get("do") == ids.POSTMORTEM:
            await tell(respond, await postmortem.ask_postmortem(deps, client, body, ids.read_text(said, "i") or ""))
            return
        async with asyncio.timeout(OPEN_WITHIN_S):
            view = await load_menu_view(deps, body, said)
            await client.views_open(trigger_id=read_trigger(body), view=view)

    @app.action(ids.CHANGE_CHANNEL)
    async def change(ack: BoltCall, body: dict[str, Any], client: Any) -> None:
        await ack()
        async with asyncio.timeout(OPEN_WITHIN_S):
            view = await load_settings_view(deps, body)
            await client.views_open(trigger_id=read_trigger(body), view=view)

    @app.action(ids.UNDO)
    async def undo(ack: BoltCall, body: dict[str, Any], action: dict[str, Any], respond: BoltCall) -> None:
        await ack()
        message = await undo_silence(deps, body, ids.decode(action.get("value")))
        blocks = [dict(b) for b in message.blocks]
        await respond(text=message.text, blocks=blocks, response_type="ephemeral", replace_original=True)


def _register_modals(app: AsyncApp, deps: UseCases) -> None:
    @app.view(ids.CHANNEL_VIEW)
    async def channel_set(ack: BoltCall, body: dict[str, Any]) -> None:
        await set_channel(deps, body)
        await ack()

    @app.view(ids.MUTE_VIEW)
    async def muted(ack: BoltCall, body: dict[str, Any]) -> None:
        await mute(deps, body)
        await ack()

    @app.view(ids.NOT_ALERT_VIEW)
    async def not_alert(ack: BoltCall, body: dict[str, Any]) -> None:
        await dismiss_alert(deps, body)
        await ack()

    @app.view(ids.WRONG_VIEW)
    async def wrong(ack: BoltCall, body: dict[str, Any]) -> None:
        await dismiss_precedent(deps, body)
        await ack()


async def load_menu_view(deps: UseCases, body: Body, said: Mapping[str, Any]) -> View:
    """The modal that an entry of a brief's menu opens."""
    incident_id, channel_id = ids.read_text(said, "i") or "", read_channel_id(body)
    if said.get("do") == ids.COMPARE:
        return await load_compare_view(deps, body, incident_id)
    answered = await _find_answered(deps, incident_id, channel_id, read_user(body))
    metadata = {"i": incident_id, "c": channel_id}
    if said.get("do") == ids.WRONG:
        listed = await deps.agreed.wrong.open_form(incident_id, channel_id, await require_viewer(deps.chat, channel_id))
        if not listed.lines:
            raise RecordRejected("", "This brief lists no past incident any more.")
        return build_wrong_view(listed, metadata)
    if said.get("do") == ids.MUTE:
        return build_mute_view(answered, metadata, await deps.agreed.show.find_zone(channel_id))
    if said.get("do") == ids.NOT_ALERT:
        return build_not_alert_view(answered, metadata)
    raise RecordRejected("", "This menu is of an older message. /precedent help shows what I can do.")


async def load_settings_view(deps: UseCases, body: Body) -> View:
    """The modal of the channel's settings; raises NotAllowedHere for those who may not set them."""
    channel_id, user = read_channel_id(body), read_user(body)
    await require_member(deps.chat, channel_id, user)
    view = await deps.agreed.show(channel_id, user)
    if not view.may.allowed:
        raise NotAllowedHere(view.may.refusal)
    return build_channel_view(view, {"c": channel_id})


async def undo_silence(deps: UseCases, body: Body, said: Mapping[str, Any]) -> ChatMessage:
    """End a rule or a mute; what is silenced then."""
    channel_id, user, number = read_channel_id(body), read_user(body), said.get("n")
    await require_member(deps.chat, channel_id, user)
    kind, number = ids.read_text(said, "k") or "", number if isinstance(number, int) else 0
    if kind == ids.DISMISSED:
        await deps.agreed.wrong.take_back(number, channel_id, user)
        house = await deps.agreed.silences(channel_id)
    else:
        house = await deps.agreed.undo(kind, number, channel_id, user)
    return render_rules(house, 1, await deps.agreed.wrong.list_dismissed(channel_id))


async def set_channel(deps: UseCases, body: Body) -> None:
    """Save the settings. Raises what `ChangeChannel` raises, RecordRejected with the field."""
    submitted = _read_submission(body)
    settings, pool = read_channel_settings(submitted.view)
    await require_member(deps.chat, submitted.channel_id, submitted.user)
    await deps.agreed.change(submitted.channel_id, submitted.user, settings, pool)


async def mute(deps: UseCases, body: Body) -> None:
    """Mute as asked. Raises what `MuteAlerts` raises, RecordRejected with the field."""
    said = _read_submission(body)
    answered = await _find_answered(deps, said.incident_id, said.channel_id, said.user)
    zone = await deps.agreed.show.find_zone(said.channel_id)
    form = read_mute(said.view, deps.clock.now(), zone)
    await deps.agreed.mute(answered, said.channel_id, said.user, form.what, form.until, form.reason, said.view_id)


async def dismiss_alert(deps: UseCases, body: Body) -> None:
    """Delete the brief, dismiss, and learn as asked. Raises what `NotAnAlert` raises."""
    said = _read_submission(body)
    answered = await _find_answered(deps, said.incident_id, said.channel_id, said.user)
    await deps.agreed.not_alert(answered, said.channel_id, said.user, read_reach(said.view))


async def dismiss_precedent(deps: UseCases, body: Body) -> None:
    """Set a precedent aside as asked. Raises what `WrongPrecedent` raises, RecordRejected with the field."""
    said = _read_submission(body)
    await _find_answered(deps, said.incident_id, said.channel_id, said.user)
    viewer, wrong = await require_viewer(deps.chat, said.channel_id), read_wrong_precedent(said.view)
    await deps.agreed.wrong(said.incident_id, said.channel_id, viewer, said.user, wrong, said.view_id)


@dataclass(frozen=True, slots=True)
class _Submission:
    view: Mapping[str, Any]
    view_id: str
    user: str
    channel_id: str
    incident_id: str


def _read_submission(body: Body) -> _Submission:
    view = ids.read_object(body, "view")
    metadata, view_id = ids.decode(view.get("private_metadata")), ids.read_text(view, "id")
    if view_id is None:
        raise RecordRejected("", UNREADABLE)
    channel_id, incident_id = (ids.read_text(metadata, key) or "" for key in ("c", "i"))
    return _Submission(view, view_id, read_user(body), channel_id, incident_id)


async def _find_answered(deps: UseCases, incident_id: str, channel_id: str, user: str) -> AnsweredAlert:
    await require_visible(deps, incident_id, channel_id, user)
    return await deps.agreed.find(incident_id, channel_id)
