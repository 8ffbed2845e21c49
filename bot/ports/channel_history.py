"""What a channel holds, for reading back what was missed, and until when Slack was heard.

Must not know what a message means.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from bot.domain.alerts.alert import Reading
from bot.ports.delivery.inbox import ReceivedEvent
from bot.ports.errors import ChatUnavailable


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """A part of a channel's messages (not of threads), the newest first; `cursor` names the next part, "" at the end."""

    messages: Sequence[Mapping[str, Any]]
    cursor: str = ""


@dataclass(slots=True)
class PageCursors:
    """The cursors that were named in one reading. One that comes again would lead in a circle."""

    _seen: set[str] = field(default_factory=set)

    def follow(self, cursor: str) -> str:
        """The cursor, noted ("" at the end). Raises ChatUnavailable where it was named before."""
        if cursor and cursor in self._seen:
            raise ChatUnavailable("Slack names a page that was read already, so that the pages would never end.")
        self._seen.add(cursor)
        return cursor


class ChannelHistory(Protocol):
    """Reading channels. Raises ChatUnavailable (with Slack's own wish how long to wait), ChatRejected."""

    async def list_channels(self, cursor: str) -> tuple[Sequence[str], str]:
        """Ids of the channels that the bot is in, and the cursor of the next ones ("" at the end)."""
        ...

    async def read_page(self, channel: str, oldest: str, cursor: str) -> HistoryPage:
        """Messages after the ts `oldest`."""
        ...


class ConnectionWatermark(Protocol):
    """Until when Slack's events surely arrived. Raises StoreUnavailable."""

    async def read(self) -> datetime | None:
        """The last moment that was noted; None if none ever was."""
        ...

    async def advance(self, at: datetime) -> None:
        """Slack is connected at this moment."""
        ...


class ChannelArchive(Protocol):
    """Reading what a channel held between two moments, and its threads. Raises ChatUnavailable (with Slack's own wish how
    long to wait), ChatRejected, ChatAuthRejected."""

    async def list_named_channels(self, cursor: str) -> tuple[Mapping[str, str], str]:
        """Ids of the channels that the bot is in, by what people call them, and the cursor of the next ones."""
        ...

    async def read_range(self, channel: str, oldest: str, latest: str, cursor: str) -> HistoryPage:
        """Messages from the ts `oldest` to the ts `latest`, both included, the newest first."""
        ...

    async def read_thread_page(self, channel: str, root_ts: str, cursor: str) -> HistoryPage:
        """The messages of a thread, its root included, the oldest first."""
        ...


class MessageReader(Protocol):
    """What a message of a channel is."""

    def read_event(self, channel: str, message: Mapping[str, Any]) -> ReceivedEvent | None:
        """What the inbox would keep of it, under the key of its event; None for our own."""
        ...

    def find_poster(self, message: Mapping[str, Any]) -> str | None:
        """What people call the app that posted it; None where none did."""
        ...

    def is_by_person(self, message: Mapping[str, Any]) -> bool:
        """Whether a person said it."""
        ...

    def is_by_us_alone(self, message: Mapping[str, Any]) -> bool:
        """Whether nobody but the bot answered in the message's thread, as far as the message tells."""
        ...

    def read_alert(self, message: Mapping[str, Any]) -> Reading:
        """What it says, if it is an alert."""
        ...
