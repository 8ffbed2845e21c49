"""Answer an event that needs no decision: the hello, the help, the Home view."""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain.delivery.ids import build_home_id, build_reply_key
from bot.domain.delivery.kinds import Operation
from bot.ports.chat import Chat, ChatMessage, Posting, find_channel, may_speak
from bot.ports.delivery.inbox import Inbox, InboxRow
from bot.ports.delivery.outbox import build_outbox_entry
from bot.ports.incidents import IncidentStore
from bot.ports.unit_of_work import Changes


@dataclass(frozen=True, slots=True)
class QueueReply:
    """Queue a message for the event's channel, and settle the event with it in one transaction."""

    store: IncidentStore
    chat: Chat

    async def __call__(
        self, row: InboxRow, channel_id: str, delivery_id: str, message: ChatMessage, thread_ts: str | None = None
    ) -> None:
        """Queue the message; if the bot may not speak in the channel, only complete the event.

        Raises StoreUnavailable, ChatUnavailable.
        """
        if not may_speak(await find_channel(self.chat, channel_id)):
            await self.store.commit(Changes(done=row))
            return
        posting = Posting(Operation.POST, channel_id, delivery_id, message.text, message.blocks, thread_ts=thread_ts)
        entry = build_outbox_entry(posting, key=build_reply_key(channel_id, delivery_id), urgent=True)
        await self.store.commit(Changes(deliveries=(entry,), done=row))


@dataclass(frozen=True, slots=True)
class PublishHome:
    """Publish a person's Home view at once, not through the outbox: one that comes late is of no use."""

    inbox: Inbox
    chat: Chat

    async def __call__(self, row: InboxRow, user_id: str, view: ChatMessage) -> None:
        """Publish it and complete the event. Raises ChatRejected, ChatUnavailable, StoreUnavailable."""
        posting = Posting(Operation.HOME, user_id, build_home_id(user_id, row.id), view.text, view.blocks, user=user_id)
        await self.chat.deliver(posting)
        await self.inbox.acknowledge(row)
