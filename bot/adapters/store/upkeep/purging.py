"""The Purging port: removing every text of an incident for good. Must not decide what may be purged.

One transaction deletes the rows; `compact` then overwrites what SQLite keeps of deleted rows: the full-text segments,
the free space of the file, and the write-ahead log.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.adapters.store.channels.feedback import delete_feedback
from bot.adapters.store.commit import ChangesWriter
from bot.adapters.store.database.backfill_tables import purged_posts
from bot.adapters.store.database.connection import Database
from bot.adapters.store.database.statements import ColumnValues, advance_counter, insert_new_rows, to_json
from bot.adapters.store.database.tables import (
    audit,
    briefs,
    counters,
    inbox,
    lives,
    notices,
    outbox,
    records,
    seen_posts,
)
from bot.adapters.store.delivery.outbox import write_entries
from bot.adapters.store.index.bank_index import SqlRecordIndex
from bot.adapters.store.index.tables import FTS_REBUILD
from bot.adapters.store.records.model_ledger import delete_exchanges
from bot.adapters.store.records.quoting import names_incident, select_briefs_naming
from bot.domain.delivery.ids import build_purge_id
from bot.domain.delivery.kinds import DeliveryKind, Operation, find_kind
from bot.ports.chat import Posting
from bot.ports.clock import Clock
from bot.ports.delivery.outbox import OutboxEntry, build_outbox_entry
from bot.ports.unit_of_work import Changes

PORTION = 500
_HASHED = "purged; sha256"
REMOVED = "A past incident that this quoted was purged."
# what a payload says; the rest is where it goes
TEXT_KEYS = frozenset({"text", "blocks", "extra"})
# what takes back what was shown
UNDO_OPERATIONS = {Operation.POST: Operation.DELETE, Operation.UPLOAD: Operation.DELETE_FILE}


@dataclass(frozen=True, slots=True)
class SqlPurging:
    """The Purging port on SQLAlchemy. `index` is caught up and overwritten, too."""

    database: Database
    clock: Clock
    writer: ChangesWriter
    index: SqlRecordIndex  # caught up and overwritten, too

    async def purge(self, incident_id: str, marks: Sequence[str], changes: Changes) -> bool:
        """See the port."""
        now = self.clock.now()
        async with self.database.write() as connection:
            # in the order in which commits lock (the incident, then the records), so that two transactions never wait for each other
            held = sa.select(lives.c.version).where(lives.c.incident_id == incident_id).with_for_update()
            await connection.execute(held)
            await advance_counter(connection, counters, "revision")
            there = await _is_there(connection, incident_id)
            if there:
                deletions = await _purge_outbox(connection, incident_id, marks)
                await _purge_inbox(connection, incident_id)
                await _delete_rows(connection, incident_id)
                await delete_exchanges(connection, incident_id)
                await _purge_audit(connection, incident_id)
                changes = replace(changes, retracted=(*changes.retracted, incident_id))
                await write_entries(connection, deletions, now)
            await self.writer.write(connection, changes, now)
            if not there:
                # The bank may still have what is gone here.
                await self.writer.queue_for_bank(connection, Operation.RETRACT, (incident_id,), changes.bank_act, now)
        return there

    async def compact(self) -> None:
        """See the port."""
        if not self.database.is_sqlite and self.index.follower:
            await self.index.follower.catch_up()
        async with self.index.database.write() as connection:
            await connection.execute(FTS_REBUILD)
        await self.index.database.compact()


async def _is_there(connection: AsyncConnection, incident_id: str) -> bool:
    for table in (records, lives, briefs, notices, seen_posts):
        asked = sa.select(sa.literal(1)).select_from(table).where(table.c.incident_id == incident_id).limit(1)
        if (await connection.execute(asked)).first() is not None:
            return True
    # a record that was retracted is in no table but the audit log, word by word
    return (await connection.execute(_select_audited(incident_id).limit(1))).first() is not None


async def _delete_rows(connection: AsyncConnection, incident_id: str) -> None:
    for table in (lives, briefs, notices, seen_posts):
        await connection.execute(sa.delete(table).where(table.c.incident_id == incident_id))
    await delete_feedback(connection, incident_id)


async def _purge_inbox(connection: AsyncConnection, incident_id: str) -> None:
    """Delete what was received about its posts, and note that they are not to be read back from Slack."""
    posts: set[tuple[str, str]] = set()
    for table, column in ((seen_posts, "ts"), (briefs, "root_ts"), (notices, "ts")):
        asked = sa.select(table.c.channel, table.c[column]).where(table.c.incident_id == incident_id)
        posts |= {(row[0], row[1]) for row in await connection.execute(asked)}
    there = [{"channel": channel, "ts": ts} for channel, ts in sorted(posts)]
    await insert_new_rows(connection, purged_posts, there)
    kept = sa.select(inbox.c.id, inbox.c.body).where(inbox.c.body.is_not(None))
    about = [
        row.id
        for row in await connection.execute(kept)
        if any(f'"{channel}"' in row.body and f'"{ts}"' in row.body for channel, ts in posts)
    ]
    for start in range(0, len(about), PORTION):
        gone = inbox.c.id.in_(about[start : start + PORTION])
        await connection.execute(sa.update(inbox).where(gone).values(state="done", lease=None, body=None, error=None))


async def _purge_outbox(connection: AsyncConnection, incident_id: str, marks: Sequence[str]) -> list[OutboxEntry]:
    """Blank other deliveries that name or quote it, and return the deletions of its own messages."""
    quoting = await _find_quoting_keys(connection, incident_id)
    escaped = [to_json(mark)[1:-1] for mark in marks]
    last, due = 0, []
    while True:
        asked = sa.select(outbox).where(outbox.c.id > last, outbox.c.destination == "slack")
        rows = (await connection.execute(asked.order_by(outbox.c.id).limit(PORTION))).mappings().all()
        for row in rows:
            if row["key"].endswith(f"/{incident_id}"):
                due += await _withdraw_message(connection, row, incident_id, row["key"].removesuffix(f"/{incident_id}"))
            elif find_kind(row["delivery_id"]) is DeliveryKind.TALK and names_incident(row["payload"], incident_id):
                # an answer to a person in a thread may name several incidents; nobody computes it again
                due += await _withdraw_message(connection, row, incident_id, json.loads(row["payload"])["channel"])
            elif row["key"] in quoting or names_incident(row["payload"], incident_id):
                await _blank_message(connection, row)
            elif row["state"] == "sent" and any(mark in row["payload"] for mark in escaped):
                # by words alone only what was told already: what is still to be told may be another's
                await _blank_message(connection, row)
        if len(rows) < PORTION:
            return due
        last = rows[-1]["id"]


async def _withdraw_message(
    connection: AsyncConnection, row: sa.RowMapping, incident_id: str, channel: str
) -> list[OutboxEntry]:
    """Cancel one of its own messages if it was not sent, else return its deletion."""
    same = outbox.c.id == row["id"]
    undo = UNDO_OPERATIONS.get(row["operation"])
    if undo is None or row["state"] in ("pending", "dead"):
        await connection.execute(sa.delete(outbox).where(same))
        return []
    await connection.execute(sa.update(outbox).where(same).values(payload="{}", error=None))
    delivery = row["delivery_id"]
    posting = Posting(undo, channel, build_purge_id(delivery), incident_id=incident_id)
    return [build_outbox_entry(posting, key=row["key"], target=delivery, replaces=True)]


async def _blank_message(connection: AsyncConnection, row: sa.RowMapping) -> None:
    """Remove the text of a message of another incident; one that is still to be sent says that something was removed."""
    payload: ColumnValues = {}
    if row["state"] != "sent":
        said = json.loads(row["payload"])
        payload = {name: value for name, value in said.items() if name not in TEXT_KEYS} | {"text": REMOVED}
    await connection.execute(sa.update(outbox).where(outbox.c.id == row["id"]).values(payload=to_json(payload)))


async def _find_quoting_keys(connection: AsyncConnection, incident_id: str) -> set[str]:
    """Return the outbox keys of briefs that name it: messages under them may quote it without naming it."""
    rows = await connection.execute(select_briefs_naming(incident_id))
    return {f"{row.channel}/{row.incident_id}" for row in rows if names_incident(row.body, incident_id)}


async def _purge_audit(connection: AsyncConnection, incident_id: str) -> None:
    """Replace the audit lines about it by a hash of their text."""
    for row in (await connection.execute(_select_audited(incident_id))).all():
        said = f"{_HASHED} {hashlib.sha256(row.detail.encode()).hexdigest()}"
        await connection.execute(sa.update(audit).where(audit.c.id == row.id).values(detail=said))


def _select_audited(incident_id: str) -> sa.Select[Any]:
    """Select the audit lines that still have a text about it."""
    about = sa.and_(audit.c.object == incident_id, audit.c.action != "purge")
    return sa.select(audit.c.id, audit.c.detail).where(about, audit.c.detail.not_like(f"{_HASHED}%"))
