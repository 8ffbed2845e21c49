"""Slack as the workflows see it: channels, messages, and calls that post.

Must not import Slack's libraries; what blocks hold is opaque to the workflows.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeGuard, TypeVar

from bot.domain.access.visibility import Viewer, list_scopes
from bot.domain.delivery.kinds import Operation
from bot.domain.text.json_types import JsonObject
from bot.ports.errors import ChatAuthRejected, ChatRejected


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """A rendered message."""

    text: str  # the notification text
    blocks: tuple[JsonObject, ...] = ()  # Block Kit JSON


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel as far as it matters here."""

    id: str
    name: str = ""
    is_private: bool = False  # a private channel keeps its incidents to itself
    is_shared: bool = False  # another organization reads along
    is_allowed: bool = False  # a steward allowed briefs although it is shared
    pools: tuple[str, ...] = ()  # the private channels with which it shares incidents
    is_joined: bool = True  # the bot is in it
    is_archived: bool = False  # nobody can write there

    @property
    def is_silent(self) -> bool:
        """Whether the bot stays silent: another organization reads along, and no steward allowed it."""
        return self.is_shared and not self.is_allowed

    @property
    def viewer(self) -> Viewer:
        """Everybody who reads what is posted here, as one viewer."""
        return Viewer(list_scopes(self.visibility, self.pools))

    @property
    def visibility(self) -> str:
        """The visibility scope of incidents that are announced here."""
        return f"private:{self.id}" if self.is_private else "public"


@dataclass(frozen=True, slots=True)
class BotIdentity:
    """The bot in its workspace: what it posts carries these ids, and must never be read as an alert."""

    user_id: str
    bot_id: str
    team_id: str = ""
    team: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class Posting:
    """A call to Slack, as the outbox stores it."""

    operation: Operation
    channel: str
    delivery_id: str  # goes into the message's metadata, as does the incident id
    text: str = ""
    blocks: tuple[JsonObject, ...] = ()
    thread_ts: str | None = None  # the root of the thread to post in
    ts: str | None = None  # the message that is edited, deleted or reacted to
    user: str | None = None  # who alone sees an ephemeral message
    reaction: str | None = None
    incident_id: str | None = None
    # the name and description of an upload (see `bot.ports.files`); channels that a direct message is about
    extra: JsonObject = field(default_factory=dict)
    content: bytes | None = None  # the bytes of an upload, made at delivery and never stored


@dataclass(frozen=True, slots=True)
class ThreadMessage:
    """A person's message: the text as they read it, line by line, with secrets masked."""

    user: str
    ts: str
    text: str
    thread_ts: str | None = None  # the root of its thread, None outside of threads


class Chat(Protocol):
    """Slack's Web API. Raises ChatUnavailable, ChatOutcomeUnknown, ChatRejected, ChatAuthRejected."""

    async def deliver(self, posting: Posting) -> str | None:
        """Make the call and return the message ts where there is one, for an upload the file's id. Deleting or editing
        what is gone, and reacting twice, are fine and return None."""
        ...

    async def find_delivered(self, posting: Posting) -> str | None:
        """Return the ts of a message of ours with this delivery id, if it is there already; for an upload the id of the
        file of this name in its thread."""
        ...

    async def read_channel(self, channel_id: str, *, within_s: float | None = None) -> Channel:
        """Return the channel, as it was a minute ago at most; with `within_s`, no longer ago than so many seconds."""
        ...

    async def is_member(self, channel_id: str, user_id: str) -> bool:
        """Return whether the person is in the channel now (a yes may be a minute old). For what is private to a
        channel."""
        ...

    async def get_permalink(self, channel_id: str, ts: str) -> str | None:
        """Return a link to the message, or None if Slack gives none."""
        ...

    async def read_thread(self, channel_id: str, root_ts: str) -> tuple[ThreadMessage, ...]:
        """Return what people wrote in a thread, its root included, oldest first; nothing that an app posted."""
        ...

    async def read_message(self, channel_id: str, ts: str) -> ThreadMessage | None:
        """Return what a person wrote in this message, None where an app posted it or it is gone."""
        ...

    async def open_direct_message(self, user_id: str) -> str:
        """Return the id of the conversation between this person and the bot."""
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
    """Await the call; return `otherwise` where Slack refuses this one thing.

    Raises ChatAuthRejected, because then it refuses everything, and ChatUnavailable.
    """
    try:
        return await asked
    except ChatAuthRejected:
        raise
    except ChatRejected:
        return otherwise


async def read_event_channel(chat: Chat, event: JsonObject) -> Channel:
    """Return the channel in which a message was posted.

    The event itself says whether the channel was private then, which may be newer than what is cached: then Slack is
    asked again. Raises ChatRejected, ChatUnavailable.
    """
    channel_id = str(event.get("channel") or "")
    channel = await chat.read_channel(channel_id)
    is_outdated = event.get("channel_type") in PRIVATE_TYPES and not channel.is_private
    return await chat.read_channel(channel_id, within_s=0) if is_outdated else channel


def read_source(event: JsonObject) -> str:
    """Return who posted an alert: the id of the bot, else of the app, else of the person; "" if Slack names none."""
    inner = event.get("message")
    facts = {**event, **inner} if isinstance(inner, Mapping) else event
    return next((str(facts[key]) for key in ("bot_id", "app_id", "user") if facts.get(key)), "")
