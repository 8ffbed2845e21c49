"""Numbered rows that a person may undo: rules, mutes, and judgements. Must not know which."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.adapters.store.commit import AlreadyCommitted, ChangesWriter
from bot.adapters.store.database.connection import Database
from bot.adapters.store.database.statements import RowValues
from bot.ports.clock import Clock
from bot.ports.unit_of_work import Changes


async def insert_numbered(connection: AsyncConnection, table: sa.Table, row: RowValues) -> int:
    """Insert the row and return its number."""
    done = await connection.execute(sa.insert(table).values(**row).returning(table.c.number))
    return int(done.scalar_one())


@dataclass(frozen=True, slots=True)
class UndoableRows:
    """Ends rows that are in force."""

    database: Database
    clock: Clock
    writer: ChangesWriter

    async def end(self, table: sa.Table, row: sa.ColumnElement[bool], by: str, changes: Changes) -> bool:
        """End the one `row` that is in force, with `changes`; False (and nothing written) if it was ended before, or
        `changes.once` was done."""
        now = self.clock.now()
        held = sa.and_(row, table.c.undone_at.is_(None))
        try:
            async with self.database.write() as connection:
                ended = sa.update(table).where(held).values(undone_at=now, undone_by=by)
                if (await connection.execute(ended)).rowcount != 1:
                    return False
                await self.writer.write(connection, changes, now)
        except AlreadyCommitted:
            return False
        return True
