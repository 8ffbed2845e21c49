"""Opening the store: from an address to parts that work together. Must not hold SQL of any table."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bot.adapters.store.alerts.backfill_progress import SqlBackfillStore
from bot.adapters.store.alerts.brief_timings import SqlBriefTimings
from bot.adapters.store.alerts.deploy_log import SqlDeployLog
from bot.adapters.store.alerts.storms import SqlConnectionWatermark, SqlStormStore
from bot.adapters.store.channels.claims import SqlClaimStore
from bot.adapters.store.channels.feedback import SqlFeedbackStore
from bot.adapters.store.channels.nudges import SqlNudgeStore
from bot.adapters.store.channels.settings import SqlChannelStore
from bot.adapters.store.commit import ChangesWriter
from bot.adapters.store.database.backup import delete_earlier_copies, keep_before_upgrade
from bot.adapters.store.database.batched_inserts import BatchedInserts
from bot.adapters.store.database.connection import (
    Database,
    connect,
    prepare_file,
    read_url,
    refuse_network,
    translate_errors,
)
from bot.adapters.store.database.schema import HEAD, check_revision, read_revision, upgrade
from bot.adapters.store.database.tables import inbox as inbox_table
from bot.adapters.store.delivery.inbox import SqlInbox
from bot.adapters.store.delivery.outbox import SqlOutbox
from bot.adapters.store.delivery.outbox_admin import SqlInboxAdmin, SqlOutboxAdmin
from bot.adapters.store.index.bank_index import SqlRecordIndex
from bot.adapters.store.index.follower import IndexFollower, rebuild_index
from bot.adapters.store.index.vectors import VectorFiller
from bot.adapters.store.index.writer import SqliteIndexWriter
from bot.adapters.store.records.audit_log import SqlAuditLog
from bot.adapters.store.records.incidents import SqlIncidentStore
from bot.adapters.store.records.model_ledger import SqlModelLedger
from bot.adapters.store.upkeep.health import SqlHealth
from bot.adapters.store.upkeep.purging import SqlPurging
from bot.adapters.store.upkeep.retention import SqlRetention
from bot.observability import get_logger
from bot.ports.clock import Clock, Ids
from bot.ports.embedding import Embedder
from bot.ports.errors import StoreUnavailable

LEASE_S = 60.0
log = get_logger("store")


@dataclass(frozen=True, slots=True)
class Store:
    """The open store: one part for each port. Their verbs overlap, so it is not one object."""

    database: Database
    incidents: SqlIncidentStore
    inbox: SqlInbox
    outbox: SqlOutbox
    claims: SqlClaimStore
    health: SqlHealth
    index: SqlRecordIndex
    outbox_admin: SqlOutboxAdmin
    inbox_admin: SqlInboxAdmin
    retention: SqlRetention
    channels: SqlChannelStore
    storms: SqlStormStore
    watermark: SqlConnectionWatermark
    audit_log: SqlAuditLog
    purging: SqlPurging
    nudges: SqlNudgeStore
    feedback: SqlFeedbackStore
    model_ledger: SqlModelLedger
    deploy_log: SqlDeployLog
    brief_timings: SqlBriefTimings
    backfill_progress: SqlBackfillStore
    vectors: VectorFiller | None = None
    tidy: Callable[[], None] | None = None

    async def close(self) -> None:
        """Give the connections back; the store cannot be used afterwards."""
        self.index.close()
        await self.database.close()
        if self.index.database is not self.database:
            await self.index.database.close()
        if self.tidy:
            self.tidy()


async def open_store(
    url: str,
    clock: Clock,
    ids: Ids,
    *,
    lease_s: float = LEASE_S,
    embedder: Embedder | None = None,
    shadow: str | None = None,
    feeds_bank: bool = False,
) -> Store:
    """The store at this address. SQLite makes and upgrades itself; raises StoreUnavailable in plain words.

    Without `embedder` memory works by words; vectors that are there stay. `shadow`: the channel of shadow mode.
    `feeds_bank`: records are queued for a bank on a server of its own.

    Beside PostgreSQL the index is a local file of this process, made from the records at the first recall.
    """
    database = _connect(url)
    in_step = SqliteIndexWriter() if database.is_sqlite else None
    try:
        if in_step:
            await _upgrade_if_needed(database)
            await rebuild_index(database, in_step, embedder.name if embedder else None)
        else:
            await _require_current(database)
    except StoreUnavailable:
        await database.close()
        raise
    writer = ChangesWriter(index=in_step, shadow=shadow, feeds_bank=feeds_bank)
    index, tidy = (
        (SqlRecordIndex(database, database, None, embedder), None) if in_step else _open_index_file(database, embedder)
    )
    return Store(
        database=database,
        incidents=SqlIncidentStore(database, clock, writer),
        inbox=SqlInbox(database, clock, ids, lease_s, BatchedInserts(database, inbox_table)),
        outbox=SqlOutbox(database, clock, ids, lease_s),
        claims=SqlClaimStore(database, clock, writer),
        health=SqlHealth(database, clock),
        index=index,
        outbox_admin=SqlOutboxAdmin(database, clock),
        inbox_admin=SqlInboxAdmin(database, clock),
        retention=SqlRetention(database),
        channels=SqlChannelStore(database, clock, writer),
        storms=SqlStormStore(database, clock, writer),
        watermark=SqlConnectionWatermark(database),
        audit_log=SqlAuditLog(database),
        purging=SqlPurging(database, clock, writer, index),
        nudges=SqlNudgeStore(database, clock, writer),
        feedback=SqlFeedbackStore(database, clock, writer),
        model_ledger=SqlModelLedger(database),
        deploy_log=SqlDeployLog(database),
        brief_timings=SqlBriefTimings(database),
        backfill_progress=SqlBackfillStore(database, clock),
        vectors=VectorFiller(index.database, database, embedder) if embedder else None,
        tidy=tidy,
    )


async def migrate(url: str) -> None:
    """Upgrade the database at this address; two processes at once are fine. Raises StoreUnavailable."""
    database = _connect(url)
    try:
        await _upgrade_if_needed(database)
    finally:
        await database.close()


def _open_index_file(records_in: Database, embedder: Embedder | None) -> tuple[SqlRecordIndex, Callable[[], None]]:
    with translate_errors():
        directory = tempfile.TemporaryDirectory(prefix="precedent-index-")
    database = _connect(f"sqlite:///{directory.name}/index.db")
    follower = IndexFollower(records_in, database, model=embedder.name if embedder else None)
    return SqlRecordIndex(database, records_in, follower, embedder), directory.cleanup


def _connect(url: str) -> Database:
    address = read_url(url)
    if address.get_backend_name() == "sqlite" and address.database:
        with translate_errors():
            if address.database.startswith("file:"):
                refuse_network(Path(address.database.removeprefix("file:").partition("?")[0]))
            else:
                prepare_file(Path(address.database))
    return connect(address)


async def _is_current(database: Database) -> bool:
    async with database.read() as connection:
        return await connection.run_sync(check_revision)


async def _require_current(database: Database) -> None:
    if not await _is_current(database):
        raise StoreUnavailable("The database lacks the schema of this version; run `precedent migrate` first.")


async def _upgrade_if_needed(database: Database) -> None:
    if await _is_current(database):
        return
    async with database.read() as connection:
        before = await connection.run_sync(read_revision)
    kept = None
    if before is not None and database.is_sqlite and _find_file(database).is_file():
        kept = await keep_before_upgrade(_find_file(database), before)
    with _log_upgrade(before, kept):
        async with database.write() as connection:
            await connection.run_sync(upgrade)
    if kept:
        delete_earlier_copies(_find_file(database), kept)


def _find_file(database: Database) -> Path:
    return Path(database.engine.url.database or "")


@contextmanager
def _log_upgrade(before: str | None, kept: Path | None) -> Iterator[None]:
    """Log how an upgrade ended. One that failed was rolled back as a whole, and its StoreUnavailable says so."""
    done = False
    try:
        yield
        done = True
    except StoreUnavailable as failed:
        raise StoreUnavailable(
            f"The database could not be upgraded to the schema {HEAD} and is as it was ({before or 'empty'}): the version "
            f"that you had still works with it. {failed}"
        ) from failed
    finally:
        facts = {"schema_before": before, "schema": HEAD, "copy": str(kept) if kept else None}
        if not done:
            log.error("the upgrade of the database failed and was taken back", **facts)
        elif before is not None:
            log.warning("the database was upgraded", **facts)
