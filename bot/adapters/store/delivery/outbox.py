"""The Outbox port: deliveries in order per key, made under a lease with a fencing token.

Must not know what a delivery is or when to retry (the workflow decides). A row is pending or sending until sent or
dead; `due_at` of a sending row is the end of its lease, so a dead worker's rows come back by themselves, marked
`uncertain`: the call may have gone through. A row that is replaced while it is being sent keeps its lease: the call in
flight ends first, its result is stored, and then the newer payload is due. `place` is where shadow mode puts a message
instead of its own channel; it is decided when the row is written, so that edits find their message whatever the mode is
by then.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.adapters.store.database.connection import Database
from bot.adapters.store.database.statements import ColumnValues, RowValues, insert_new, to_json
from bot.adapters.store.database.tables import briefs, outbox
from bot.domain.delivery.ids import split_superseded
from bot.domain.delivery.kinds import read_operation
from bot.domain.operations.shadow import POSTS, ShadowedCall, ShadowPlacement, is_left_out, place_in_shadow
from bot.ports.clock import Clock, Ids
from bot.ports.delivery.outbox import Destination, OutboxEntry, OutboxRow

LIVE = ("pending", "sending")


@dataclass(frozen=True, slots=True)
class SqlOutbox:
    """The Outbox port on SQLAlchemy."""

    database: Database
    clock: Clock
    ids: Ids
    lease_s: float  # how long a delivery may take

    async def claim(self, destination: Destination, limit: int, *, urgent_only: bool = False) -> tuple[OutboxRow, ...]:
        """See the port."""
        now = self.clock.now()
        asked = _select_due(destination, now, limit)
        if urgent_only:
            asked = asked.where(outbox.c.urgent)
        async with self.database.read() as connection:
            if (await connection.execute(asked.with_only_columns(outbox.c.id).limit(1))).first() is None:
                return ()
        claimed: list[OutboxRow] = []

        async def claim(connection: AsyncConnection) -> None:
            rows = (await connection.execute(asked.with_for_update(skip_locked=True, of=outbox))).mappings().all()
            claimed[:] = [await self._lease(connection, row, now) for row in rows]

        await self.database.write_at_once(claim)
        return tuple(claimed)

    async def _lease(self, connection: AsyncConnection, row: RowValues, now: datetime) -> OutboxRow:
        lease, uncertain = self.ids.new(), bool(row["uncertain"]) or row["state"] == "sending"
        changed = {
            "state": "sending",
            "lease": lease,
            "due_at": now + timedelta(seconds=self.lease_s),
            "attempts": row["attempts"] + 1,
            "uncertain": uncertain,
            "replaced": False,
        }
        await connection.execute(sa.update(outbox).where(outbox.c.id == row["id"]).values(**changed))
        payload = json.loads(row["payload"])
        place = _read_place(row)
        target_result, target_place = await _find_result(connection, payload.get("target"))
        return OutboxRow(
            id=row["id"],
            entry=OutboxEntry(
                destination=Destination(row["destination"]),
                operation=read_operation(row["operation"]),
                key=row["key"],
                delivery_id=row["delivery_id"],
                payload=payload,
                urgent=bool(row["urgent"]),
            ),
            lease=lease,
            attempts=row["attempts"] + 1,
            uncertain=uncertain,
            target_result=target_result,
            own_result=row["result"],
            replaced=bool(row["replaced"]),
            place=place,
            under_result=(await _find_result(connection, place.under))[0] if place else None,
            target_place=target_place,
        )

    async def acknowledge(self, row: OutboxRow, result: str | None) -> bool:
        """See the port."""
        now = self.clock.now()
        kept = {"result": result} if result is not None else {}
        return await self._finish(row, {"state": "sent", "settled_at": now, "error": None, "uncertain": False, **kept})

    async def postpone(
        self, row: OutboxRow, delay_s: float, error: str, *, uncertain: bool, tried: bool = True
    ) -> bool:
        """See the port."""
        due = self.clock.now() + timedelta(seconds=delay_s)
        changed = {"state": "pending", "due_at": due, "uncertain": uncertain}
        changed |= {"error": error} if tried else {"attempts": row.attempts - 1}
        return await self._finish(row, changed)

    async def dead_letter(self, row: OutboxRow, error: str) -> bool:
        """See the port."""
        return await self._finish(row, {"state": "dead", "settled_at": self.clock.now(), "error": error})

    async def _finish(self, row: OutboxRow, changed: ColumnValues) -> bool:
        ended: list[bool] = []

        async def end(connection: AsyncConnection) -> None:
            ended[:] = [await self._write_finished(connection, row, dict(changed))]

        await self.database.write_at_once(end)
        return ended[0]

    async def _write_finished(self, connection: AsyncConnection, row: OutboxRow, changed: ColumnValues) -> bool:
        held = sa.and_(outbox.c.id == row.id, outbox.c.lease == row.lease)
        replaced = (await connection.execute(sa.select(outbox.c.replaced).where(held))).scalar_one_or_none()
        if replaced is None:
            return False
        if replaced:
            due = self.clock.now() + timedelta(seconds=await _read_pace_s(connection, row.id))
            changed |= {"state": "pending", "due_at": due, "settled_at": None, "attempts": 0}
        outdated = bool(replaced) and changed.get("uncertain", False)
        update = sa.update(outbox).where(held).values(**changed, lease=None, replaced=outdated)
        await connection.execute(update)
        return not replaced

    async def move_unsent(self, shadow: str | None) -> int:
        """Move what was surely never sent to where the mode now says (`shadow` None: the mode is off); return how many
        rows.

        That is what waits for another shadow channel, and while the mode is on also what waits for its own channel.
        What joins the thread of a message in a shadow channel stays with it. What may have been sent stays, because it
        is looked for where it went.
        """
        parent = outbox.alias("parent")
        stands = sa.or_(parent.c.result.is_not(None), parent.c.uncertain, parent.c.state == "sending")
        joins = sa.exists().where(parent.c.delivery_id == outbox.c.place_under, stands)
        unsent = (outbox.c.state == "pending", outbox.c.result.is_(None), sa.not_(outbox.c.uncertain), sa.not_(joins))
        other = sa.and_(outbox.c.place.is_not(None), outbox.c.place != (shadow or ""), *unsent)
        changed = {"place": shadow, "due_at": self.clock.now()}
        if shadow is None:
            changed |= {"place_under": None, "place_root": None}
        async with self.database.write() as connection:
            moved = int((await connection.execute(sa.update(outbox).where(other).values(**changed))).rowcount)
            return moved + (await _move_into_shadow(connection, shadow, self.clock.now()) if shadow else 0)

    async def count_rows(self) -> Mapping[str, int]:
        """See the port."""
        counted = sa.select(outbox.c.destination, outbox.c.state, sa.func.count()).group_by(
            outbox.c.destination, outbox.c.state
        )
        async with self.database.read() as connection:
            rows = (await connection.execute(counted)).all()
        return {f"{destination}.{state}": number for destination, state, number in rows}

    async def find_oldest_pending(self) -> datetime | None:
        """See the port."""
        async with self.database.read() as connection:
            oldest = sa.select(sa.func.min(outbox.c.owed_at)).where(outbox.c.state.in_(LIVE))
            found: datetime | None = (await connection.execute(oldest)).scalar_one()
        return found


def _select_due(destination: Destination, now: datetime, limit: int) -> sa.Select[Any]:
    older = outbox.alias("older")
    # an edit that only waits for its pace holds nobody up
    paced = sa.and_(older.c.state == "pending", older.c.every_s > 0, older.c.attempts == 0, older.c.due_at > now)
    waits = (
        sa.select(older.c.id)
        .where(
            older.c.destination == outbox.c.destination,
            older.c.key == outbox.c.key,
            older.c.state.in_(LIVE),
            older.c.id < outbox.c.id,
            sa.not_(paced),
        )
        .exists()
    )
    return (
        sa.select(outbox)
        .where(
            outbox.c.destination == destination.value, outbox.c.state.in_(LIVE), outbox.c.due_at <= now, sa.not_(waits)
        )
        .order_by(outbox.c.urgent.desc(), outbox.c.id)
        .limit(limit)
    )


async def _find_result(
    connection: AsyncConnection, delivery_id: str | None
) -> tuple[str | None, ShadowPlacement | None]:
    """Return what a delivery produced, and where that is if not in its own channel."""
    if delivery_id is None:
        return None, None
    found = (await connection.execute(sa.select(outbox).where(outbox.c.delivery_id == delivery_id))).mappings().first()
    return (found["result"], _read_place(found)) if found else (None, None)


def _read_place(row: Mapping[Any, Any]) -> ShadowPlacement | None:
    return ShadowPlacement(row["place"], row["place_under"], row["place_root"]) if row["place"] else None


async def _read_pace_s(connection: AsyncConnection, row_id: int) -> float:
    found = sa.select(outbox.c.every_s).where(outbox.c.id == row_id)
    return float((await connection.execute(found)).scalar_one())


async def write_entries(
    connection: AsyncConnection, entries: Sequence[OutboxEntry], now: datetime, shadow: str | None = None
) -> None:
    """Insert deliveries as part of a larger transaction.

    A delivery that is there already changes only by `replaces`, and never its place. `shadow` is the channel of shadow
    mode, where that is on.
    """
    for one in entries:
        if is_left_out(one.operation, shadow):
            continue
        place = await _find_place(connection, one, shadow)
        row = {
            "destination": one.destination.value,
            "operation": one.operation,
            "key": one.key,
            "delivery_id": one.delivery_id,
            "payload": to_json(one.payload),
            "urgent": one.urgent,
            "state": "pending",
            "attempts": 0,
            "due_at": now,
            "uncertain": False,
            "replaced": False,
            "every_s": one.every_s,
            "owed_at": now,
            "place": place and place.channel,
            "place_under": place and place.under,
            "place_root": place and place.root_ts,
        }
        if not await insert_new(connection, outbox, row) and one.replaces:
            await _replace_payload(connection, row)


async def _find_place(connection: AsyncConnection, one: OutboxEntry, shadow: str | None) -> ShadowPlacement | None:
    """Return where the message goes instead of its own channel."""
    named = one.payload.get
    if one.destination is not Destination.SLACK or one.operation not in POSTS or not named("channel"):
        return None
    call = ShadowedCall(one.operation, one.delivery_id, named("channel", ""), named("thread_ts"), named("target"))
    about = named("incident_id")
    return place_in_shadow(
        call, shadow, await _find_shadow_brief(connection, str(about), call.channel) if about else None
    )


async def _move_into_shadow(connection: AsyncConnection, shadow: str, now: datetime) -> int:
    """Move what was queued before the mode was turned on and was surely never sent to where it would be queued now;
    return how many rows. In order of id, because a brief is older than what joins its thread."""
    unsent = (outbox.c.state == "pending", outbox.c.result.is_(None), sa.not_(outbox.c.uncertain))
    own = sa.and_(outbox.c.destination == Destination.SLACK.value, outbox.c.place.is_(None), *unsent)
    moved = 0
    for row in (await connection.execute(sa.select(outbox).where(own).order_by(outbox.c.id))).mappings().all():
        same = outbox.c.id == row["id"]
        if is_left_out(read_operation(row["operation"]), shadow):
            await connection.execute(sa.delete(outbox).where(same))
            continue
        payload = json.loads(row["payload"])
        one = OutboxEntry(Destination.SLACK, read_operation(row["operation"]), row["key"], row["delivery_id"], payload)
        if place := await _find_place(connection, one, shadow):
            where = {"place": place.channel, "place_under": place.under, "place_root": place.root_ts}
            await connection.execute(sa.update(outbox).where(same).values(**where, due_at=now))
            moved += 1
    return moved


async def _find_shadow_brief(connection: AsyncConnection, incident_id: str, channel: str) -> ShadowPlacement | None:
    """Return where the incident's brief for this channel is, if that is in shadow: its first message, which has the
    thread, or the newest where the first is no longer stored."""
    own = sa.and_(briefs.c.incident_id == incident_id, briefs.c.channel == channel)
    name = (await connection.execute(sa.select(briefs.c.delivery_id).where(own))).scalar_one_or_none()
    for delivery in (split_superseded(name)[0], name) if name else ():
        kept = sa.select(outbox.c.place).where(outbox.c.delivery_id == delivery)
        if row := (await connection.execute(kept)).first():
            return ShadowPlacement(row.place, delivery) if row.place else None
    return None


async def _replace_payload(connection: AsyncConnection, row: RowValues) -> None:
    same = outbox.c.delivery_id == row["delivery_id"]
    asked = sa.select(outbox.c.state, outbox.c.due_at, outbox.c.settled_at).where(same).with_for_update()
    state, due_at, settled_at = (await connection.execute(asked)).one()
    changed: ColumnValues = {name: row[name] for name in ("operation", "payload", "urgent", "every_s")}
    if state == "sending":
        changed["replaced"] = True
    else:
        changed |= {name: row[name] for name in ("state", "attempts", "owed_at")}
        changed |= {"error": None, "settled_at": None, "due_at": row["due_at"]}
        if row["every_s"] and state == "pending":
            # what waits is replaced, and waits no longer for it; it may be backing off after a failure
            changed["due_at"] = min(due_at, row["due_at"] + timedelta(seconds=row["every_s"]))
        elif row["every_s"] and settled_at:
            changed["due_at"] = max(row["due_at"], settled_at + timedelta(seconds=row["every_s"]))
    await connection.execute(sa.update(outbox).where(same).values(**changed))
