"""Compose a period's digest, and queue it for channels once per period.

`bot.bootstrap.jobs` schedules it. Must not render.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from bot.domain.access.visibility import Viewer
from bot.domain.delivery.ids import build_chart_id, build_digest_id, build_digest_key
from bot.domain.delivery.kinds import Operation
from bot.domain.fixes.grouping import build_fix_groups
from bot.domain.incidents.lifecycle import Lifecycle
from bot.domain.reports.digest import Digest, compose_digest, find_period
from bot.domain.reports.digest_chart import build_chart
from bot.domain.reports.schedule import DigestTime, choose_digest_time, find_last_digest
from bot.ports.channels import ChannelStore
from bot.ports.chat import Chat, Posting, find_channel, may_speak
from bot.ports.claims import ClaimStore
from bot.ports.clock import Clock
from bot.ports.delivery.outbox import OutboxEntry, build_outbox_entry
from bot.ports.feedback import FeedbackStore
from bot.ports.files import build_picture_upload
from bot.ports.incidents import IncidentStore
from bot.ports.surfaces import Surfaces
from bot.ports.unit_of_work import Changes

# A channel without a brief for this long gets no digest.
CHANNELS_OF_LAST = timedelta(days=60)
# A digest that is more overdue than this is skipped.
CATCH_UP = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class ComposeDigest:
    """Compose the digest of a period for one viewer."""

    store: IncidentStore
    feedback: FeedbackStore

    async def __call__(self, since: datetime, until: datetime, viewer: Viewer, period: str) -> Digest:
        """Return what recurred in [since, until), against the period of the same length before.

        Fixes are counted as people grouped them. Raises StoreUnavailable.
        """
        lives = await self.store.list_lifecycles(since - (until - since), until, viewer)
        records = await self.store.list_records(viewer)
        answered = [
            a for life in lives if life.opened_at >= since for a in [await self._has_answer(life)] if a is not None
        ]
        groups = build_fix_groups(await self.feedback.list_fix_equivalences())
        return compose_digest(records, lives, since, until, period, answered, groups)

    async def _has_answer(self, life: Lifecycle) -> bool | None:
        """Return whether memory had an answer for an incident; None if no brief of it asked memory."""
        briefs = [b.brief for b in await self.store.list_briefs(life.incident_id) if b.brief.memory_mode == "on"]
        return any(brief.insufficient_memory is None for brief in briefs) if briefs else None


@dataclass(frozen=True, slots=True, kw_only=True)
class PostDigests:
    """Queue the digest of each channel with recent briefs when its own time has come, each channel and period once.

    It posts once, however often it runs and in however many replicas. A channel that is shared with another
    organization (by now) gets none unless a steward allowed it.
    """

    store: IncidentStore
    feedback: FeedbackStore
    channels: ChannelStore
    claims: ClaimStore
    chat: Chat
    surfaces: Surfaces
    clock: Clock
    # The digest time of channels that set none.
    default: DigestTime
    # Claimed already, as far as this process knows: claiming again would compose the digest for nothing.
    _done: set[tuple[str, date]] = field(default_factory=set)

    async def __call__(self) -> int:
        """Return how many digests were queued now; one that was due within the last day and missed is made up for.

        Raises StoreUnavailable, ChatUnavailable.
        """
        now = self.clock.now()
        posted = 0
        for channel_id in await self.store.list_brief_channels(now - CHANNELS_OF_LAST):
            when = choose_digest_time(await self.channels.read_settings(channel_id), self.default)
            due = find_last_digest(when, now)
            if due is not None and now - due < CATCH_UP:
                posted += await self._post(channel_id, when, due.astimezone(when.zone).date())
        return posted

    async def _post(self, channel_id: str, when: DigestTime, due: date) -> bool:
        if (channel_id, due) in self._done:
            return False
        channel = await find_channel(self.chat, channel_id)
        if not may_speak(channel):  # one that is gone, or shared by now, holds up no other
            return False
        period = find_period(due, when.day, when.zone)
        digest = await ComposeDigest(self.store, self.feedback)(period.since, period.until, channel.viewer, period.name)
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


def _build_picture(digest: Digest, channel_id: str, delivery: str, key: date) -> tuple[OutboxEntry, ...]:
    """Queue the picture for the thread of the digest's message, after it: whatever becomes of the picture, the text
    is out.
    """
    chart = build_chart(digest)
    if chart is None:
        return ()
    day = key.isoformat()
    posting = build_picture_upload(
        channel_id, build_chart_id(channel_id, key), f"digest-{day}.png", chart.heading, chart
    )
    return (build_outbox_entry(posting, key=build_digest_key(channel_id), target=delivery),)
