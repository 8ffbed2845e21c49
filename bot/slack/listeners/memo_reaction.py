"""A 📝 on a message in an incident's thread says "this is the fix": the person is asked, and their answer is recorded.

Must not record anything by itself: a reaction is pressed fast, and by mistake. The message is read again when it is answered:
what is recorded is what stands there then, and it must be what was asked about.
"""

from __future__ import annotations

import re
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.domain.incidents.record import Attempt
from bot.domain.text.names import cut
from bot.ports import RecordRejected
from bot.ports.chat import Message, Posting, Said
from bot.ports.parts import owed, unless_refused
from bot.ports.unit_of_work import Changes, InboxRow
from bot.slack import ids
from bot.slack.listeners.context import NOBODY, Listening, require_visible, viewer_in
from bot.slack.listeners.recall_question import Answer
from bot.slack.listeners.resolve import channel_id_of, ts_of, user_of
from bot.slack.views.brief.sections import MAX_ID, in_one_line
from bot.slack.views.forms import button
from bot.slack.views.markup import actions, person, prose, section
from bot.slack.views.recorded import aside
from bot.slack.views.resolve_modal import SAID_OF
from bot.slack.views.surfaces import note
from bot.workflows.resolutions.resolve import MAX_TEXT, Outcome, Recorded, Resolution

BY_REACTION = "reaction"
ANSWERS = (
    ("recovered", "It worked", Outcome.RECOVERED),
    ("not_sure", "Record, not verified", Outcome.NOT_SURE),
    ("none", "Not the fix", None),
)
CHANGED = "That message was changed or deleted since. React to it once more if it is the fix."
NOT_RECORDED = "Nothing was recorded."


def listen(app: AsyncApp, deps: Listening) -> None:
    """Register the answers; before the catch-alls."""

    @app.action(re.compile(rf"{re.escape(ids.MEMO)}\..*"))
    async def answered(ack: Answer, body: dict[str, Any], action: dict[str, Any], respond: Answer) -> None:
        await ack()
        message = await answer(deps, body, str(action.get("action_id")), str(action.get("value")))
        blocks = [dict(b) for b in message.blocks]
        await respond(text=message.text, blocks=blocks, response_type="ephemeral", replace_original=True)


async def ask(row: InboxRow, deps: Listening) -> None:
    """A person reacted to a message: if it stands in the thread of an incident, ask them alone what it means."""
    event = row.body["event"]
    channel, ts, user = (str(event.get(key) or "") for key in ("channel", "ts", "user"))
    asked = await _question(deps, channel, ts)
    if asked is None:
        await deps.inbox.settle(row)
        return
    message, root, incident_id = asked
    delivery = f"memo/{channel}/{ts}/{user}/{event.get('event_ts') or row.id}"
    posting = Posting(
        "ephemeral",
        channel,
        delivery,
        message.text,
        message.blocks,
        thread_ts=root,
        user=user,
        incident_id=incident_id,
    )
    await deps.store.commit(Changes(owed=(owed(posting, key=delivery, urgent=True),), done=row))


async def _question(deps: Listening, channel: str, ts: str) -> tuple[Message, str, str] | None:
    """What is asked about a message, in which thread, and about which incident; None where it is none of a person's, or in no incident's
    thread."""
    if await viewer_in(deps.chat, channel) == NOBODY:
        return None
    said = await _said(deps, channel, ts)
    if said is None or said.thread_ts is None:
        return None
    incident_id = await deps.store.incident_at(channel, said.thread_ts)
    record = (await deps.store.find([incident_id])).get(incident_id) if incident_id else None
    if record is None:
        return None
    known = next((a for a in record.attempts if a.how == BY_REACTION and a.fix == fix_in(said)), None)
    message = known_already(record.incident_id, known) if known else question(record.incident_id, said)
    return message, said.thread_ts, record.incident_id


def known_already(incident_id: str, attempt: Attempt) -> Message:
    """That somebody has answered before."""
    name = prose(incident_id, MAX_ID)
    return note(f"This is recorded for *{name}* already, by {person(attempt.by)}: {SAID_OF[attempt.status]}.")


async def _said(deps: Listening, channel: str, ts: str) -> Said | None:
    return await unless_refused(deps.chat.said(channel, ts), None)


def fix_in(said: Said) -> str:
    """What would be recorded of a message."""
    return cut(said.text, MAX_TEXT)


def question(incident_id: str, said: Said) -> Message:
    """The question, with the text that would be recorded."""
    name = prose(incident_id, MAX_ID)
    text = f"Record this as the fix of *{name}*?\n> {prose(in_one_line(said.text), 600)}"
    value = ids.encode({"i": incident_id, "ts": said.ts, "f": ids.fix_key(fix_in(said))})
    row = [button(f"{ids.MEMO}.{key}", label, value) for key, label, _ in ANSWERS]
    return Message(f"Record this as the fix of {name}?", (section(text), actions(ids.MEMO, row)))


async def answer(deps: Listening, body: dict[str, Any], action_id: str, value: str) -> Message:
    """Do what was answered; what the person is told. Raises what `Resolve` raises, RecordRejected where the message is
    another by now."""
    said, user, channel = ids.decode(value), user_of(body), channel_id_of(body)
    incident_id, ts = ids.text_of(said, "i") or "", ts_of(said) or ""
    await require_visible(deps, incident_id, channel, user)
    outcome = next((o for key, _, o in ANSWERS if action_id == f"{ids.MEMO}.{key}"), None)
    if outcome is None:
        return note(NOT_RECORDED)
    message = await _said(deps, channel, ts)
    if message is None or ids.fix_key(fix_in(message)) != ids.text_of(said, "f"):
        raise RecordRejected("", CHANGED)
    thread = (channel, message.thread_ts) if message.thread_ts else None
    resolution = Resolution(outcome, incident_id, fix=fix_in(message), how=BY_REACTION, thread=thread)
    # once for what the message says: what it says after it was changed is another fix
    once = f"memo/{channel}/{ts}/{ids.fix_key(fix_in(message))}"
    return done(await deps.resolve(resolution, user, once), user)


def done(recorded: Recorded, user: str) -> Message:
    """What was recorded, or that it was before."""
    name = prose(recorded.incident.incident_id, MAX_ID)
    if recorded.again:
        return note(f"This message is recorded for *{name}* already. *Record…* under the brief adds to it.")
    more = aside(recorded, user)
    text = f"*{name}*: {prose(recorded.summary, 300)}"
    return Message(text, (section(text), *(more.blocks if more else ())))
