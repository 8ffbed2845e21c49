"""What a channel holds, for reading back what was missed, and until when Slack's events surely arrived.

Must not know what a message means.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from bot.domain.alerts.alert import Reading
from bot.domain.text.json_types import JsonObject
from bot.ports.delivery.inbox import ReceivedEvent
from bot.ports.errors import ChatUnavailable


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """A part of a channel's messages (not of threads), newest first."""

    messages: Sequence[JsonObject]
    cursor: str = ""  # names the next part, "" at the end


@dataclass(slots=True)
class PageCursors:
    """The cursors that one reading named. One that comes again would lead in a circle."""

    _seen: set[str] = field(default_factory=set)

    def follow(self, cursor: str) -> str:
        """Note the cursor and return it ("" at the end). Raises ChatUnavailable where it was named before."""
        if cursor and cursor in self._seen:
            raise ChatUnavailable("Slack names a page that was read already, so that the pages would never end.")
        self._seen.add(cursor)
        return cursor


class ChannelHistory(Protocol):
    """Read channels. Raises ChatUnavailable (with the wait that Slack asks for), ChatRejected."""

    async def list_channels(self, cursor: str) -> tuple[Sequence[str], str]:
        """Return ids of the channels that the bot is in, and the cursor of the next ones ("" at the end)."""
        ...

    async def read_page(self, channel: str, oldest: str, cursor: str) -> HistoryPage:
        """Return messages after the ts `oldest`."""
        ...


class ConnectionWatermark(Protocol):
    """The moment until which Slack's events surely arrived. Raises StoreUnavailable."""

    async def read(self) -> datetime | None:
        """Return the last moment that was noted, None if none ever was."""
        ...

    async def advance(self, at: datetime) -> None:
        """Note that Slack is connected at this moment."""
        ...


class ChannelArchive(Protocol):
    """Read what a channel held between two moments, and its threads. Raises ChatUnavailable (with the wait that Slack
    asks for), ChatRejected, ChatAuthRejected."""

    async def list_named_channels(self, cursor: str) -> tuple[Mapping[str, str], str]:
        """Return ids of the channels that the bot is in, by name, and the cursor of the next ones."""
        ...

    async def read_range(self, channel: str, oldest: str, latest: str, cursor: str) -> HistoryPage:
        """Return messages from the ts `oldest` to the ts `latest`, both included, newest first."""
        ...

    async def read_thread_page(self, channel: str, root_ts: str, cursor: str) -> HistoryPage:
        """Return the messages of a thread, its root included, oldest first."""
        ...


class MessageReader(Protocol):
    """Tell what a channel's message is."""

    def read_event(self, channel: str, message: JsonObject) -> ReceivedEvent | None:
        """Return what the inbox would keep of it, under the key of its event; None for our own."""
        ...

    def find_poster(self, message: JsonObject) -> str | None:
        """Return the name of the app that posted it, None where no app did."""
        ...

    def is_by_person(self, message: JsonObject) -> bool:
        """Return whether a person wrote it."""
        ...

    def is_by_us_alone(self, message: JsonObject) -> bool:
        """Return whether only the bot answered in the message's thread, as far as the message shows."""
        ...

    def read_alert(self, message: JsonObject) -> Reading:
        """Return the alert that it is, or why it is none."""
        ...
