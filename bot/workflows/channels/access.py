"""Decide what people in a channel may see and do there. Every listener asks here, each time again: who is in a channel changes.

What does not exist and what may not be seen raise the same error, so that nobody can probe for incidents.
"""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain.access.visibility import Viewer
from bot.domain.incidents.record import Incident
from bot.ports.chat import Channel, Chat, may_speak
from bot.ports.errors import ChatRejected, IncidentNotFound, NotAllowedHere
from bot.ports.incidents import IncidentStore

PUBLIC = Viewer()
NOBODY = Viewer(frozenset())
SHARED = (
    "This channel is shared with another organisation, so I show and record nothing here. Please use a channel of your "
    "own organisation, or ask a steward to allow it: /precedent channel."
)
MEMBERS_ONLY = "Only members of that channel may do this."
NO_RECORD = "There is no record {} that you may see from here."


@dataclass(frozen=True, slots=True)
class ChannelAccess:
    """Who may see what from which channel."""

    chat: Chat
    store: IncidentStore

    async def find_viewer(self, channel_id: str) -> Viewer:
        """Return who reads an answer in this channel: public incidents, its own if it is private, and those of its
        pool.

        In a channel that the bot cannot see, that is what is public; in one that is shared with another organization
        it is nothing, unless a steward allowed it.
        """
        try:
            channel = await self.chat.read_channel(channel_id)
        except ChatRejected:
            return PUBLIC
        return channel.viewer if may_speak(channel) else NOBODY

    async def require_viewer(self, channel_id: str) -> Viewer:
        """Return the viewer of an answer that a person asks for.

        Raises NotAllowedHere in a shared channel, so that they learn why there is no answer.
        """
        viewer = await self.find_viewer(channel_id)
        if viewer == NOBODY:
            raise NotAllowedHere(SHARED)
        return viewer

    async def require_channel(self, channel_id: str) -> Channel:
        """Return the channel of a message that becomes a record.

        Raises ChatRejected if the bot is no member (nobody could say who may see the record), NotAllowedHere if the
        channel is shared with another organization.
        """
        try:
            channel = await self.chat.read_channel(channel_id)
        except ChatRejected as problem:
            raise ChatRejected("Invite me to this channel first: /invite @Precedent.", problem.code) from problem
        if not may_speak(channel):
            raise NotAllowedHere(SHARED)
        return channel

    async def require_member(self, channel_id: str, user_id: str) -> None:
        """Raise NotAllowedHere if the channel is private and the person is not (or no longer) a member."""
        try:
            channel = await self.chat.read_channel(channel_id)
        except ChatRejected:
            return  # Nothing private can be seen from a channel that the bot cannot look at.
        if channel.is_private and not await self.chat.is_member(channel_id, user_id):
            raise NotAllowedHere(MEMBERS_ONLY)

    async def require_visible(self, incident_id: str, channel_id: str, user_id: str, *, called: str = "") -> None:
        """Raises IncidentNotFound unless people in this channel may see the incident, NotAllowedHere unless this person is
        still one of them. `called`: the incident in the asker's own words, for the refusal."""
        viewer = await self.require_viewer(channel_id)
        try:
            visibility = (await self.store.read_lifecycle(incident_id)).visibility
        except IncidentNotFound:
            visibility = ""
        if visibility == "public":
            return
        await self.require_member(channel_id, user_id)
        if not viewer.may_see(visibility):
            raise IncidentNotFound(f"There is no incident {(called or incident_id)[:200]} that you may see from here.")

    async def require_reader(self, incident_id: str, channel_id: str, user_id: str) -> Viewer:
        """Return what this person may see here now. Raises IncidentNotFound, NotAllowedHere."""
        await self.require_member(channel_id, user_id)
        await self.require_visible(incident_id, channel_id, user_id)
        return await self.require_viewer(channel_id)

    async def require_record(self, incident_id: str, channel_id: str, user_id: str, called: str = "") -> Incident:
        """Return the record, if this person may see it from this channel. Raises as `require_visible`."""
        viewer = await self.require_viewer(channel_id)
        record = (await self.store.find_records((incident_id,))).get(incident_id)
        if record is None or record.source.visibility != "public":
            await self.require_member(channel_id, user_id)
        if record is None or not viewer.may_see(record.source.visibility):
            raise IncidentNotFound(NO_RECORD.format((called or incident_id)[:200]))
        return record

    async def find_purgeable(
        self, incident_id: str, channel_id: str, user_id: str, called: str = ""
    ) -> Incident | None:
        """Return the record that a steward may ask to purge; None where it was removed from memory before. Raises as
        `require_record`."""
        if incident_id not in await self.store.find_retracted((incident_id,)):
            return await self.require_record(incident_id, channel_id, user_id, called)
        await self.require_viewer(channel_id)
        return None
