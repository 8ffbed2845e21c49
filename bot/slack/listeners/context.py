"""What the listeners need, and who may see what from where. Must not know Bolt or render anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bot.domain.access.visibility import Viewer
from bot.domain.alerts.alert import Reading
from bot.domain.brief.decide import Brief, decide
from bot.domain.catalog.vendors import STANDARD, Directory
from bot.ports.chat import BotIdentity, Channel, Chat
from bot.ports.clock import Clock
from bot.ports.delivery.inbox import Inbox
from bot.ports.errors import ChatRejected, IncidentNotFound, NotAllowedHere
from bot.ports.incidents import IncidentStore
from bot.slack.views.surfaces import OpenIncident, SlackSurfaces
from bot.workflows.alerts.recurrence import AnswerRecurrence
from bot.workflows.assistant.analyze import ShowModelPayloads
from bot.workflows.assistant.converse import Converse
from bot.workflows.channels.settings import ChangeChannel, ShowChannel
from bot.workflows.channels.silences import DismissAlert, FindAnsweredAlert, ListSilences, MuteAlerts, UndoSilence
from bot.workflows.operations.preview import PreviewChannel
from bot.workflows.operations.status import ReportStatus
from bot.workflows.recall.details import ShowDetails
from bot.workflows.recall.recall import LookUpPrecedents
from bot.workflows.recall.wrong_precedent import DismissPrecedent
from bot.workflows.reports.digest import ComposeDigest
from bot.workflows.resolutions.correct import EditRecord, PurgeRecord, RetractRecord
from bot.workflows.resolutions.not_same_outage import RecordNotSameOutage
from bot.workflows.resolutions.nudge import StopNudges
from bot.workflows.resolutions.resolve import Resolve
from bot.workflows.resolutions.same_fix import GroupFixes


@dataclass(frozen=True, slots=True)
class ChannelUseCases:
    """The use cases of what is agreed in channels."""

    show: ShowChannel
    change: ChangeChannel
    find: FindAnsweredAlert
    not_alert: DismissAlert
    mute: MuteAlerts
    undo: UndoSilence
    silences: ListSilences
    stop_nudges: StopNudges
    wrong: DismissPrecedent


@dataclass(frozen=True, slots=True)
class CorrectionUseCases:
    """The use cases that correct records."""

    edit: EditRecord
    retract: RetractRecord
    purge: PurgeRecord
    fixes: GroupFixes


@dataclass(frozen=True, slots=True)
class UseCases:
    """Everything a listener may use. `read` reads a Slack message event; `decide` is the core's one decision;
    `identity` is who the bot is, so that it knows its own messages (without it, what each event says of us); `names` are
    the vendors and services that the operator names."""

    inbox: Inbox
    store: IncidentStore
    resolve: Resolve
    keep_apart: RecordNotSameOutage
    answer_again: AnswerRecurrence
    lookup: LookUpPrecedents
    compose_digest: ComposeDigest
    status: ReportStatus
    chat: Chat
    surfaces: SlackSurfaces
    clock: Clock
    read: Callable[[Mapping[str, Any]], Reading]
    agreed: ChannelUseCases
    correct: CorrectionUseCases
    details: ShowDetails
    show_sent: ShowModelPayloads | None = None
    decide: Callable[..., Brief] = decide
    identity: BotIdentity | None = None
    names: Directory = STANDARD
    converse: Converse | None = None
    preview: PreviewChannel | None = None


PUBLIC = Viewer()
NOBODY = Viewer(frozenset())
SHARED = (
    "This channel is shared with another organisation, so I show and record nothing here. Please use a channel of your "
    "own organisation, or ask a steward to allow it: /precedent channel."
)
MEMBERS_ONLY = "Only members of that channel may do this."


async def read_viewer(chat: Chat, channel_id: str) -> Viewer:
    """Who reads an answer in this channel: public incidents, the channel's own if it is private, and those of its pool.
    A channel that the bot cannot look at shows what is public; one that is shared with another organisation shows
    nothing, unless a steward allowed it."""
    try:
        channel = await chat.read_channel(channel_id)
    except ChatRejected:
        return PUBLIC
    return NOBODY if channel.is_silent else channel.viewer


async def require_viewer(chat: Chat, channel_id: str) -> Viewer:
    """The viewer of an answer that a person asks for; raises NotAllowedHere in a shared channel, so that they learn why
    there is none."""
    viewer = await read_viewer(chat, channel_id)
    if viewer == NOBODY:
        raise NotAllowedHere(SHARED)
    return viewer


async def require_recordable_channel(chat: Chat, channel_id: str) -> Channel:
    """The channel of a message that a record is to be made of; raises ChatRejected where the bot is no member, for then
    nobody could tell who may see the record; NotAllowedHere where it is shared with another organisation."""
    try:
        channel = await chat.read_channel(channel_id)
    except ChatRejected as problem:
        raise ChatRejected("Invite me to this channel first: /invite @Precedent.", problem.code) from problem
    if channel.is_silent:
        raise NotAllowedHere(SHARED)
    return channel


async def require_member(chat: Chat, channel_id: str, user_id: str) -> None:
    """Raises NotAllowedHere if the channel is private and the person is not in it (any more)."""
    try:
        channel = await chat.read_channel(channel_id)
    except ChatRejected:
        return  # Nothing private can be seen from a channel that the bot cannot look at.
    if channel.is_private and not await chat.is_member(channel_id, user_id):
        raise NotAllowedHere(MEMBERS_ONLY)


async def require_visible(
    deps: UseCases, incident_id: str, channel_id: str, user_id: str, *, said: str | None = None
) -> None:
    """Raises IncidentNotFound unless people in this channel may see the incident, NotAllowedHere unless this person is
    still one of them. What is not there and what may not be seen are told alike, in the asker's own words (`said`)."""
    viewer = await require_viewer(deps.chat, channel_id)
    try:
        visibility = (await deps.store.read_lifecycle(incident_id)).visibility
    except IncidentNotFound:
        visibility = ""
    if visibility == "public":
        return
    await require_member(deps.chat, channel_id, user_id)
    if not viewer.may_see(visibility):
        named = said or incident_id
        raise IncidentNotFound(f"There is no incident {named[:200]} that you may see from here.")


async def list_open_incidents(deps: UseCases, viewer: Viewer, most: int = 100) -> tuple[OpenIncident, ...]:
    """The incidents that are not resolved, newest first, with their titles."""
    lives = (await deps.store.list_open_lifecycles(viewer))[:most]
    records = await deps.store.find_records([life.incident_id for life in lives])
    return tuple(OpenIncident(x, records[x.incident_id].title) for x in lives if x.incident_id in records)
