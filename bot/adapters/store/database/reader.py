"""Reading a SQLite file, one thread per question. Its connections refuse to write.

The asynchronous driver hands every statement to a thread and back; a recall has a dozen, and that cost more than the
statements.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

import sqlalchemy as sa

from bot.adapters.store.database.connection import BUSY_TIMEOUT_MS, Database, translate_errors

T = TypeVar("T")
PRAGMAS = (
    f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}",
    "PRAGMA query_only = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA cache_size = -16000",
)


class ReadOnlyPool:
    """Read-only connections to the file of a SQLite database."""

    def __init__(self, database: Database) -> None:
        url = database.engine.url.set(drivername="sqlite")
        self._engine = sa.create_engine(url, pool_size=4, max_overflow=12)
        sa.event.listen(self._engine, "connect", _prepare)
        sa.event.listen(self._engine, "begin", _begin)

    async def ask(self, work: Callable[[sa.Connection], T]) -> T:
        """Run `work` in a thread, on one consistent view. Raises StoreUnavailable."""
        return await asyncio.to_thread(self._ask, work)

    def _ask(self, work: Callable[[sa.Connection], T]) -> T:
        with translate_errors(), self._engine.connect() as connection, connection.begin():
            return work(connection)

    def close(self) -> None:
        """Give the connections back."""
        self._engine.dispose()


def _prepare(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # transactions begin where `_begin` says, not where the driver guesses
    cursor = connection.cursor()
    for pragma in PRAGMAS:
        cursor.execute(pragma)
    cursor.close()


def _begin(connection: sa.Connection) -> None:
    connection.exec_driver_sql("BEGIN")
