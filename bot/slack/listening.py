"""What the listeners need, and who may see what from where. Must not know Bolt or render anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bot.domain.alert import Reading
from bot.domain.brief import Brief, decide
from bot.domain.query import Viewer
from bot.ports import ChatRejected, IncidentNotFound
from bot.ports.chat import Channel, Chat, Identity
from bot.ports.clock import Clock
from bot.ports.store import Inbox, IncidentStore
from bot.slack.messages import OpenIncident, SlackSurfaces
from bot.workflows.digest import ComposeDigest
from bot.workflows.recall import LookUp
from bot.workflows.resolve import Resolve
from bot.workflows.status import ReportStatus


@dataclass(frozen=True, slots=True)
class Listening:
    """Everything a listener may use. `read` reads a Slack message event; `decide` is the core's one decision;
    `identity` is who the bot is, so that it knows its own messages (without it, what each event says of us)."""

    inbox: Inbox
    store: IncidentStore
    resolve: Resolve
    lookup: LookUp
    compose_digest: ComposeDigest
    status: ReportStatus
    chat: Chat
    surfaces: SlackSurfaces
    clock: Clock
    read: Callable[[Mapping[str, Any]], Reading]
    decide: Callable[..., Brief] = decide
    identity: Identity | None = None


PUBLIC = Viewer()


async def viewer_in(chat: Chat, channel_id: str) -> Viewer:
    """Who reads an answer in this channel: public incidents, and the channel's own if it is private. A channel that the
    bot cannot look at shows what is public."""
    try:
        channel = await chat.channel(channel_id)
    except ChatRejected:
        return PUBLIC
    return Viewer(frozenset({"public", channel.visibility}))


async def channel_of_record(chat: Chat, channel_id: str) -> Channel:
    """The channel of a message that a record is to be made of; raises ChatRejected where the bot is no member, for then
    nobody could tell who may see the record."""
    try:
        return await chat.channel(channel_id)
    except ChatRejected as problem:
        raise ChatRejected("Invite me to this channel first: /invite @Precedent.", problem.code) from problem


async def require_visible(deps: Listening, incident_id: str, channel_id: str) -> None:
    """Raises IncidentNotFound unless people in this channel may see the incident."""
    unseen = IncidentNotFound(f"There is no incident {incident_id[:40]} that you may see from here.")
    try:
        life = await deps.store.life(incident_id)
    except IncidentNotFound as problem:
        raise unseen from problem
    if not (await viewer_in(deps.chat, channel_id)).may_see(life.visibility):
        raise unseen


async def open_incidents(deps: Listening, viewer: Viewer, most: int = 100) -> tuple[OpenIncident, ...]:
    """The incidents that are not resolved, newest first, with their titles."""
    lives = await deps.store.open_lives(viewer)
    return tuple([OpenIncident(life, (await deps.store.record(life.incident_id)).title) for life in lives[:most]])
