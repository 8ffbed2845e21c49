"""Rebuilding the index from the records, and keeping one in a file of its own in step with a PostgreSQL store.

Must not write records. Revisions commit in order (their counter's row is locked until the commit), so everything up to
a revision that was read is there.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.adapters.store.database.connection import Database
from bot.adapters.store.database.json_bodies import read_record_json
from bot.adapters.store.database.tables import counters, records, tombstones
from bot.adapters.store.index.tables import (
    create_empty,
    has_model_vectors,
    is_current,
    read_indexed_revision,
    state,
    use_model,
)
from bot.adapters.store.index.writer import SqliteIndexWriter

PAGE = 500


@dataclass(frozen=True, slots=True)
class IndexFollower:
    """Keeps the index in `database` in step with the records in `records_in`."""

    records_in: Database
    database: Database
    writer: SqliteIndexWriter = field(default_factory=SqliteIndexWriter)
    model: str | None = None
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def catch_up(self) -> None:
        """Index what was committed since the last time. Raises StoreUnavailable."""
        async with self._turn:
            async with self.database.read() as target:
                current = await target.run_sync(is_current)
                since = await target.run_sync(read_indexed_revision) if current else 0
            async with self.records_in.read() as source:
                until = await read_store_revision(source)
                if current and since == until:
                    return
                async with self.database.write() as target:
                    if not current or since > until:
                        await target.run_sync(create_empty)
                        if self.model is not None:
                            await target.run_sync(use_model, self.model)
                        since = 0
                    await copy_changes(source, target, self.writer, since, until)


async def rebuild_index(database: Database, writer: SqliteIndexWriter, model: str | None = None) -> None:
    """Make the index of a SQLite store again if it is missing or another version made it; drop vectors of another
    `model` (None: they stay)."""
    async with database.read() as connection:
        current = await connection.run_sync(is_current)
        if current and (model is None or await connection.run_sync(has_model_vectors, model)):
            return
    async with database.write() as connection:
        if not current:
            await connection.run_sync(create_empty)
            await copy_changes(connection, connection, writer, 0, await read_store_revision(connection))
        if model is not None:
            await connection.run_sync(use_model, model)


async def read_store_revision(connection: AsyncConnection) -> int:
    """Return the revision of the last commit that changed records."""
    asked = sa.select(counters.c.value).where(counters.c.name == "revision")
    return int((await connection.execute(asked)).scalar_one_or_none() or 0)


async def copy_changes(
    source: AsyncConnection, target: AsyncConnection, writer: SqliteIndexWriter, since: int, until: int
) -> None:
    """Index the records of the revisions in (since, until], drop the retracted ones, and note how far this came."""
    gone = sa.select(tombstones.c.incident_id).where(tombstones.c.revision > since, tombstones.c.revision <= until)
    await writer.drop(target, list((await source.execute(gone)).scalars()))
    changed = sa.select(records.c.incident_id, records.c.recallable, records.c.body)
    changed = changed.where(records.c.revision > since, records.c.revision <= until)
    changed, last = changed.order_by(records.c.incident_id).limit(PAGE), ""
    while page := (await source.execute(changed.where(records.c.incident_id > last))).all():
        await writer.put(target, [read_record_json(row.body) for row in page if row.recallable])
        await writer.drop(target, [row.incident_id for row in page if not row.recallable])
        last = page[-1].incident_id
    await target.execute(sa.update(state).where(state.c.name == "revision").values(value=str(until)))
