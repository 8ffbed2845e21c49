"""Closing a database that somebody still reads."""

from __future__ import annotations

import asyncio
from pathlib import Path

import sqlalchemy as sa

from bot.adapters.store.database.connection import Database, connect, read_url


def counted(path: Path) -> tuple[Database, list[str]]:
    """A database, and what happens to its connections."""
    database = connect(read_url(f"sqlite:///{path}"))
    events: list[str] = []
    sa.event.listen(database.engine.sync_engine, "connect", lambda *_: events.append("connect"))
    sa.event.listen(database.engine.sync_engine.pool, "close", lambda *_: events.append("close"))
    return database, events


async def test_a_reader_in_flight_ends_before_the_store_is_closed(tmp_path: Path) -> None:
    database, events = counted(tmp_path / "a.db")
    inside, leave = asyncio.Event(), asyncio.Event()

    async def read() -> None:
        async with database.read():
            inside.set()
            await leave.wait()

    reader = asyncio.create_task(read())
    await inside.wait()
    closing = asyncio.create_task(database.close())
    await asyncio.sleep(0)
    leave.set()
    await closing
    await reader
    assert events == ["connect", "close"]
