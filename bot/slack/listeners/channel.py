"""What people agree on in a channel: its settings, mutes, "not an alert", and undoing. Listeners and commands.

Must not decide anything: workflows do. Who may act is asked again when a modal is submitted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.ports import NotAllowedHere, RecordRejected
from bot.ports.chat import Message
from bot.slack import ids
from bot.slack.listeners import postmortem
from bot.slack.listeners.context import Listening, asker_in, require_member, require_visible
from bot.slack.listeners.details import compare_view
from bot.slack.listeners.recall_question import Answer, tell
from bot.slack.listeners.resolve import OPEN_WITHIN_S, UNREADABLE, channel_id_of, trigger_of, user_of
from bot.slack.views.channel import channel_message, rules_message
from bot.slack.views.channel_modal import channel_view, read_channel
from bot.slack.views.forms import View
from bot.slack.views.silence_modals import mute_view, not_alert_view, read_mute, read_reach
from bot.slack.views.wrong_precedent_modal import read_wrong, wrong_view
from bot.workflows.channels.silences import Answered

Body = Mapping[str, Any]


async def channel(deps: Listening, body: Body) -> Message:
    """`/precedent channel`: what is set here."""
    return channel_message(await deps.agreed.show(channel_id_of(body), user_of(body)))


async def rules(deps: Listening, body: Body) -> Message:
    """`/precedent rules [page]`: what is silenced here."""
    await asker_in(deps.chat, channel_id_of(body))
    page = next(iter(str(body.get("text") or "").split()[1:]), "1")
    if not page.isascii() or not page.isdigit() or not 1 <= int(page[:6]) <= 1000:
        raise RecordRejected("", "Say which page: /precedent rules 2.")
    asides = await deps.agreed.wrong.listed(channel_id_of(body))
    return rules_message(await deps.agreed.silences(channel_id_of(body)), int(page), asides)


def listen(app: AsyncApp, deps: Listening) -> None:
    """Register buttons, menus and modals; before the catch-alls."""
    _buttons(app, deps)
    _modals(app, deps)


def _buttons(app: AsyncApp, deps: Listening) -> None:
    @app.action(ids.MORE)
    async def more(ack: Answer, body: dict[str, Any], action: dict[str, Any], client: Any, respond: Answer) -> None:
        await ack()
        said = ids.decode(ids.text_of(ids.object_of(action, "selected_option"), "value"))
        if said.get("do") == ids.POSTMORTEM:
            await tell(respond, await postmortem.asked(deps, client, body, ids.text_of(said, "i") or ""))
            return
        async with asyncio.timeout(OPEN_WITHIN_S):
            view = await menu_view(deps, body, said)
            await client.views_open(trigger_id=trigger_of(body), view=view)

    @app.action(ids.CHANGE_CHANNEL)
    async def change(ack: Answer, body: dict[str, Any], client: Any) -> None:
        await ack()
        async with asyncio.timeout(OPEN_WITHIN_S):
            view = await settings_view(deps, body)
            await client.views_open(trigger_id=trigger_of(body), view=view)

    @app.action(ids.UNDO)
    async def undo(ack: Answer, body: dict[str, Any], action: dict[str, Any], respond: Answer) -> None:
        await ack()
        message = await undone(deps, body, ids.decode(action.get("value")))
        blocks = [dict(b) for b in message.blocks]
        await respond(text=message.text, blocks=blocks, response_type="ephemeral", replace_original=True)


def _modals(app: AsyncApp, deps: Listening) -> None:
    @app.view(ids.CHANNEL_VIEW)
    async def channel_set(ack: Answer, body: dict[str, Any]) -> None:
        await set_channel(deps, body)
        await ack()

    @app.view(ids.MUTE_VIEW)
    async def muted(ack: Answer, body: dict[str, Any]) -> None:
        await mute(deps, body)
        await ack()

    @app.view(ids.NOT_ALERT_VIEW)
    async def not_alert(ack: Answer, body: dict[str, Any]) -> None:
        await dismiss(deps, body)
        await ack()

    @app.view(ids.WRONG_VIEW)
    async def wrong(ack: Answer, body: dict[str, Any]) -> None:
        await set_aside(deps, body)
        await ack()


async def menu_view(deps: Listening, body: Body, said: Mapping[str, Any]) -> View:
    """The modal that an entry of a brief's menu opens."""
    incident_id, channel_id = ids.text_of(said, "i") or "", channel_id_of(body)
    if said.get("do") == ids.COMPARE:
        return await compare_view(deps, body, incident_id)
    answered = await _answered(deps, incident_id, channel_id, user_of(body))
    metadata = {"i": incident_id, "c": channel_id}
    if said.get("do") == ids.WRONG:
        listed = await deps.agreed.wrong.form(incident_id, channel_id, await asker_in(deps.chat, channel_id))
        if not listed.lines:
            raise RecordRejected("", "This brief lists no past incident any more.")
        return wrong_view(listed, metadata)
    if said.get("do") == ids.MUTE:
        return mute_view(answered, metadata, await deps.agreed.show.zone(channel_id))
    if said.get("do") == ids.NOT_ALERT:
        return not_alert_view(answered, metadata)
    raise RecordRejected("", "This menu is of an older message. /precedent help shows what I can do.")


async def settings_view(deps: Listening, body: Body) -> View:
    """The modal of the channel's settings; raises NotAllowedHere for those who may not set them."""
    channel_id, user = channel_id_of(body), user_of(body)
    await require_member(deps.chat, channel_id, user)
    view = await deps.agreed.show(channel_id, user)
    if not view.may.allowed:
        raise NotAllowedHere(view.may.refusal)
    return channel_view(view, {"c": channel_id})


async def undone(deps: Listening, body: Body, said: Mapping[str, Any]) -> Message:
    """End a rule or a mute; what is silenced then."""
    channel_id, user, number = channel_id_of(body), user_of(body), said.get("n")
    await require_member(deps.chat, channel_id, user)
    kind, number = ids.text_of(said, "k") or "", number if isinstance(number, int) else 0
    if kind == ids.ASIDE:
        await deps.agreed.wrong.take_back(number, channel_id, user)
        house = await deps.agreed.silences(channel_id)
    else:
        house = await deps.agreed.undo(kind, number, channel_id, user)
    return rules_message(house, 1, await deps.agreed.wrong.listed(channel_id))


async def set_channel(deps: Listening, body: Body) -> None:
    """Save the settings. Raises what `ChangeChannel` raises, RecordRejected with the field."""
    submitted = _submitted(body)
    settings, pool = read_channel(submitted.view)
    await require_member(deps.chat, submitted.channel_id, submitted.user)
    await deps.agreed.change(submitted.channel_id, submitted.user, settings, pool)


async def mute(deps: Listening, body: Body) -> None:
    """Mute as asked. Raises what `MuteAlerts` raises, RecordRejected with the field."""
    said = _submitted(body)
    answered = await _answered(deps, said.incident_id, said.channel_id, said.user)
    zone = await deps.agreed.show.zone(said.channel_id)
    form = read_mute(said.view, deps.clock.now(), zone)
    await deps.agreed.mute(answered, said.channel_id, said.user, form.what, form.until, form.reason, said.view_id)


async def dismiss(deps: Listening, body: Body) -> None:
    """Delete the brief, dismiss, and learn as asked. Raises what `NotAnAlert` raises."""
    said = _submitted(body)
    answered = await _answered(deps, said.incident_id, said.channel_id, said.user)
    await deps.agreed.not_alert(answered, said.channel_id, said.user, read_reach(said.view))


async def set_aside(deps: Listening, body: Body) -> None:
    """Set a precedent aside as asked. Raises what `WrongPrecedent` raises, RecordRejected with the field."""
    said = _submitted(body)
    await _answered(deps, said.incident_id, said.channel_id, said.user)
    viewer, wrong = await asker_in(deps.chat, said.channel_id), read_wrong(said.view)
    await deps.agreed.wrong(said.incident_id, said.channel_id, viewer, said.user, wrong, said.view_id)


@dataclass(frozen=True, slots=True)
class _Submission:
    view: Mapping[str, Any]
    view_id: str
    user: str
    channel_id: str
    incident_id: str


def _submitted(body: Body) -> _Submission:
    view = ids.object_of(body, "view")
    metadata, view_id = ids.decode(view.get("private_metadata")), ids.text_of(view, "id")
    if view_id is None:
        raise RecordRejected("", UNREADABLE)
    channel_id, incident_id = (ids.text_of(metadata, key) or "" for key in ("c", "i"))
    return _Submission(view, view_id, user_of(body), channel_id, incident_id)


async def _answered(deps: Listening, incident_id: str, channel_id: str, user: str) -> Answered:
    await require_visible(deps, incident_id, channel_id, user)
    return await deps.agreed.find(incident_id, channel_id)
