"""Messages that belong to an incident: its briefs, and the posts of its alert."""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain.brief.decide import Brief


@dataclass(frozen=True, slots=True)
class PostedBrief:
    """The brief of an incident in one channel."""

    incident_id: str
    channel: str
    root_ts: str  # the alert's message
    delivery_id: str  # its outbox delivery
    brief: Brief
    message_ts: str | None = None  # filled once it is delivered
    # the channel of its message where shadow mode was on when it was posted
    shadow: str | None = None

    @property
    def message_channel(self) -> str:
        """The channel of its message, which in shadow mode is another one."""
        return self.shadow or self.channel

    def is_shown_here(self, channel: str) -> bool:
        """Return whether it is the brief of this channel, be it that of the alert or the one that its message is in."""
        return channel in (self.channel, self.shadow)


@dataclass(frozen=True, slots=True)
class IncidentPost:
    """A message that belongs to an incident (the alert's post, a repeat, a resolve), found by channel and ts."""

    channel: str
    ts: str
    incident_id: str
