"""What an operator may see and do about deliveries: list, retry, drop with a reason, export.

Whatever is changed here is written to the audit log in the same transaction.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from bot.domain.delivery.kinds import Operation
from bot.domain.text.json_types import JsonObject
from bot.ports.delivery.outbox import Destination


class OutboxState(StrEnum):
    """The state of an outbox row."""

    PENDING = "pending"
    SENDING = "sending"
    SENT = "sent"
    DEAD = "dead"


UNDELIVERED = frozenset({OutboxState.PENDING, OutboxState.SENDING, OutboxState.DEAD})


@dataclass(frozen=True, slots=True)
class OutboxRowView:
    """An outbox row as it is stored."""

    id: int
    destination: Destination
    operation: Operation
    key: str
    delivery_id: str
    state: OutboxState
    attempts: int
    owed_at: datetime
    due_at: datetime  # when it may be tried (again); for a sending row the end of its lease
    settled_at: datetime | None  # when it was sent or given up
    error: str | None
    uncertain: bool  # an earlier delivery may have happened
    payload: JsonObject


@dataclass(frozen=True, slots=True)
class UnprocessedEvent:
    """An inbox row that is not worked off."""

    id: int
    kind: str
    state: str
    attempts: int
    received_at: datetime
    error: str | None
    body: JsonObject  # what Slack delivered, with secrets masked


@dataclass(frozen=True, slots=True)
class RowResult:
    """What came of one row that an operator named."""

    id: int
    refusal: str | None = None  # one sentence, None where it was done


class OutboxAdmin(Protocol):
    """Queued deliveries. Raises StoreUnavailable."""

    async def list_rows(self, states: frozenset[OutboxState], limit: int) -> tuple[OutboxRowView, ...]:
        """Return rows in these states, oldest first."""
        ...

    def stream_undelivered(self) -> AsyncIterator[OutboxRowView]:
        """Yield every row that is not sent, oldest first, without holding them all in memory."""
        ...

    async def requeue(self, row_ids: Sequence[int], by: str) -> tuple[RowResult, ...]:
        """Let dead rows be tried again, and waiting ones at once. Refused: unknown, sent, or being sent right now."""
        ...

    async def drop(self, row_ids: Sequence[int], reason: str, by: str) -> tuple[RowResult, ...]:
        """Give up rows for good. Refused: unknown, sent, or being sent right now. Raises RecordRejected (reason)
        without a reason: the audit log must say why somebody's work was thrown away."""
        ...


class InboxAdmin(Protocol):
    """Received events that could not be worked off. Raises StoreUnavailable."""

    async def count_rows(self) -> Mapping[str, int]:
        """Return the number of rows by state (pending, working, dead; finished ones are not counted)."""
        ...

    async def list_dead(self, limit: int) -> tuple[UnprocessedEvent, ...]:
        """Return events that were given up, oldest first."""
        ...

    def stream_unprocessed(self) -> AsyncIterator[UnprocessedEvent]:
        """Yield every event that is not worked off, oldest first, dead ones too."""
        ...

    async def requeue(self, row_ids: Sequence[int], by: str) -> tuple[RowResult, ...]:
        """Let dead events be worked on again. Refused: unknown, or not dead."""
        ...
