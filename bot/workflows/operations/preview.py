"""Preview what the bot would have answered to the last alerts of a channel, for one member's eyes.

Must not store, post or open anything, or read more of the channel than a few pages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC
from typing import Any

from bot.domain.alerts.alert import Alert
from bot.domain.alerts.suppression import ChannelPolicy, Disposition, decide_suppression
from bot.domain.incidents.alert_history import count_history
from bot.domain.incidents.lifecycle import IncidentState, Lifecycle
from bot.domain.incidents.opening import build_view, parse_ts
from bot.domain.operations.preview import (
    Preview,
    PreviewedAnswer,
    PreviewedIncident,
    SeenPost,
    build_answer,
    build_preview,
    find_openings,
    restore_firing,
)
from bot.domain.reports.schedule import DigestTime, choose_digest_time
from bot.ports.brief_preview import BriefPreview
from bot.ports.channel_history import ChannelArchive, MessageReader, PageCursors
from bot.ports.channels import ChannelStore
from bot.ports.chat import Channel, read_source
from bot.ports.clock import Clock
from bot.ports.errors import ChatRejected, ChatUnavailable
from bot.ports.incidents import IncidentStore

ALERTS, PAGES = 50, 5
HISTORY_DAYS = 30
LATER = "Slack lets me read no more of this channel for the moment. Please press the button again in a minute."
REFUSED = "I cannot read what was posted here before: {}"


@dataclass(slots=True)
class _Sample:
    """What the last messages were."""

    messages: int = 0
    posts: list[SeenPost] = field(default_factory=list)
    unread: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewChannel:
    """Read a channel's last alerts, and decide each brief with memory as it is now."""

    history: ChannelArchive
    reader: MessageReader
    channels: ChannelStore
    store: IncidentStore
    brief: BriefPreview
    clock: Clock
    default: DigestTime

    async def __call__(self, channel: Channel) -> Preview | str:
        """Return the preview, or a sentence why Slack does not allow it. Raises StoreUnavailable."""
        try:
            sample = await self._read_sample(channel.id)
        except ChatRejected as problem:
            return REFUSED.format(problem)
        except ChatUnavailable:
            return LATER
        posts = sorted(sample.posts[:ALERTS], key=lambda post: post.at)
        policy = await self.channels.read_policy(channel.id, self.clock.now())
        incidents = find_openings(posts, channel.visibility, channel.id)
        would = [await self._preview_answer(one, channel, policy, incidents) for one in incidents]
        return build_preview(sample.messages, posts, sample.unread, would)

    async def _read_sample(self, channel: str) -> _Sample:
        """Read the newest messages until enough of them are alerts."""
        sample, cursors, cursor = _Sample(), PageCursors(), ""
        latest = f"{self.clock.now().astimezone(UTC).timestamp():.6f}"
        for _ in range(PAGES):
            page = await self.history.read_range(channel, "0", latest, cursor)
            for message in page.messages:
                self._add_message(channel, message, sample)
                if len(sample.posts) >= ALERTS:
                    return sample
            cursor = cursors.follow(page.cursor)
            if not cursor:
                break
        return sample

    def _add_message(self, channel: str, message: Mapping[str, Any], sample: _Sample) -> None:
        sample.messages += 1
        ts, edited = str(message.get("ts") or ""), message.get("edited")
        found, at = self.reader.read_alert({**message, "channel": channel}), parse_ts(ts)
        if isinstance(found, Alert) and at is not None:
            changed = parse_ts(str(edited.get("ts") or "")) if isinstance(edited, Mapping) else None
            sample.posts.append(SeenPost(found, ts, at, read_source(message), changed))
        elif (poster := self.reader.find_poster(message)) and self.reader.read_event(channel, message) is not None:
            sample.unread[poster] += 1

    async def _preview_answer(
        self,
        one: PreviewedIncident,
        channel: Channel,
        policy: ChannelPolicy,
        all_of_them: tuple[PreviewedIncident, ...],
    ) -> PreviewedAnswer:
        alert, at = restore_firing(one.first), one.life.opened_at
        admission = decide_suppression(
            alert, one.first.source, policy, at, choose_digest_time(policy.settings, self.default).zone
        )
        if admission.outcome is not Disposition.ANSWER:
            return build_answer(one, admission, None)
        known = await self.store.find_incident(channel.id, one.first.ts) or ""
        life = build_opening_state(one.life, known)
        earlier = [o.life for o in all_of_them if o.life.fingerprint == life.fingerprint and o.life.opened_at < at]
        history = count_history(earlier, at, HISTORY_DAYS)
        brief = await self.brief(alert, channel.viewer, at, incident=build_view(life), history=history)
        return build_answer(one, admission, brief)


def build_opening_state(life: Lifecycle, incident_id: str) -> Lifecycle:
    """Return the incident as it was when it opened, under the id by which it is known: it is no precedent of itself."""
    return Lifecycle(incident_id, life.fingerprint, life.visibility, IncidentState.OPEN, life.opened_at, life.opened_at)
