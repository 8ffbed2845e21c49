"""The inbox: what Slack delivered, written before it is acknowledged."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.domain.operations.load import Backlog
from bot.domain.text.json_types import JsonObject


@dataclass(frozen=True, slots=True)
class ReceivedEvent:
    """One thing that Slack delivered, or work that we queue for ourselves."""

    event_id: str  # Slack's, the same over retries
    # names the fact itself (team, channel, ts, for edits a content hash), because Slack may report one fact in
    # several events
    natural_key: str
    kind: str
    # None: keep the id only (a message that is not ours to read)
    body: JsonObject | None = None
    # rows of one key are worked on in the order in which they came: a resolve must not overtake its firing
    order_key: str | None = None


@dataclass(frozen=True, slots=True)
class InboxRow:
    """A claimed inbox row."""

    id: int
    kind: str
    body: JsonObject
    lease: str
    attempts: int
    received_at: datetime


class Inbox(Protocol):
    """The durable queue of received events. Raises StoreUnavailable: then Slack is not acknowledged and sends it again."""

    async def receive(self, received: ReceivedEvent) -> bool:
        """Write it durably; False if this event or this fact was here before."""
        ...

    async def claim(self, limit: int) -> tuple[InboxRow, ...]:
        """Claim due rows, oldest first, under a lease; rows of a worker that died come back when its lease ends."""
        ...

    async def retry_later(self, row: InboxRow, delay_s: float, error: str) -> None:
        """Give a row back, to be claimed again after `delay_s`; only if the lease still holds."""
        ...

    async def give_up(self, row: InboxRow, error: str) -> None:
        """Mark a row as dead, for a person to look at; only if the lease still holds."""
        ...

    async def acknowledge(self, row: InboxRow) -> None:
        """Mark the row as done, where its work changed nothing else (else name it in `Changes.done`)."""
        ...

    async def delete_settled(self, when: datetime) -> int:
        """Delete settled rows received before then and return how many."""
        ...


class InboxBacklog(Protocol):
    """How far behind the inbox is. Raises StoreUnavailable."""

    async def read_backlog(self) -> Backlog:
        """Return what could be claimed now, or as soon as an older row about the same thing is done."""
        ...

    async def find_newest_message(self, channel: str, before: datetime) -> str | None:
        """Return the ts of the newest message of this channel that was received before this moment, as far as it is
        known."""
