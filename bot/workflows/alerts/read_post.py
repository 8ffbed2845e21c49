"""Read an inbox row of a Slack message as an alert post: which alert, where, when. Must not change anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bot.domain.alerts.alert import Alert, NotAlert, PostDelivery
from bot.domain.alerts.suppression import ANSWERED, SuppressionDecision
from bot.domain.incidents.opening import parse_ts
from bot.ports.chat import Channel, Chat, may_speak, read_event_channel
from bot.ports.clock import Clock
from bot.ports.delivery.inbox import InboxRow
from bot.ports.incidents import IncidentStore


@dataclass(frozen=True, slots=True)
class AlertPost:
    """One alert post."""

    channel: Channel
    ts: str
    # The thread that an answer belongs to.
    root_ts: str
    # When the tool sent it; an edit is later than its post.
    at: datetime
    alert: Alert
    url: str | None
    # The messages (channel, ts) that it links to.
    refers_to: tuple[tuple[str, str], ...] = ()
    admission: SuppressionDecision = ANSWERED
    # When it was read back after a gap.
    read_at: datetime | None = None
    # True if it was read long after it was posted.
    past: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadPost:
    """Read an inbox row as an alert post."""

    store: IncidentStore
    chat: Chat
    clock: Clock
    read: Callable[[Mapping[str, Any]], Alert | NotAlert]

    async def __call__(self, row: InboxRow) -> AlertPost | None:
        """Return the post; None if the message is no alert, has no news, or must not be answered where it is.

        Raises StoreUnavailable, ChatUnavailable.
        """
        event = row.body["event"]
        reading = self.read(event)
        if isinstance(reading, NotAlert):
            return None
        channel = await read_event_channel(self.chat, event)
        if not may_speak(channel):
            return None
        is_edit = reading.delivery is PostDelivery.EDIT
        inner = event.get("message") if is_edit else event
        inner = inner if isinstance(inner, Mapping) else event
        ts = str(inner.get("ts") or event["ts"])
        by_slack = is_edit and not inner.get("edited")
        if by_slack and await self.store.find_incident(channel.id, ts):
            return None  # Slack added the preview of a link; there is no news from the tool
        said_at = str(event.get("event_ts") or event.get("ts") or ts) if is_edit and not by_slack else ts
        # The bot posts alerts of HTTP senders itself, some time after it received them.
        said_at = str(event.get("told_at") or said_at)
        return AlertPost(
            channel,
            ts,
            str(inner.get("thread_ts") or ts),
            parse_ts(said_at) or self.clock.now(),
            reading,
            await self.chat.get_permalink(channel.id, ts),
            tuple((str(c), str(t)) for c, t in event.get("refers_to") or ()),
            read_at=row.received_at if event.get("read_back") else None,
            past=bool(event.get("past")),
        )
