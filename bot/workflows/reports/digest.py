"""The digest: gather a period, compose it, and owe it to channels once per period.

Must not schedule itself (that is `bot.bootstrap.jobs`) or render.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from bot.domain.access.visibility import Viewer
from bot.domain.delivery.ids import build_chart_id, build_digest_id, build_digest_key
from bot.domain.delivery.kinds import Operation
from bot.domain.fixes.grouping import filed_of
from bot.domain.incidents.lifecycle import Life
from bot.domain.reports.digest import Digest, compose, period_for
from bot.domain.reports.digest_chart import chart_of
from bot.domain.reports.schedule import DigestTime, digest_time, last_digest
from bot.ports.channels import ChannelStore
from bot.ports.chat import Channel, Chat, Posting, or_if_refused
from bot.ports.claims import ClaimStore
from bot.ports.clock import Clock
from bot.ports.delivery.outbox import OutboxEntry, build_outbox_entry
from bot.ports.feedback import FeedbackStore
from bot.ports.files import build_picture_upload
from bot.ports.incidents import IncidentStore
from bot.ports.surfaces import Surfaces
from bot.ports.unit_of_work import Changes

CHANNELS_OF_LAST = timedelta(days=60)
CATCH_UP = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class ComposeDigest:
    """The digest of a period for whoever may see it."""

    store: IncidentStore
    said: FeedbackStore

    async def __call__(self, since: datetime, until: datetime, viewer: Viewer, period: str) -> Digest:
        """What recurred in [since, until), against the period of the same length before; fixes are counted as persons filed
        them. Raises StoreUnavailable."""
        lives = await self.store.list_lifecycles(since - (until - since), until, viewer)
        records = await self.store.list_records(viewer)
        answered = [
            a for life in lives if life.opened_at >= since for a in [await self._has_answer(life)] if a is not None
        ]
        filed = filed_of(await self.said.list_fix_equivalences())
        return compose(records, lives, since, until, period, answered, filed)

    async def _has_answer(self, life: Life) -> bool | None:
        """Whether memory had an answer for an incident; None if it got no brief that asked memory."""
        asked = [b.brief for b in await self.store.list_briefs(life.incident_id) if b.brief.memory_mode == "on"]
        return any(brief.insufficient_memory is None for brief in asked) if asked else None


@dataclass(frozen=True, slots=True)
class PostDigests:
    """Owe each channel that had briefs lately its digest, when its own time has come; each channel and period once,
    whoever asks and however often. A channel that is shared with another organisation (by now) gets none unless a
    steward allowed it. `default` is the time of channels that set none."""

    store: IncidentStore
    said: FeedbackStore
    channels: ChannelStore
    claims: ClaimStore
    chat: Chat
    surfaces: Surfaces
    clock: Clock
    default: DigestTime
    # Claimed already, as far as this process knows: asking again would compose for nothing.
    _done: set[tuple[str, date]] = field(default_factory=set)

    async def __call__(self) -> int:
        """How many digests are owed now. One that was due within a day and missed is made up for. Raises
        StoreUnavailable, ChatUnavailable."""
        now = self.clock.now()
        posted = 0
        for channel_id in await self.store.list_brief_channels(now - CHANNELS_OF_LAST):
            when = digest_time(await self.channels.read_settings(channel_id), self.default)
            due = last_digest(when, now)
            if due is not None and now - due < CATCH_UP:
                posted += await self._post(channel_id, when, due.astimezone(when.zone).date())
        return posted

    async def _post(self, channel_id: str, when: DigestTime, due: date) -> bool:
        if (channel_id, due) in self._done:
            return False
        channel = await self._find_channel(channel_id)
        if channel is None:
            return False
        period = period_for(due, when.day, when.zone)
        digest = await ComposeDigest(self.store, self.said)(period.since, period.until, channel.viewer, period.name)
        message = self.surfaces.render_digest(digest)
        delivery = build_digest_id(channel_id, period.key)
        posting = Posting(Operation.POST, channel_id, delivery, message.text, message.blocks)
        rows = (
            build_outbox_entry(posting, key=build_digest_key(channel_id)),
            *_build_picture(digest, channel_id, delivery, period.key),
        )
        claimed = await self.claims.claim("digest", channel_id, period.key, Changes(deliveries=rows))
        self._done.add((channel_id, due))
        return claimed

    async def _find_channel(self, channel_id: str) -> Channel | None:
        """The channel, if a digest may go there: one that is gone or read by another organisation costs nobody else."""
        channel = await or_if_refused(self.chat.read_channel(channel_id), None)
        return None if channel is None or channel.is_silent else channel


def _build_picture(digest: Digest, channel_id: str, delivery: str, key: date) -> tuple[OutboxEntry, ...]:
    """Its picture, into the thread of its message, after that: whatever becomes of the picture, the text is out."""
    chart = chart_of(digest)
    if chart is None:
        return ()
    day = key.isoformat()
    posting = build_picture_upload(
        channel_id, build_chart_id(channel_id, key), f"digest-{day}.png", chart.heading, chart
    )
    return (build_outbox_entry(posting, key=build_digest_key(channel_id), target=delivery),)
