"""A 📝 on a message in an incident's thread says "this is the fix": the person is asked, and their answer is recorded.

Must not record anything by itself: a reaction is pressed fast, and by mistake. The message is read again when it is answered:
what is recorded is what stands there then, and it must be what was asked about.
"""

from __future__ import annotations

import re
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.domain.delivery.ids import build_memo_id
from bot.domain.delivery.kinds import Operation
from bot.domain.incidents.record import Attempt
from bot.domain.text.names import cut
from bot.ports.chat import ChatMessage, Posting, ThreadMessage, or_if_refused
from bot.ports.delivery.inbox import InboxRow
from bot.ports.delivery.outbox import build_outbox_entry
from bot.ports.errors import RecordRejected
from bot.ports.unit_of_work import Changes
from bot.slack import ids
from bot.slack.listeners.context import NOBODY, UseCases, read_viewer, require_visible
from bot.slack.listeners.recall_question import BoltCall
from bot.slack.listeners.resolve import read_channel_id, read_ts, read_user
from bot.slack.views.brief.sections import MAX_ID, format_fix_line
from bot.slack.views.forms import button
from bot.slack.views.markup import actions, format_user, prose, section
from bot.slack.views.recorded import render_recorded_note
from bot.slack.views.resolve_modal import STATUS_WORDS
from bot.slack.views.surfaces import render_note
from bot.workflows.resolutions.resolve import MAX_TEXT, FixOutcome, RecordedResolution, Resolution

BY_REACTION = "reaction"
ANSWERS = (
    ("recovered", "It worked", FixOutcome.RECOVERED),
    ("not_sure", "Record, not verified", FixOutcome.NOT_SURE),
    ("none", "Not the fix", None),
)
CHANGED = "That message was changed or deleted since. React to it once more if it is the fix."
NOT_RECORDED = "Nothing was recorded."


def register(app: AsyncApp, deps: UseCases) -> None:
    """Register the answers; before the catch-alls."""

    @app.action(re.compile(rf"{re.escape(ids.MEMO)}\..*"))
    async def answered(ack: BoltCall, body: dict[str, Any], action: dict[str, Any], respond: BoltCall) -> None:
        await ack()
        message = await answer(deps, body, str(action.get("action_id")), str(action.get("value")))
        blocks = [dict(b) for b in message.blocks]
        await respond(text=message.text, blocks=blocks, response_type="ephemeral", replace_original=True)


async def ask(row: InboxRow, deps: UseCases) -> None:
    """A person reacted to a message: if it stands in the thread of an incident, ask them alone what it means."""
    event = row.body["event"]
    channel, ts, user = (str(event.get(key) or "") for key in ("channel", "ts", "user"))
    asked = await _build_question(deps, channel, ts)
    if asked is None:
        await deps.inbox.acknowledge(row)
        return
    message, root, incident_id = asked
    delivery = build_memo_id(channel, ts, user, event.get("event_ts") or row.id)
    posting = Posting(
        Operation.EPHEMERAL,
        channel,
        delivery,
        message.text,
        message.blocks,
        thread_ts=root,
        user=user,
        incident_id=incident_id,
    )
    await deps.store.commit(Changes(deliveries=(build_outbox_entry(posting, key=delivery, urgent=True),), done=row))


async def _build_question(deps: UseCases, channel: str, ts: str) -> tuple[ChatMessage, str, str] | None:
    """What is asked about a message, in which thread, and about which incident; None where it is none of a person's, or in no incident's
    thread."""
    if await read_viewer(deps.chat, channel) == NOBODY:
        return None
    said = await _read_message(deps, channel, ts)
    if said is None or said.thread_ts is None:
        return None
    incident_id = await deps.store.find_incident(channel, said.thread_ts)
    record = (await deps.store.find_records([incident_id])).get(incident_id) if incident_id else None
    if record is None:
        return None
    known = next((a for a in record.attempts if a.how == BY_REACTION and a.fix == extract_fix(said)), None)
    message = render_known(record.incident_id, known) if known else render_question(record.incident_id, said)
    return message, said.thread_ts, record.incident_id


def render_known(incident_id: str, attempt: Attempt) -> ChatMessage:
    """That somebody has answered before."""
    name = prose(incident_id, MAX_ID)
    return render_note(
        f"This is recorded for *{name}* already, by {format_user(attempt.by)}: {STATUS_WORDS[attempt.status]}."
    )


async def _read_message(deps: UseCases, channel: str, ts: str) -> ThreadMessage | None:
    return await or_if_refused(deps.chat.read_message(channel, ts), None)


def extract_fix(said: ThreadMessage) -> str:
    """What would be recorded of a message."""
    return cut(said.text, MAX_TEXT)


def render_question(incident_id: str, said: ThreadMessage) -> ChatMessage:
    """The question, with the text that would be recorded."""
    name = prose(incident_id, MAX_ID)
    text = f"Record this as the fix of *{name}*?\n> {prose(format_fix_line(said.text), 600)}"
    value = ids.encode({"i": incident_id, "ts": said.ts, "f": ids.hash_fix(extract_fix(said))})
    row = [button(f"{ids.MEMO}.{key}", label, value) for key, label, _ in ANSWERS]
    return ChatMessage(f"Record this as the fix of {name}?", (section(text), actions(ids.MEMO, row)))


async def answer(deps: UseCases, body: dict[str, Any], action_id: str, value: str) -> ChatMessage:
    """Do what was answered; what the person is told. Raises what `Resolve` raises, RecordRejected where the message is
    another by now."""
    said, user, channel = ids.decode(value), read_user(body), read_channel_id(body)
    incident_id, ts = ids.read_text(said, "i") or "", read_ts(said) or ""
    await require_visible(deps, incident_id, channel, user)
    outcome = next((o for key, _, o in ANSWERS if action_id == f"{ids.MEMO}.{key}"), None)
    if outcome is None:
        return render_note(NOT_RECORDED)
    message = await _read_message(deps, channel, ts)
    if message is None or ids.hash_fix(extract_fix(message)) != ids.read_text(said, "f"):
        raise RecordRejected("", CHANGED)
    thread = (channel, message.thread_ts) if message.thread_ts else None
    resolution = Resolution(outcome, incident_id, fix=extract_fix(message), how=BY_REACTION, thread=thread)
    # once for what the message says: what it says after it was changed is another fix
    once = f"memo/{channel}/{ts}/{ids.hash_fix(extract_fix(message))}"
    return render_done(await deps.resolve(resolution, user, once), user)


def render_done(recorded: RecordedResolution, user: str) -> ChatMessage:
    """What was recorded, or that it was before."""
    name = prose(recorded.incident.incident_id, MAX_ID)
    if recorded.again:
        return render_note(f"This message is recorded for *{name}* already. *Record…* under the brief adds to it.")
    more = render_recorded_note(recorded, user)
    text = f"*{name}*: {prose(recorded.summary, 300)}"
    return ChatMessage(text, (section(text), *(more.blocks if more else ())))
