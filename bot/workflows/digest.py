"""The digest: gather a period, compose it, and owe it to channels once per period.

Must not schedule itself (that is `bot.bootstrap.jobs`) or render.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from bot.domain.digest import Digest, compose
from bot.domain.query import Viewer
from bot.ports import ChatAuthRejected, ChatRejected
from bot.ports.chat import Channel, Chat, Posting, Surfaces
from bot.ports.clock import Clock
from bot.ports.parts import owed
from bot.ports.store import Changes, Claims, IncidentStore

CHANNELS_OF_LAST = timedelta(days=60)


@dataclass(frozen=True, slots=True)
class ComposeDigest:
    """The digest of a period for whoever may see it."""

    store: IncidentStore

    async def __call__(self, since: datetime, until: datetime, viewer: Viewer, period: str) -> Digest:
        """What recurred in [since, until), against the period of the same length before. Raises StoreUnavailable."""
        lives = await self.store.lives(since - (until - since), until, viewer)
        records = await self.store.records(viewer)
        return compose(records, lives, since, until, period)


@dataclass(frozen=True, slots=True)
class PostDigests:
    """Owe the period's digest to every channel that had briefs lately; each channel and period once, whoever asks.
    A channel that is shared with another organisation (by now) gets none."""

    store: IncidentStore
    claims: Claims
    chat: Chat
    surfaces: Surfaces
    clock: Clock

    async def __call__(self, period: date, since: datetime, until: datetime, name: str) -> int:
        """`period` is the local date that names the run: the claim is keyed by it. How many digests are owed now."""
        channels = await self.store.brief_channels(self.clock.now() - CHANNELS_OF_LAST)
        posted = 0
        for channel_id in channels:
            channel = await self._open_channel(channel_id)
            if channel is None:
                continue
            viewer = Viewer(frozenset({"public", channel.visibility}))
            digest = await ComposeDigest(self.store)(since, until, viewer, name)
            message = self.surfaces.digest(digest)
            posting = Posting(
                "post", channel_id, f"digest/{channel_id}/{period.isoformat()}", message.text, message.blocks
            )
            changes = Changes(owed=(owed(posting, key=f"digest/{channel_id}"),))
            posted += await self.claims.claim("digest", channel_id, period, changes)
        return posted

    async def _open_channel(self, channel_id: str) -> Channel | None:
        """The channel, if a digest may go there: one that is gone or read by another organisation costs nobody else."""
        try:
            channel = await self.chat.channel(channel_id)
        except ChatAuthRejected:
            raise
        except ChatRejected:
            return None
        return None if channel.is_shared else channel
