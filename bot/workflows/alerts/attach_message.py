"""Attach a message that speaks of an alert (a forward, a permalink, a paste) to that alert's incident.

What people do from such a message, by its menu or in its thread, is then about the incident. Must not open an
incident, answer, or store the text of the message.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.domain.incidents.lifecycle import Lifecycle
from bot.ports.chat import Channel, Chat, read_event_channel
from bot.ports.delivery.inbox import InboxRow
from bot.ports.incidents import IncidentStore
from bot.ports.posts import IncidentPost
from bot.ports.unit_of_work import Changes
from bot.records.alert_json import read_alert


@dataclass(frozen=True, slots=True)
class AttachMessage:
    """Find the incident that a message refers to, and link the message to it."""

    store: IncidentStore
    chat: Chat

    async def __call__(self, row: InboxRow) -> None:
        """Process one inbox row. Raises StoreUnavailable, ChatUnavailable."""
        event = row.body["event"]
        inner = event.get("message") or event
        channel, ts = await read_event_channel(self.chat, event), str(inner.get("ts") or event["ts"])
        posts: tuple[IncidentPost, ...] = ()
        if not channel.is_shared and await self.store.find_incident(channel.id, ts) is None:
            life = await self._find_incident(event, channel)
            posts = (IncidentPost(channel.id, ts, life.incident_id),) if life else ()
        await self.store.commit(Changes(done=row, posts=posts))

    async def _find_incident(self, event: Mapping[str, Any], channel: Channel) -> Lifecycle | None:
        """Return the first referenced incident that everybody in the channel may see, else the one whose alert was
        pasted.
        """
        for there, ts in event.get("refers_to") or ():
            incident_id = await self.store.find_incident(str(there), str(ts))
            life = await self.store.read_lifecycle(incident_id) if incident_id else None
            if life and life.visibility in ("public", channel.visibility):
                return life
        if event.get("alert") is None:
            return None
        return await self.store.find_latest_lifecycle(read_alert(event["alert"]).fingerprint, channel.visibility)
