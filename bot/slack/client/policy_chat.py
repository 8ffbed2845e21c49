"""`Chat` with what is agreed in channels: whether a shared one may be spoken in, and which private ones are pooled.

Must not call Slack itself; it wraps the chat that does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from bot.ports.channels import ChannelStore
from bot.ports.chat import Channel, Chat, Posting, Said


@dataclass(frozen=True, slots=True)
class AgreedChat:
    """`bot.ports.chat.Chat`: Slack's facts of a channel may be a minute old, what people agreed is read each time."""

    chat: Chat
    channels: ChannelStore

    async def deliver(self, posting: Posting) -> str | None:
        """See the port."""
        return await self.chat.deliver(posting)

    async def find(self, posting: Posting) -> str | None:
        """See the port."""
        return await self.chat.find(posting)

    async def channel(self, channel_id: str, *, within_s: float | None = None) -> Channel:
        """See the port. A channel that became public or shared has no pool any more: others read along."""
        channel = await self.chat.channel(channel_id, within_s=within_s)
        if channel.is_shared:
            return replace(channel, is_allowed=(await self.channels.settings(channel_id)).shared)
        if channel.is_private:
            return replace(channel, pools=await self.channels.pool(channel_id))
        return channel

    async def is_member(self, channel_id: str, user_id: str) -> bool:
        """See the port."""
        return await self.chat.is_member(channel_id, user_id)

    async def permalink(self, channel_id: str, ts: str) -> str | None:
        """See the port."""
        return await self.chat.permalink(channel_id, ts)

    async def thread(self, channel_id: str, root_ts: str) -> tuple[Said, ...]:
        """See the port."""
        return await self.chat.thread(channel_id, root_ts)

    async def said(self, channel_id: str, ts: str) -> Said | None:
        """See the port."""
        return await self.chat.said(channel_id, ts)

    async def direct(self, user_id: str) -> str:
        """See the port."""
        return await self.chat.direct(user_id)
