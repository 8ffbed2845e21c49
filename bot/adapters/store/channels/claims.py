"""The ClaimStore port: at most one owner of a named piece of periodic work for each period."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from bot.adapters.store.commit import AlreadyCommitted, ChangesWriter
from bot.adapters.store.database.connection import Database
from bot.adapters.store.database.statements import insert_new
from bot.adapters.store.database.tables import claims
from bot.ports.clock import Clock
from bot.ports.unit_of_work import Changes


@dataclass(frozen=True, slots=True)
class SqlClaimStore:
    """The ClaimStore port on SQLAlchemy."""

    database: Database
    clock: Clock
    writer: ChangesWriter

    async def claim(self, work: str, channel: str, period: date, changes: Changes) -> bool:
        """See the port."""
        now = self.clock.now()
        row = {"work": work, "channel": channel, "period": period, "at": now}
        try:
            async with self.database.write() as connection:
                if not await insert_new(connection, claims, row):
                    return False
                await self.writer.write(connection, changes, now)
        except AlreadyCommitted:
            return False
        return True
