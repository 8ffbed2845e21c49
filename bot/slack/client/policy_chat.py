"""`Chat` with what is agreed in channels: whether a shared one may be spoken in, and which private ones are pooled.

Must not call Slack itself; it wraps the chat that does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from bot.ports.channels import ChannelStore
from bot.ports.chat import Channel, Chat, Posting, ThreadMessage


@dataclass(frozen=True, slots=True)
class PolicyChat:
    """`bot.ports.chat.Chat`: Slack's facts of a channel may be a minute old, what people agreed is read each time."""

    chat: Chat
    channels: ChannelStore

    async def deliver(self, posting: Posting) -> str | None:
        """See the port."""
        return await self.chat.deliver(posting)

    async def find_delivered(self, posting: Posting) -> str | None:
        """See the port."""
        return await self.chat.find_delivered(posting)

    async def read_channel(self, channel_id: str, *, within_s: float | None = None) -> Channel:
        """See the port. A channel that became public or shared has no pool any more: others read along."""
        channel = await self.chat.read_channel(channel_id, within_s=within_s)
        if channel.is_shared:
            return replace(channel, is_allowed=(await self.channels.read_settings(channel_id)).shared)
        if channel.is_private:
            return replace(channel, pools=await self.channels.list_pool(channel_id))
        return channel

    async def is_member(self, channel_id: str, user_id: str) -> bool:
        """See the port."""
        return await self.chat.is_member(channel_id, user_id)

    async def get_permalink(self, channel_id: str, ts: str) -> str | None:
        """See the port."""
        return await self.chat.get_permalink(channel_id, ts)

    async def read_thread(self, channel_id: str, root_ts: str) -> tuple[ThreadMessage, ...]:
        """See the port."""
        return await self.chat.read_thread(channel_id, root_ts)

    async def read_message(self, channel_id: str, ts: str) -> ThreadMessage | None:
        """See the port."""
        return await self.chat.read_message(channel_id, ts)

    async def open_direct_message(self, user_id: str) -> str:
        """See the port."""
        return await self.chat.open_direct_message(user_id)
