"""Whether the store works. Must not raise: what is wrong is the answer."""

from __future__ import annotations

from dataclasses import dataclass

import sqlalchemy as sa

from bot.adapters.store.engine import Database
from bot.adapters.store.schema import HEAD, applied
from bot.adapters.store.statements import insert_or_replace
from bot.adapters.store.tables import counters, records
from bot.ports import StoreUnavailable
from bot.ports.clock import Clock
from bot.ports.store import StoreStatus


@dataclass(frozen=True, slots=True)
class SqlHealth:
    """The StoreHealth port on SQLAlchemy."""

    database: Database
    clock: Clock

    async def status(self) -> StoreStatus:
        """See the port. The small write is a counter that holds the second of the last check."""
        kind = self.database.engine.dialect.name
        try:
            async with self.database.read() as connection:
                schema = await connection.run_sync(applied)
                kept = int((await connection.execute(sa.select(sa.func.count()).select_from(records))).scalar_one())
        except StoreUnavailable as error:
            return StoreStatus(writable=False, schema=None, problem=str(error), details={"database": kind})
        details = {"database": kind, "schema_expected": HEAD}
        try:
            row = {"name": "checked_at", "value": int(self.clock.now().timestamp())}
            async with self.database.write() as connection:
                await insert_or_replace(connection, counters, [row])
        except StoreUnavailable as error:
            return StoreStatus(writable=False, schema=schema, records=kept, problem=str(error), details=details)
        return StoreStatus(writable=True, schema=schema, records=kept, details=details)
