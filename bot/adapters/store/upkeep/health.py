"""The StoreHealth port. Must not raise: what is wrong is the answer."""

from __future__ import annotations

import shutil
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.adapters.store.database.connection import FULL, Database
from bot.adapters.store.database.schema import HEAD, read_revision
from bot.adapters.store.database.statements import insert_or_replace
from bot.adapters.store.database.tables import counters, inbox, records
from bot.ports.clock import Clock
from bot.ports.errors import StoreUnavailable
from bot.ports.upkeep.health import StoreStatus

ROOM_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class SqlHealth:
    """The StoreHealth port on SQLAlchemy."""

    database: Database
    clock: Clock

    async def read_status(self) -> StoreStatus:
        """See the port. The small write is a counter that holds the second of the last check."""
        kind = self.database.engine.dialect.name
        try:
            async with self.database.read() as connection:
                schema = await connection.run_sync(read_revision)
                kept = int((await connection.execute(sa.select(sa.func.count()).select_from(records))).scalar_one())
        except StoreUnavailable as error:
            return StoreStatus(writable=False, schema=None, problem=str(error), details={"database": kind})
        details = {"database": kind, "schema_expected": HEAD}
        try:
            row = {"name": "checked_at", "value": int(self.clock.now().timestamp())}
            async with self.database.write() as connection:
                await self._find_room_problem(connection)
                await insert_or_replace(connection, counters, [row])
        except StoreUnavailable as error:
            return StoreStatus(writable=False, schema=schema, records=kept, problem=str(error), details=details)
        return StoreStatus(writable=True, schema=schema, records=kept, details=details)

    async def _find_room_problem(self, connection: AsyncConnection) -> None:
        """Raise StoreUnavailable where SQLite lacks room for what a person may record: the small write alone finds
        space in existing pages, even on a full disk."""
        if not self.database.is_sqlite:
            return
        if _count_free_bytes(self.database.engine.url.database or "") < ROOM_BYTES:
            raise StoreUnavailable(FULL)
        now = self.clock.now()
        row = {"event_id": "room", "natural_key": "room", "kind": "room", "state": "done", "attempts": 0}
        tried = await connection.begin_nested()
        await connection.execute(sa.insert(inbox).values(**row, body="x" * ROOM_BYTES, due_at=now, received_at=now))
        await tried.rollback()


def _count_free_bytes(path: str) -> int:
    """Return the free bytes where the file is; for a path that the system does not know, as much as is required."""
    try:
        return shutil.disk_usage(path).free
    except OSError:
        return ROOM_BYTES
