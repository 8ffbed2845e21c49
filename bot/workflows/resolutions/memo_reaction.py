"""A 📝 on a message in an incident's thread says "this is the fix": ask the person, then record their answer.

Nothing is recorded by the reaction alone: it is pressed fast, and by mistake. The message is read again when the question
is answered: what is recorded is what it says then, and it must be what was asked about.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from bot.domain.delivery.ids import build_memo_id
from bot.domain.delivery.kinds import Operation
from bot.domain.incidents.record import Attempt, Incident
from bot.domain.text.format import cut
from bot.domain.text.tokens import hash_wording
from bot.ports.chat import Chat, ChatMessage, Posting, ThreadMessage, find_channel, may_speak, or_if_refused
from bot.ports.delivery.inbox import Inbox, InboxRow
from bot.ports.delivery.outbox import build_outbox_entry
from bot.ports.errors import RecordRejected
from bot.ports.incidents import IncidentStore
from bot.ports.unit_of_work import Changes
from bot.workflows.resolutions.resolve import MAX_TEXT, FixOutcome, RecordedResolution, Resolution, Resolve

BY_REACTION = "reaction"
CHANGED = "That message was changed or deleted since. React to it once more if it is the fix."


class MemoSurfaces(Protocol):
    """Turns the question into a message. Promise: pure; text from data is escaped."""

    def render_question(self, incident_id: str, message: ThreadMessage, fix: str) -> ChatMessage:
        """Ask whether to record the message as the fix."""
        ...

    def render_known(self, incident_id: str, attempt: Attempt) -> ChatMessage:
        """Say that somebody has answered before."""
        ...


def extract_fix(message: ThreadMessage) -> str:
    """Return what would be recorded of a message."""
    return cut(message.text, MAX_TEXT)


@dataclass(frozen=True, slots=True)
class AskAboutMemo:
    """Ask a person who reacted to a message what that means, for their eyes alone."""

    store: IncidentStore
    inbox: Inbox
    chat: Chat
    surfaces: MemoSurfaces

    async def __call__(self, row: InboxRow) -> None:
        """Ask, if the message is a person's and belongs to an incident's thread. Raises StoreUnavailable,
        ChatUnavailable."""
        event = row.body["event"]
        channel_id, ts, user = (str(event.get(key) or "") for key in ("channel", "ts", "user"))
        found = await self._find_message(channel_id, ts)
        record = await self._find_record(channel_id, found) if found else None
        if found is None or record is None:
            await self.inbox.acknowledge(row)
            return
        fix = extract_fix(found)
        known = next((a for a in record.attempts if a.how == BY_REACTION and a.fix == fix), None)
        if known:
            message = self.surfaces.render_known(record.incident_id, known)
        else:
            message = self.surfaces.render_question(record.incident_id, found, fix)
        delivery = build_memo_id(channel_id, ts, user, event.get("event_ts") or row.id)
        posting = Posting(
            Operation.EPHEMERAL,
            channel_id,
            delivery,
            message.text,
            message.blocks,
            thread_ts=found.thread_ts,
            user=user,
            incident_id=record.incident_id,
        )
        entry = build_outbox_entry(posting, key=delivery, urgent=True)
        await self.store.commit(Changes(deliveries=(entry,), done=row))

    async def _find_message(self, channel_id: str, ts: str) -> ThreadMessage | None:
        """Return the message, if a person wrote it in a thread of a channel where the bot may speak."""
        if not may_speak(await find_channel(self.chat, channel_id)):
            return None
        message = await or_if_refused(self.chat.read_message(channel_id, ts), None)
        return message if message and message.thread_ts else None

    async def _find_record(self, channel_id: str, message: ThreadMessage) -> Incident | None:
        """Return the record of the incident whose thread the message belongs to."""
        incident_id = await self.store.find_incident(channel_id, message.thread_ts or "")
        return (await self.store.find_records([incident_id])).get(incident_id) if incident_id else None


@dataclass(frozen=True, slots=True)
class AnswerMemo:
    """Record a message as the fix, once for what it says: after an edit it is another fix."""

    chat: Chat
    resolve: Resolve

    async def __call__(
        self, incident_id: str, place: tuple[str, str], fix_hash: str, outcome: FixOutcome, user: str
    ) -> RecordedResolution:
        """Record the message at `place` (channel, ts) if it still says what the person was asked about.

        Raises RecordRejected where it says something else by now, ChatUnavailable, and what `Resolve` raises.
        """
        channel_id, ts = place
        message = await or_if_refused(self.chat.read_message(channel_id, ts), None)
        if message is None or hash_wording(extract_fix(message)) != fix_hash:
            raise RecordRejected("", CHANGED)
        thread = (channel_id, message.thread_ts) if message.thread_ts else None
        resolution = Resolution(outcome, incident_id, fix=extract_fix(message), how=BY_REACTION, thread=thread)
        return await self.resolve(resolution, user, f"memo/{channel_id}/{ts}/{fix_hash}")
