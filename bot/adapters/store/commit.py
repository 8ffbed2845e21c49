"""Writing a `Changes`: one transaction for everything that a use case changes.

Must not decide what changes. Order matters only for what can refuse: `once`, the inbox lease and the versions come first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.adapters.store.alerts.storms import write_openings
from bot.adapters.store.database import tables
from bot.adapters.store.database.json_bodies import (
    read_record_json,
    write_brief_json,
    write_lifecycle_json,
    write_notification_json,
    write_record_json,
)
from bot.adapters.store.database.statements import (
    ColumnValues,
    advance_counter,
    insert_new,
    insert_new_rows,
    insert_or_replace,
    split_batches,
)
from bot.adapters.store.delivery.inbox import write_acknowledged, write_received
from bot.adapters.store.delivery.outbox import write_entries
from bot.domain.alerts.notification import Notification
from bot.domain.delivery.kinds import Operation
from bot.domain.incidents.lifecycle import Lifecycle
from bot.domain.incidents.record import Incident
from bot.ports.audit import AuditLine
from bot.ports.delivery.outbox import build_bank_entry
from bot.ports.errors import StoreConflict
from bot.ports.posts import PostedBrief
from bot.ports.unit_of_work import Changes

NUMBERED = re.compile(r"INC-(\d{1,15})")
ROWS_PER_STATEMENT = 500


class AlreadyCommitted(Exception):
    """Ends the transaction of a change that must happen at most once and already has."""


class IndexWriter(Protocol):
    """Keeps the index in step with the records, in the same transaction."""

    async def put(self, connection: AsyncConnection, records: Sequence[Incident]) -> None:
        """Index these recallable records, replacing what was indexed under their ids."""
        ...

    async def drop(self, connection: AsyncConnection, incident_ids: Sequence[str]) -> None:
        """Drop these ids from the index; unknown ones are fine."""
        ...


@dataclass(frozen=True, slots=True)
class ChangesWriter:
    """Writes changes.

    It holds the one invariant about the memory bank: a recallable record that is written, or a record that is retracted,
    is queued for the bank in the same transaction, whichever use case does it.
    """

    # None where the index is in another file and catches up by revision.
    index: IndexWriter | None  # None where the index is in another file and catches up by revision
    # The channel that shadow mode writes to, None while it is off.
    shadow: str | None = None  # the channel that shadow mode writes to, None while it is off
    # There is a bank on a server of its own; the embedded one is the index.
    feeds_bank: bool = False

    async def write(self, connection: AsyncConnection, changes: Changes, now: datetime) -> None:
        """Write all of it into the open transaction. Raises AlreadyCommitted or StoreConflict, which undo it."""
        if changes.once and not await insert_new(connection, tables.once, {"key": changes.once, "at": now}):
            raise AlreadyCommitted
        if changes.done and not await write_acknowledged(connection, changes.done):
            raise StoreConflict("Another worker took over this event; nothing was changed.")
        for life in changes.lifecycles:
            await _write_lifecycle(connection, life)
        await write_openings(connection, changes)
        await _write_notifications(connection, changes)
        await write_received(connection, changes.received, now)
        recallable = await self._write_records(connection, changes, now)
        for posted in changes.briefs:
            await insert_or_replace(
                connection, tables.briefs, [_build_brief_row(posted, now)], keep=frozenset({"first_at"})
            )
        seen = [{"channel": s.channel, "ts": s.ts, "incident_id": s.incident_id} for s in changes.posts]
        await insert_or_replace(connection, tables.seen_posts, seen)
        await write_entries(connection, changes.deliveries, now, self.shadow)
        if not changes.skips_bank:
            await self.queue_for_bank(connection, Operation.RETAIN, recallable, changes.bank_act, now)
            await self.queue_for_bank(connection, Operation.RETRACT, changes.retracted, changes.bank_act, now)
        await _write_audit(connection, changes.audit, now)

    async def queue_for_bank(
        self,
        connection: AsyncConnection,
        operation: Operation,
        incident_ids: Sequence[str],
        act: str | None,
        now: datetime,
    ) -> None:
        """Queue these records for the bank, where there is one."""
        if act and len(incident_ids) > 1:
            raise ValueError("a change of several records cannot have one name")
        if self.feeds_bank:
            await write_entries(connection, [build_bank_entry(operation, i, act) for i in incident_ids], now)

    async def _write_records(self, connection: AsyncConnection, changes: Changes, now: datetime) -> list[str]:
        """Write and retract records; return the ids of those written that may be recalled."""
        written: list[str] = []
        if not changes.records and not changes.retracted:
            return written
        revision = await advance_counter(connection, tables.counters, "revision")
        await _require_unchanged(connection, changes.expected)
        for portion in split_batches(changes.records, ROWS_PER_STATEMENT):
            ids = [record.incident_id for record in portion]
            recallable = await _write_recallable(connection, ids) | changes.recallable
            rows = [build_record_row(record, recallable, revision, now) for record in portion]
            await insert_or_replace(connection, tables.records, rows)
            written += [i for i in ids if i in recallable]
            await _write_fingerprints(connection, portion)
            await connection.execute(sa.delete(tables.tombstones).where(tables.tombstones.c.incident_id.in_(ids)))
            if self.index:
                await self.index.put(connection, [r for r in portion if r.incident_id in recallable])
        await _reserve_numbers(connection, changes.records)
        if changes.retracted:
            await self._retract(connection, changes.retracted, revision)
        return written

    async def _retract(self, connection: AsyncConnection, incident_ids: Sequence[str], revision: int) -> None:
        for portion in split_batches(incident_ids, ROWS_PER_STATEMENT):
            await connection.execute(sa.delete(tables.records).where(tables.records.c.incident_id.in_(portion)))
            rows = [{"incident_id": incident_id, "revision": revision} for incident_id in portion]
            await insert_or_replace(connection, tables.tombstones, rows)
            if self.index:
                await self.index.drop(connection, portion)


async def _require_unchanged(connection: AsyncConnection, expected: Sequence[Incident]) -> None:
    """Raise StoreConflict where a record is not what the use case read. Every writer of records waits for the revision,
    so what is read here stays until the commit."""
    for record in expected:
        asked = sa.select(tables.records.c.body).where(tables.records.c.incident_id == record.incident_id)
        body = (await connection.execute(asked)).scalar_one_or_none()
        if body is None or read_record_json(body) != record:
            raise StoreConflict(f"{record.incident_id} was changed by somebody else meanwhile; look at it again.")


def build_record_row(record: Incident, recallable: frozenset[str], revision: int, now: datetime) -> ColumnValues:
    """Return the row of a record."""
    return {
        "incident_id": record.incident_id,
        "visibility": record.source.visibility,
        "recallable": record.incident_id in recallable,
        "service": record.service,
        "vendor": record.vendor,
        "region": record.region,
        "body": write_record_json(record),
        "revision": revision,
        "updated_at": now,
    }


async def _write_recallable(connection: AsyncConnection, incident_ids: Sequence[str]) -> frozenset[str]:
    asked = sa.select(tables.records.c.incident_id).where(
        tables.records.c.incident_id.in_(incident_ids), tables.records.c.recallable
    )
    return frozenset((await connection.execute(asked)).scalars())


async def _write_fingerprints(connection: AsyncConnection, records: Sequence[Incident]) -> None:
    table = tables.record_fingerprints
    ids = [record.incident_id for record in records]
    await connection.execute(sa.delete(table).where(table.c.incident_id.in_(ids)))
    pairs = {(a.fingerprint, record.incident_id) for record in records for a in record.alerts if a.fingerprint}
    await insert_new_rows(connection, table, [{"fingerprint": f, "incident_id": i} for f, i in sorted(pairs)])


async def _reserve_numbers(connection: AsyncConnection, records: Sequence[Incident]) -> None:
    """Raise the counter of incident ids over those that an import brought."""
    found = (NUMBERED.fullmatch(record.incident_id) for record in records)
    if highest := max((int(match[1]) for match in found if match), default=0):
        counter = tables.counters
        await insert_new(connection, counter, {"name": "incident", "value": 0})
        lower = sa.and_(counter.c.name == "incident", counter.c.value < highest)
        await connection.execute(sa.update(counter).where(lower).values(value=highest))


async def _write_lifecycle(connection: AsyncConnection, life: Lifecycle) -> None:
    newer = replace(life, version=life.version + 1)
    row = {
        "incident_id": life.incident_id,
        "fingerprint": life.fingerprint,
        "visibility": life.visibility,
        "state": life.state.value,
        "opened_at": life.opened_at,
        "version": newer.version,
        "body": write_lifecycle_json(newer),
    }
    if life.version == 0:
        written = await insert_new(connection, tables.lives, row)
    else:
        held = sa.and_(tables.lives.c.incident_id == life.incident_id, tables.lives.c.version == life.version)
        written = (await connection.execute(sa.update(tables.lives).where(held).values(**row))).rowcount == 1
    if not written:
        raise StoreConflict(f"{life.incident_id} was changed by somebody else meanwhile; look at it again.")


async def _write_notifications(connection: AsyncConnection, changes: Changes) -> None:
    await insert_or_replace(
        connection, tables.notices, [_build_notification_row(notice) for notice in changes.notifications]
    )
    for portion in split_batches(changes.dropped_notifications, ROWS_PER_STATEMENT):
        await connection.execute(sa.delete(tables.notices).where(tables.notices.c.key.in_(portion)))


def _build_notification_row(notice: Notification) -> ColumnValues:
    named = ("key", "incident_id", "fingerprint", "visibility", "channel", "ts", "root_ts", "at")
    return {name: getattr(notice, name) for name in named} | {"body": write_notification_json(notice)}


def _build_brief_row(posted: PostedBrief, now: datetime) -> ColumnValues:
    return {
        "incident_id": posted.incident_id,
        "channel": posted.channel,
        "root_ts": posted.root_ts,
        "delivery_id": posted.delivery_id,
        "body": write_brief_json(posted.brief),
        "first_at": now,
        "updated_at": now,
    }


async def _write_audit(connection: AsyncConnection, lines: Sequence[AuditLine], now: datetime) -> None:
    rows = [
        {"at": now, "actor": line.actor, "action": line.action, "object": line.object, "detail": line.detail}
        for line in lines
    ]
    if rows:
        await connection.execute(sa.insert(tables.audit), rows)
