"""Buttons, message shortcuts and modals. Each listener: decode, ask a workflow, answer.

Must not decide anything and must not catch: `bot.slack.app` has the one error handler. A modal is acknowledged after its
record is durable; everything else at once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.domain.alerts.alert import Alert
from bot.domain.incidents.opening import describe_symptoms
from bot.domain.resolutions.recurrence import RecurrenceAnswer
from bot.domain.text.redaction import mask
from bot.slack import ids
from bot.slack.listeners.context import UseCases, require_viewer, require_visible
from bot.slack.listeners.recall_question import MAX_TEXT, BoltCall, RecallQuestion, answer_question, tell
from bot.slack.listeners.resolve import (
    build_event,
    find_incident,
    load_picked_view,
    open_from_button,
    open_from_message,
    read_attempts_shown,
    read_channel_id,
    read_message,
    read_user,
    record_submission,
    record_suggested_fix,
)
from bot.slack.views.markup import clean, decode_text
from bot.slack.views.recorded import build_recorded_view, render_recorded_note
from bot.slack.views.surfaces import render_note

OLD_BUTTON = "This button belongs to an older message and does nothing any more. `/precedent help` shows what I can do."
ANSWERED_BEFORE = "Somebody has answered this already; the first answer stands. To change it, record the outcome again."
NO_TEXT = "This message has no text to recall by. Use `/recall` and say what is happening."


def register(app: AsyncApp, deps: UseCases) -> None:
    """Register buttons, shortcuts and modals."""
    _register_buttons(app, deps)
    _register_shortcuts(app, deps)
    _register_modals(app, deps)


def _register_buttons(app: AsyncApp, deps: UseCases) -> None:
    @app.action(ids.FIXED)
    async def this_fixed_it(ack: BoltCall, body: dict[str, Any], action: dict[str, Any], respond: BoltCall) -> None:
        await ack()
        recorded = await record_suggested_fix(deps, body, str(action.get("value")))
        if message := render_recorded_note(recorded, read_user(body)):
            await tell(respond, message)

    @app.action(ids.RECORD)
    async def record(ack: BoltCall, body: dict[str, Any], action: dict[str, Any], client: Any) -> None:
        await ack()
        await open_from_button(deps, client, body, str(action.get("value")))

    @app.action(ids.NOT_SAME)
    async def not_the_same(ack: BoltCall, body: dict[str, Any], action: dict[str, Any]) -> None:
        await ack()
        await keep_apart(deps, body, str(action.get("value")))

    @app.action(re.compile(rf"{re.escape(ids.AGAIN)}\..*"))
    async def fired_again(ack: BoltCall, body: dict[str, Any], action: dict[str, Any], respond: BoltCall) -> None:
        await ack()
        if not await answer_recurrence(deps, body, str(action.get("value"))):
            await tell(respond, render_note(ANSWERED_BEFORE))

    @app.action(re.compile(".*"))
    async def other(ack: BoltCall, action: dict[str, Any], respond: BoltCall) -> None:
        await ack()
        if not action.get("url"):
            await tell(respond, render_note(OLD_BUTTON))


def _register_shortcuts(app: AsyncApp, deps: UseCases) -> None:
    @app.shortcut(ids.RESOLVE_FROM_MESSAGE)
    async def record_resolution(ack: BoltCall, body: dict[str, Any], client: Any) -> None:
        await ack()
        await open_from_message(deps, client, body)

    @app.shortcut(ids.RECALL_FROM_MESSAGE)
    async def recall_similar(ack: BoltCall, body: dict[str, Any], respond: BoltCall) -> None:
        await ack()
        await _recall_message(deps, body, respond)

    @app.shortcut(re.compile(".*"))
    async def other(ack: BoltCall, respond: BoltCall) -> None:
        await ack()
        await tell(respond, deps.surfaces.render_help())


async def _recall_message(deps: UseCases, body: dict[str, Any], respond: BoltCall) -> None:
    channel_id, message = read_channel_id(body), read_message(body)
    viewer = await require_viewer(deps.chat, channel_id)
    read = deps.read(build_event(body))
    question, alert = build_question(message, read if isinstance(read, Alert) else None)
    if not question.text:
        await tell(respond, render_note(NO_TEXT))
        return
    own = await find_incident(deps, channel_id, str(message["ts"]), message.get("thread_ts"))
    told, _ = await answer_question(deps, question, viewer, alert=alert, but=own)
    await tell(respond, told)


async def keep_apart(deps: UseCases, body: dict[str, Any], value: str) -> None:
    """ "Not the same": for who may see both incidents from here."""
    said, user = ids.decode(value), read_user(body)
    one, other = (ids.read_text(said, key) or "" for key in ("i", "o"))
    for incident_id in (one, other):
        await require_visible(deps, incident_id, read_channel_id(body), user)
    await deps.keep_apart(one, other, user)


async def answer_recurrence(deps: UseCases, body: dict[str, Any], value: str) -> bool:
    """What a fix was after which its alert fired again: for who may see the incident from here. False if that was said
    before, or the button is an old one."""
    said, user = ids.decode(value), read_user(body)
    incident_id, number, answer = ids.read_text(said, "i") or "", said.get("n"), ids.read_text(said, "a")
    await require_visible(deps, incident_id, read_channel_id(body), user)
    if not isinstance(number, int) or answer not in set(RecurrenceAnswer):
        return False
    return await deps.answer_again(incident_id, number, RecurrenceAnswer(answer), user)


def build_question(message: Mapping[str, Any], alert: Alert | None) -> tuple[RecallQuestion, Alert | None]:
    """What a message asks memory: an alert's title and signs, or what was written."""
    if alert is None:
        return RecallQuestion(mask(clean(decode_text(str(message.get("text") or ""))))[0][:MAX_TEXT]), None
    names = {"vendor": alert.vendor, "service": alert.service, "region": alert.region}
    words = " ".join(w for w in (alert.title, *describe_symptoms(alert)) if w)
    return RecallQuestion(clean(words)[:MAX_TEXT], {k: v for k, v in names.items() if v}), alert


def _register_modals(app: AsyncApp, deps: UseCases) -> None:
    @app.view(ids.RESOLVE_VIEW)
    async def resolve(ack: BoltCall, body: dict[str, Any]) -> None:
        recorded = await record_submission(deps, body)
        view = build_recorded_view(recorded, read_user(body), read_attempts_shown(body))
        await (ack(response_action="update", view=view) if view else ack())

    @app.view(ids.PICK_VIEW)
    async def pick(ack: BoltCall, body: dict[str, Any]) -> None:
        await ack(response_action="update", view=await load_picked_view(deps, body))

    @app.view(re.compile(".*"))
    async def other(ack: BoltCall) -> None:
        await ack()
