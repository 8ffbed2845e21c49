"""Slack as the workflows see it: a place to post, and the surfaces that turn decisions into messages.

Must not import Slack's libraries; payloads are opaque to the workflows.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeGuard, TypeVar

from bot.domain.access.visibility import Viewer, scopes
from bot.domain.delivery.kinds import Operation
from bot.ports.errors import ChatAuthRejected, ChatRejected


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """A rendered message: `text` is the notification text; `blocks` Block Kit JSON."""

    text: str
    blocks: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Channel:
    """What matters of a channel: private ones keep their incidents to themselves; shared ones (read by another
    organisation, too) get no brief unless a steward allowed it. `pools`: the private channels it shares incidents with.
    `is_joined`: the bot is in it. `is_archived`: nobody can write there."""

    id: str
    name: str = ""
    is_private: bool = False
    is_shared: bool = False
    is_allowed: bool = False
    pools: tuple[str, ...] = ()
    is_joined: bool = True
    is_archived: bool = False

    @property
    def is_silent(self) -> bool:
        """Whether nothing is said here: another organisation reads along, and no steward allowed it."""
        return self.is_shared and not self.is_allowed

    @property
    def viewer(self) -> Viewer:
        """Who reads what is said here."""
        return Viewer(scopes(self.visibility, self.pools))

    @property
    def visibility(self) -> str:
        """The visibility scope of incidents that are announced here."""
        return f"private:{self.id}" if self.is_private else "public"


@dataclass(frozen=True, slots=True)
class BotIdentity:
    """Who the bot is in its workspace: what it posts carries these ids, and must never be read as an alert."""

    user_id: str
    bot_id: str
    team_id: str = ""
    team: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class Posting:
    """A call owed to Slack, as the outbox keeps it. `operation` as in `Owed`; `ts` is the target of update, delete
    and react. `delivery_id` and `incident_id` go into the message's metadata. "upload" puts a file (`extra` names and
    describes it, see `bot.ports.files`) into the thread of `thread_ts` or of its target; its `content` is never kept."""

    operation: Operation
    channel: str
    delivery_id: str
    text: str = ""
    blocks: tuple[Mapping[str, Any], ...] = ()
    thread_ts: str | None = None
    ts: str | None = None
    user: str | None = None
    reaction: str | None = None
    incident_id: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    content: bytes | None = None


@dataclass(frozen=True, slots=True)
class ThreadMessage:
    """What a person wrote in a message: as they read it themselves, line by line, with secrets masked. `thread_ts` is the
    root of the thread that it stands in, None outside of threads."""

    user: str
    ts: str
    text: str
    thread_ts: str | None = None


class Chat(Protocol):
    """Slack's Web API. Raises ChatUnavailable, ChatOutcomeUnknown, ChatRejected, ChatAuthRejected."""

    async def deliver(self, posting: Posting) -> str | None:
        """Make the call; the message ts where there is one, for an "upload" the file's id. Deleting or editing what is
        gone, and reacting twice, are fine and give None."""
        ...

    async def find_delivered(self, posting: Posting) -> str | None:
        """The ts of a message of ours with this delivery id, if it is there already; for an "upload" the id of the file
        of this name in its thread."""
        ...

    async def read_channel(self, channel_id: str, *, within_s: float | None = None) -> Channel:
        """The channel, as it was a minute ago at most; with `within_s`, no longer ago than so many seconds."""
        ...

    async def is_member(self, channel_id: str, user_id: str) -> bool:
        """Whether the person is in the channel now (a yes may be a minute old). For what is private to a channel."""
        ...

    async def get_permalink(self, channel_id: str, ts: str) -> str | None:
        """A link to the message, or None if Slack gives none."""
        ...

    async def read_thread(self, channel_id: str, root_ts: str) -> tuple[ThreadMessage, ...]:
        """What people wrote in a thread, its root included, oldest first; nothing that an app posted."""
        ...

    async def read_message(self, channel_id: str, ts: str) -> ThreadMessage | None:
        """What a person wrote in this message; None where an app posted it, or it is gone."""
        ...

    async def open_direct_message(self, user_id: str) -> str:
        """The id of the conversation between this person and the bot."""
        ...


T = TypeVar("T")


# In what is said to one person (`extra`): the channels of which it tells, so that it is known who else may read it.
OF_CHANNELS = "of_channels"


# How Slack's message events name what not everybody may read.
PRIVATE_TYPES = frozenset({"group", "mpim", "im"})


def may_speak(channel: Channel | None) -> TypeGuard[Channel]:
    """Return whether the bot may post in a channel by itself: the one answer for everything that posts.

    It may not if another organization reads along and no steward allowed it, nor in a channel that Slack does not show to
    the bot (None): nobody knows who reads there.
    """
    return channel is not None and not channel.is_silent


async def find_channel(chat: Chat, channel_id: str) -> Channel | None:
    """Return the channel; None if Slack does not show it. Raises ChatAuthRejected, ChatUnavailable."""
    return await or_if_refused(chat.read_channel(channel_id), None)


async def or_if_refused(asked: Awaitable[T], otherwise: T) -> T:
    """What Slack says, or `otherwise` where it refuses this one thing. Raises ChatAuthRejected, for then it refuses
    everything, and ChatUnavailable."""
    try:
        return await asked
    except ChatAuthRejected:
        raise
    except ChatRejected:
        return otherwise


async def read_event_channel(chat: Chat, event: Mapping[str, Any]) -> Channel:
    """The channel in which a message was posted. The event itself says whether it was private then, which may be newer
    than what is known of the channel: that is asked anew. Raises ChatRejected, ChatUnavailable."""
    channel_id = str(event.get("channel") or "")
    channel = await chat.read_channel(channel_id)
    is_outdated = event.get("channel_type") in PRIVATE_TYPES and not channel.is_private
    return await chat.read_channel(channel_id, within_s=0) if is_outdated else channel
