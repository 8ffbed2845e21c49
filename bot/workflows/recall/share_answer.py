"""Post an answer from memory in a channel, once for each modal that asks for it."""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain.delivery.ids import build_share_id, build_share_key
from bot.domain.delivery.kinds import Operation
from bot.ports.chat import ChatMessage, Posting
from bot.ports.delivery.outbox import build_outbox_entry
from bot.ports.incidents import IncidentStore
from bot.ports.unit_of_work import Changes


@dataclass(frozen=True, slots=True)
class ShareAnswer:
    """Queue the answer for delivery."""

    store: IncidentStore

    async def __call__(self, message: ChatMessage, channel_id: str, view_id: str) -> None:
        """Queue it; a modal that is submitted twice posts it once. Raises StoreUnavailable."""
        posting = Posting(Operation.POST, channel_id, build_share_id(view_id), message.text, message.blocks)
        entry = build_outbox_entry(posting, key=build_share_key(channel_id), urgent=True)
        await self.store.commit(Changes(deliveries=(entry,)))
