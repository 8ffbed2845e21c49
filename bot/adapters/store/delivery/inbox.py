"""The Inbox port: what Slack delivered, written before it is acknowledged, worked on under a lease.

Must not read the bodies. A row is pending or working until done or dead; `due_at` is when it may be claimed (again).
For a working row that is the end of its lease, so the rows of a worker that died come back by themselves.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.adapters.store.database.batched_inserts import BatchedInserts
from bot.adapters.store.database.connection import Database
from bot.adapters.store.database.statements import ColumnValues, insert_new, to_json
from bot.adapters.store.database.tables import inbox
from bot.domain.operations.load import Backlog
from bot.ports.clock import Clock, Ids
from bot.ports.delivery.inbox import InboxRow, ReceivedEvent

LIVE = ("pending", "working")


@dataclass(frozen=True, slots=True)
class SqlInbox:
    """The Inbox and InboxBacklog ports on SQLAlchemy."""

    database: Database
    clock: Clock
    ids: Ids
    lease_s: float  # how long a worker may take for a row
    together: BatchedInserts

    async def receive(self, received: ReceivedEvent) -> bool:
        """See the port."""
        return await self.together.insert(_build_row(received, self.clock.now()))

    async def claim(self, limit: int) -> tuple[InboxRow, ...]:
        """See the port."""
        now = self.clock.now()
        ready = (inbox.c.state.in_(LIVE), inbox.c.due_at <= now, ~_has_older_pending())
        due = sa.select(inbox).where(*ready).order_by(inbox.c.id).limit(limit)
        async with self.database.read() as connection:
            if (await connection.execute(due.with_only_columns(inbox.c.id).limit(1))).first() is None:
                return ()
        taken: list[InboxRow] = []

        async def take(connection: AsyncConnection) -> None:
            taken.clear()
            rows = (await connection.execute(due.with_for_update(skip_locked=True))).mappings().all()
            for row in rows:
                lease = self.ids.new()
                until = now + timedelta(seconds=self.lease_s)
                changed = {"state": "working", "lease": lease, "due_at": until, "attempts": row["attempts"] + 1}
                await connection.execute(sa.update(inbox).where(inbox.c.id == row["id"]).values(**changed))
                taken.append(_read_claimed(row, lease))

        await self.database.write_at_once(take)
        return tuple(taken)

    async def retry_later(self, row: InboxRow, delay_s: float, error: str) -> None:
        """See the port."""
        due = self.clock.now() + timedelta(seconds=delay_s)
        await self._write_settled(row, state="pending", lease=None, due_at=due, error=error)

    async def give_up(self, row: InboxRow, error: str) -> None:
        """See the port."""
        await self._write_settled(row, state="dead", lease=None, error=error)

    async def acknowledge(self, row: InboxRow) -> None:
        """See the port."""
        await self._write_settled(row, state="done", lease=None, body=None)

    async def read_backlog(self) -> Backlog:
        """See the port. Rows that wait after a failure are due later and do not count."""
        now = self.clock.now()
        asked = sa.select(sa.func.count(), sa.func.min(inbox.c.received_at)).where(
            inbox.c.state == "pending", inbox.c.due_at <= now
        )
        async with self.database.read() as connection:
            rows, oldest = (await connection.execute(asked)).one()
        return Backlog(int(rows), max(timedelta(), now - oldest) if oldest else timedelta())

    async def find_newest_message(self, channel: str, before: datetime) -> str | None:
        """See the port. The ts is part of the key, and every ts of these centuries has as many digits, so text order is
        time order."""
        key = inbox.c.natural_key
        asked = sa.select(sa.func.max(key)).where(key.like(f"message/%/{channel}/%"), inbox.c.received_at < before)
        async with self.database.read() as connection:
            found: str | None = (await connection.execute(asked)).scalar_one()
        return found.split("/")[3] if found else None

    async def delete_settled(self, when: datetime) -> int:
        """See the port."""
        old = sa.delete(inbox).where(inbox.c.state == "done", inbox.c.received_at < when)
        async with self.database.write() as connection:
            return (await connection.execute(old)).rowcount

    async def _write_settled(self, row: InboxRow, **changed: Any) -> None:
        async def settle(connection: AsyncConnection) -> None:
            await connection.execute(_update_claimed(row).values(**changed))

        await self.database.write_at_once(settle)


def _has_older_pending() -> sa.ColumnElement[bool]:
    """Return the condition that an older row about the same thing is not done: events about one alert are worked on in
    order."""
    older = inbox.alias("older")
    same = (older.c.order_key == inbox.c.order_key, older.c.id < inbox.c.id, older.c.state.in_(LIVE))
    return sa.exists(sa.select(sa.literal(1)).select_from(older).where(*same).correlate(inbox))


async def write_received(connection: AsyncConnection, received: Sequence[ReceivedEvent], now: datetime) -> None:
    """Insert work for ourselves as part of a larger transaction; rows that are there already stay."""
    for one in received:
        await insert_new(connection, inbox, _build_row(one, now))


def _build_row(received: ReceivedEvent, now: datetime) -> ColumnValues:
    return {
        "event_id": received.event_id,
        "natural_key": received.natural_key,
        "order_key": received.order_key,
        "kind": received.kind,
        "body": None if received.body is None else to_json(received.body),
        "state": "done" if received.body is None else "pending",
        "attempts": 0,
        "due_at": now,
        "received_at": now,
    }


async def write_acknowledged(connection: AsyncConnection, row: InboxRow) -> bool:
    """Mark the row done as part of a larger transaction, and delete its body; False if its lease was lost to another
    worker."""
    return (await connection.execute(_update_claimed(row).values(state="done", lease=None, body=None))).rowcount == 1


def _update_claimed(row: InboxRow) -> sa.Update:
    return sa.update(inbox).where(inbox.c.id == row.id, inbox.c.lease == row.lease)


def _read_claimed(row: sa.RowMapping, lease: str) -> InboxRow:
    return InboxRow(
        id=row["id"],
        kind=row["kind"],
        body=json.loads(row["body"]),
        lease=lease,
        attempts=row["attempts"] + 1,
        received_at=row["received_at"],
    )
