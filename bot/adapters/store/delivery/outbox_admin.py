"""The operator's view of outbox and inbox. Must not deliver; every change is audited in the same transaction."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.adapters.store.database.connection import Database
from bot.adapters.store.database.tables import audit, inbox, outbox
from bot.domain.delivery.kinds import read_operation
from bot.ports.clock import Clock
from bot.ports.delivery.outbox import Destination
from bot.ports.delivery.outbox_admin import UNDELIVERED, OutboxRowView, OutboxState, RowResult, UnprocessedEvent
from bot.ports.errors import RecordRejected

PAGE = 200
UNPROCESSED = ("pending", "working", "dead")


@dataclass(frozen=True, slots=True)
class SqlOutboxAdmin:
    """The OutboxAdmin port on SQLAlchemy."""

    database: Database
    clock: Clock

    async def list_rows(self, states: frozenset[OutboxState], limit: int) -> tuple[OutboxRowView, ...]:
        """See the port."""
        return tuple(await self._read_page(states, 0, limit))

    async def stream_undelivered(self) -> AsyncIterator[OutboxRowView]:
        """See the port."""
        last = 0
        while page := await self._read_page(UNDELIVERED, last, PAGE):
            for row in page:
                yield row
            last = page[-1].id

    async def requeue(self, row_ids: Sequence[int], by: str) -> tuple[RowResult, ...]:
        """See the port."""
        now = self.clock.now()
        again = {"state": "pending", "attempts": 0, "due_at": now, "settled_at": None, "lease": None}

        async def put_back(connection: AsyncConnection, row: sa.RowMapping) -> None:
            changed = {**again, "uncertain": row["uncertain"] or row["state"] == "sending"}
            await connection.execute(sa.update(outbox).where(outbox.c.id == row["id"]).values(**changed))
            await _build_audit_row(connection, now, by, "replay", row, "")

        return await self._stream_pages(row_ids, put_back)

    async def drop(self, row_ids: Sequence[int], reason: str, by: str) -> tuple[RowResult, ...]:
        """See the port."""
        if not (said := reason.strip()):
            raise RecordRejected("reason", "say why it is dropped; the audit log keeps it")
        now = self.clock.now()

        async def delete(connection: AsyncConnection, row: sa.RowMapping) -> None:
            await connection.execute(sa.delete(outbox).where(outbox.c.id == row["id"]))
            await _build_audit_row(connection, now, by, "drop", row, said)

        return await self._stream_pages(row_ids, delete)

    async def _stream_pages(
        self, row_ids: Sequence[int], do: Callable[[AsyncConnection, sa.RowMapping], Awaitable[None]]
    ) -> tuple[RowResult, ...]:
        now, handled = self.clock.now(), []
        async with self.database.write() as connection:
            for row_id in row_ids:
                asked = sa.select(outbox).where(outbox.c.id == row_id).with_for_update()
                row = (await connection.execute(asked)).mappings().first()
                refusal = find_refusal(row, now)
                if row is not None and refusal is None:
                    await do(connection, row)
                handled.append(RowResult(row_id, refusal))
        return tuple(handled)

    async def _read_page(self, states: frozenset[OutboxState], after: int, limit: int) -> list[OutboxRowView]:
        wanted = outbox.c.state.in_(sorted(state.value for state in states))
        asked = sa.select(outbox).where(wanted, outbox.c.id > after).order_by(outbox.c.id).limit(limit)
        async with self.database.read() as connection:
            return [_read_outbox_row(row) for row in (await connection.execute(asked)).mappings()]


@dataclass(frozen=True, slots=True)
class SqlInboxAdmin:
    """The InboxAdmin port on SQLAlchemy."""

    database: Database
    clock: Clock

    async def count_rows(self) -> Mapping[str, int]:
        """See the port."""
        counted = (
            sa.select(inbox.c.state, sa.func.count()).where(inbox.c.state.in_(UNPROCESSED)).group_by(inbox.c.state)
        )
        async with self.database.read() as connection:
            return {str(row[0]): int(row[1]) for row in (await connection.execute(counted)).all()}

    async def list_dead(self, limit: int) -> tuple[UnprocessedEvent, ...]:
        """See the port."""
        return tuple(await self._read_page(("dead",), 0, limit))

    async def stream_unprocessed(self) -> AsyncIterator[UnprocessedEvent]:
        """See the port."""
        last = 0
        while page := await self._read_page(UNPROCESSED, last, PAGE):
            for event in page:
                yield event
            last = page[-1].id

    async def requeue(self, row_ids: Sequence[int], by: str) -> tuple[RowResult, ...]:
        """See the port."""
        now, handled = self.clock.now(), []
        again = {"state": "pending", "attempts": 0, "due_at": now, "lease": None}
        async with self.database.write() as connection:
            for row_id in row_ids:
                dead = sa.and_(inbox.c.id == row_id, inbox.c.state == "dead")
                done = (await connection.execute(sa.update(inbox).where(dead).values(**again))).rowcount == 1
                if done:
                    line = {"at": now, "actor": by, "action": "replay", "object": f"inbox/{row_id}", "detail": ""}
                    await connection.execute(sa.insert(audit).values(**line))
                handled.append(RowResult(row_id, None if done else "There is no dead event of this number."))
        return tuple(handled)

    async def _read_page(self, states: Sequence[str], after: int, limit: int) -> list[UnprocessedEvent]:
        wanted = sa.and_(inbox.c.state.in_(states), inbox.c.id > after)
        async with self.database.read() as connection:
            rows = await connection.execute(sa.select(inbox).where(wanted).order_by(inbox.c.id).limit(limit))
            return [_read_event(row) for row in rows.mappings()]


def find_refusal(row: sa.RowMapping | None, now: datetime) -> str | None:
    """Return why an operator may not touch this row now, None if they may."""
    if row is None:
        return "There is no row of this number."
    if row["state"] == "sent":
        return "This was delivered."
    if row["state"] == "sending" and row["due_at"] > now:
        return "This is being delivered right now; look again in a minute."
    return None


async def _build_audit_row(
    connection: AsyncConnection, now: datetime, by: str, action: str, row: sa.RowMapping, reason: str
) -> None:
    """Return the audit row: what the delivery was, and why it changed, without its text."""
    said = (
        f"{row['destination']} {row['operation']} {row['delivery_id']}, {row['state']} after {row['attempts']} attempts"
    )
    line = {"at": now, "actor": by, "action": action, "object": f"outbox/{row['id']}"}
    await connection.execute(sa.insert(audit).values(**line, detail=f"{said}: {reason}" if reason else said))


def _read_outbox_row(row: sa.RowMapping) -> OutboxRowView:
    same = (
        "id",
        "key",
        "delivery_id",
        "attempts",
        "owed_at",
        "due_at",
        "settled_at",
        "error",
    )
    return OutboxRowView(
        **{name: row[name] for name in same},
        destination=Destination(row["destination"]),
        operation=read_operation(row["operation"]),
        state=OutboxState(row["state"]),
        uncertain=bool(row["uncertain"]),
        payload=json.loads(row["payload"]),
    )


def _read_event(row: sa.RowMapping) -> UnprocessedEvent:
    same = ("id", "kind", "state", "attempts", "received_at", "error")
    return UnprocessedEvent(**{name: row[name] for name in same}, body=json.loads(row["body"] or "{}"))
