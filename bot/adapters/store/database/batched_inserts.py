"""Many small inserts as one transaction: what arrives while one is being written is written together next.

So acknowledgements do not queue for a disk that takes its time for each. Must not know what the rows say.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.adapters.store.database.connection import Database
from bot.adapters.store.database.statements import RowValues, insert_new
from bot.observability import spawn
from bot.ports.errors import StoreUnavailable

MOST = 100
WaitingRow = tuple[RowValues, "asyncio.Future[bool]"]


@dataclass(slots=True)
class BatchedInserts:
    """Inserts rows whose keys are free. Every row is durable before its caller goes on."""

    database: Database
    table: sa.Table
    _waiting: list[WaitingRow] = field(default_factory=list)
    _busy: bool = False

    async def insert(self, row: RowValues) -> bool:
        """False (and nothing done) where a key of the row is taken. Raises StoreUnavailable."""
        mine: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append((row, mine))
        if not self._busy:
            self._busy = True
            spawn(self._write_all(), "write-together")
        return await mine

    async def _write_all(self) -> None:
        """Write until nobody waits. A caller may be cancelled meanwhile; this is not."""
        portion: Sequence[WaitingRow] = ()
        try:
            while self._waiting:
                portion, self._waiting = self._waiting[:MOST], self._waiting[MOST:]
                await self._write(portion)
        finally:
            self._busy = False
            for _, future in (*portion, *self._waiting):
                if not future.done():
                    future.set_exception(StoreUnavailable("Nothing was saved: writing was broken off; try again."))
            self._waiting = []

    async def _write(self, portion: Sequence[WaitingRow]) -> None:
        try:
            self._resolve(portion, await self._insert_rows([row for row, _ in portion]))
        except StoreUnavailable as problem:
            if len(portion) == 1:
                self._reject(portion[0], problem)
                return
            for one in portion:  # a row that no database takes must not cost the others
                await self._write([one])

    async def _insert_rows(self, rows: Sequence[RowValues]) -> list[bool]:
        new: list[bool] = []

        async def work(connection: AsyncConnection) -> None:
            new[:] = [await insert_new(connection, self.table, row) for row in rows]

        await self.database.write_at_once(work)
        return new

    def _resolve(self, portion: Sequence[WaitingRow], new: Sequence[bool]) -> None:
        for (_, future), is_new in zip(portion, new, strict=True):
            if not future.done():
                future.set_result(is_new)

    def _reject(self, one: WaitingRow, problem: StoreUnavailable) -> None:
        if not one[1].done():
            one[1].set_exception(problem)
