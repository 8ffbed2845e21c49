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
from bot.domain.incidents.opening import symptom_words
from bot.domain.resolutions.recurrence import Again
from bot.domain.text.redaction import mask
from bot.slack import ids
from bot.slack.listeners.context import Listening, asker_in, require_visible
from bot.slack.listeners.recall_question import MAX_TEXT, Answer, Question, answered, tell
from bot.slack.listeners.resolve import (
    attempts_shown,
    channel_id_of,
    event_of,
    fixed,
    incident_of,
    message_of,
    open_from_button,
    open_from_message,
    picked,
    submitted,
    user_of,
)
from bot.slack.views.markup import clean, reading
from bot.slack.views.recorded import aside, told_view
from bot.slack.views.surfaces import note

OLD_BUTTON = "This button belongs to an older message and does nothing any more. `/precedent help` shows what I can do."
ANSWERED_BEFORE = "Somebody has answered this already; the first answer stands. To change it, record the outcome again."
NO_TEXT = "This message has no text to recall by. Use `/recall` and say what is happening."


def listen(app: AsyncApp, deps: Listening) -> None:
    """Register buttons, shortcuts and modals."""
    _buttons(app, deps)
    _shortcuts(app, deps)
    _modals(app, deps)


def _buttons(app: AsyncApp, deps: Listening) -> None:
    @app.action(ids.FIXED)
    async def this_fixed_it(ack: Answer, body: dict[str, Any], action: dict[str, Any], respond: Answer) -> None:
        await ack()
        recorded = await fixed(deps, body, str(action.get("value")))
        if message := aside(recorded, user_of(body)):
            await tell(respond, message)

    @app.action(ids.RECORD)
    async def record(ack: Answer, body: dict[str, Any], action: dict[str, Any], client: Any) -> None:
        await ack()
        await open_from_button(deps, client, body, str(action.get("value")))

    @app.action(ids.NOT_SAME)
    async def not_the_same(ack: Answer, body: dict[str, Any], action: dict[str, Any]) -> None:
        await ack()
        await kept_apart(deps, body, str(action.get("value")))

    @app.action(re.compile(rf"{re.escape(ids.AGAIN)}\..*"))
    async def fired_again(ack: Answer, body: dict[str, Any], action: dict[str, Any], respond: Answer) -> None:
        await ack()
        if not await said_again(deps, body, str(action.get("value"))):
            await tell(respond, note(ANSWERED_BEFORE))

    @app.action(re.compile(".*"))
    async def other(ack: Answer, action: dict[str, Any], respond: Answer) -> None:
        await ack()
        if not action.get("url"):
            await tell(respond, note(OLD_BUTTON))


def _shortcuts(app: AsyncApp, deps: Listening) -> None:
    @app.shortcut(ids.RESOLVE_FROM_MESSAGE)
    async def record_resolution(ack: Answer, body: dict[str, Any], client: Any) -> None:
        await ack()
        await open_from_message(deps, client, body)

    @app.shortcut(ids.RECALL_FROM_MESSAGE)
    async def recall_similar(ack: Answer, body: dict[str, Any], respond: Answer) -> None:
        await ack()
        await _recall_message(deps, body, respond)

    @app.shortcut(re.compile(".*"))
    async def other(ack: Answer, respond: Answer) -> None:
        await ack()
        await tell(respond, deps.surfaces.help())


async def _recall_message(deps: Listening, body: dict[str, Any], respond: Answer) -> None:
    channel_id, message = channel_id_of(body), message_of(body)
    viewer = await asker_in(deps.chat, channel_id)
    read = deps.read(event_of(body))
    question, alert = question_of(message, read if isinstance(read, Alert) else None)
    if not question.text:
        await tell(respond, note(NO_TEXT))
        return
    own = await incident_of(deps, channel_id, str(message["ts"]), message.get("thread_ts"))
    told, _ = await answered(deps, question, viewer, alert=alert, but=own)
    await tell(respond, told)


async def kept_apart(deps: Listening, body: dict[str, Any], value: str) -> None:
    """ "Not the same": for who may see both incidents from here."""
    said, user = ids.decode(value), user_of(body)
    one, other = (ids.text_of(said, key) or "" for key in ("i", "o"))
    for incident_id in (one, other):
        await require_visible(deps, incident_id, channel_id_of(body), user)
    await deps.keep_apart(one, other, user)


async def said_again(deps: Listening, body: dict[str, Any], value: str) -> bool:
    """What a fix was after which its alert fired again: for who may see the incident from here. False if that was said
    before, or the button is an old one."""
    said, user = ids.decode(value), user_of(body)
    incident_id, number, answer = ids.text_of(said, "i") or "", said.get("n"), ids.text_of(said, "a")
    await require_visible(deps, incident_id, channel_id_of(body), user)
    if not isinstance(number, int) or answer not in set(Again):
        return False
    return await deps.answer_again(incident_id, number, Again(answer), user)


def question_of(message: Mapping[str, Any], alert: Alert | None) -> tuple[Question, Alert | None]:
    """What a message asks memory: an alert's title and signs, or what was written."""
    if alert is None:
        return Question(mask(clean(reading(str(message.get("text") or ""))))[0][:MAX_TEXT]), None
    names = {"vendor": alert.vendor, "service": alert.service, "region": alert.region}
    words = " ".join(w for w in (alert.title, *symptom_words(alert)) if w)
    return Question(clean(words)[:MAX_TEXT], {k: v for k, v in names.items() if v}), alert


def _modals(app: AsyncApp, deps: Listening) -> None:
    @app.view(ids.RESOLVE_VIEW)
    async def resolve(ack: Answer, body: dict[str, Any]) -> None:
        recorded = await submitted(deps, body)
        view = told_view(recorded, user_of(body), attempts_shown(body))
        await (ack(response_action="update", view=view) if view else ack())

    @app.view(ids.PICK_VIEW)
    async def pick(ack: Answer, body: dict[str, Any]) -> None:
        await ack(response_action="update", view=await picked(deps, body))

    @app.view(re.compile(".*"))
    async def other(ack: Answer) -> None:
        await ack()
