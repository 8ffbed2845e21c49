"""The inbox: what Slack delivered, written before it is acknowledged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from bot.domain.operations.load import Waiting


@dataclass(frozen=True, slots=True)
class ReceivedEvent:
    """One thing Slack delivered. `event_id` is Slack's (the same over retries); `natural_key` names the fact itself
    (team, channel, ts, for edits a content hash), for Slack may tell one fact through several events.
    `body` None: keep the id only (a message that is not ours to read). Rows with the same `order_key` are worked on in
    the order in which they came: a resolve must not overtake its firing."""

    event_id: str
    natural_key: str
    kind: str
    body: Mapping[str, Any] | None = None
    order_key: str | None = None


@dataclass(frozen=True, slots=True)
class InboxRow:
    """A claimed inbox row."""

    id: int
    kind: str
    body: Mapping[str, Any]
    lease: str
    attempts: int
    received_at: datetime


class Inbox(Protocol):
    """What Slack delivered, written before it is acknowledged. Raises StoreUnavailable: then it must not be acked."""

    async def receive(self, received: ReceivedEvent) -> bool:
        """Keep it durably; False if this event or this fact was here before."""
        ...

    async def claim(self, limit: int) -> tuple[InboxRow, ...]:
        """Claim due rows, oldest first, under a lease; rows of a worker that died come back when its lease ends."""
        ...

    async def retry_later(self, row: InboxRow, delay_s: float, error: str) -> None:
        """Give a row back, to be taken again after `delay_s`; only if the lease still holds."""
        ...

    async def give_up(self, row: InboxRow, error: str) -> None:
        """Keep a row as dead, for a person to look at; only if the lease still holds."""
        ...

    async def acknowledge(self, row: InboxRow) -> None:
        """The work of this row is done and changed nothing else (else name it in `Changes.done`)."""
        ...

    async def delete_settled(self, when: datetime) -> int:
        """Delete settled rows received before then; how many."""
        ...


class InboxBacklog(Protocol):
    """What the inbox tells of itself. Raises StoreUnavailable."""

    async def read_backlog(self) -> Waiting:
        """What could be taken now, or as soon as an older row about the same is done."""
        ...

    async def find_newest_message(self, channel: str, before: datetime) -> str | None:
        """The ts of the newest message of this channel that was received before this moment, as far as it is known."""
