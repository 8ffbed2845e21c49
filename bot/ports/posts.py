"""Messages that belong to an incident: its briefs, and the posts of its alert."""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain.brief.decide import Brief


@dataclass(frozen=True, slots=True)
class PostedBrief:
    """The brief of an incident in one channel. `delivery_id` is its outbox delivery; `root_ts` the alert's message;
    `shadow` the channel in which it stands instead, where shadow mode was on when it was posted."""

    incident_id: str
    channel: str
    root_ts: str
    delivery_id: str
    brief: Brief
    message_ts: str | None = None
    shadow: str | None = None

    @property
    def message_channel(self) -> str:
        """The channel of its message."""
        return self.shadow or self.channel

    def is_shown_here(self, channel: str) -> bool:
        """Whether it is the brief of this channel, be it that of the alert or that in which it stands."""
        return channel in (self.channel, self.shadow)


@dataclass(frozen=True, slots=True)
class IncidentPost:
    """A message that belongs to an incident (the alert's post, a repeat, a resolve): found by channel and ts."""

    channel: str
    ts: str
    incident_id: str
