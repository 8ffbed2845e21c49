"""Find the incident that a message is about, and its thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.domain.incidents.lifecycle import IncidentState
from bot.ports.chat import Chat, ThreadMessage
from bot.ports.errors import RecordRejected
from bot.ports.incidents import IncidentStore

STILL_FIRING = "It fires again. Record what fixed it when it is over: Record… under its brief."


@dataclass(frozen=True, slots=True)
class FindIncident:
    """Find the incident of a message or of its thread, without asking whether anybody may see it."""

    store: IncidentStore

    async def __call__(self, channel_id: str, ts: str, thread_ts: str | None) -> str | None:
        """Return the incident of the message, else that of its thread. Raises StoreUnavailable."""
        found = await self.store.find_incident(channel_id, ts)
        if found is None and thread_ts and thread_ts != ts:
            found = await self.store.find_incident(channel_id, thread_ts)
        return found


@dataclass(frozen=True, slots=True)
class ReadIncidentThread:
    """Read what people wrote in an incident's thread. Nothing of it is stored."""

    store: IncidentStore
    chat: Chat

    async def find_root(self, incident_id: str, channel_id: str) -> str | None:
        """Return the root ts of the incident's thread in this channel. Raises StoreUnavailable."""
        roots = (b.root_ts for b in await self.store.list_briefs(incident_id) if b.channel == channel_id)
        return next(roots, None)

    async def __call__(
        self, incident_id: str | None, channel_id: str, root: str | None
    ) -> Sequence[ThreadMessage] | None:
        """Return the messages of a thread without its root; None if there is no thread.

        It is the given thread, else that of the incident's brief, in this channel rather than in another. Raises
        ChatRejected, ChatUnavailable.
        """
        place = (channel_id, root) if channel_id and root else None
        if place is None and incident_id:
            briefs = sorted(await self.store.list_briefs(incident_id), key=lambda b: b.channel != channel_id)
            place = next(((b.channel, b.root_ts) for b in briefs), None)
        if place is None:
            return None
        return [message for message in await self.chat.read_thread(*place) if message.ts != place[1]]


@dataclass(frozen=True, slots=True)
class RequireOver:
    """Require that an incident is over: only then can anybody say what ended it."""

    store: IncidentStore

    async def __call__(self, incident_id: str) -> IncidentState:
        """Return the incident's state. Raises RecordRejected while it is open, IncidentNotFound, StoreUnavailable."""
        state = (await self.store.read_lifecycle(incident_id)).state
        if state is IncidentState.OPEN:
            raise RecordRejected("", STILL_FIRING)
        return state
