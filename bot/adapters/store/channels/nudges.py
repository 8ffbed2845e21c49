"""The NudgeStore port, on the table of claims. Must not decide whom to ask, or when."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.adapters.store.commit import AlreadyCommitted, ChangesWriter
from bot.adapters.store.database.connection import Database
from bot.adapters.store.database.json_bodies import read_lifecycle_json
from bot.adapters.store.database.statements import ColumnValues, insert_new
from bot.adapters.store.database.tables import briefs, claims, lives
from bot.domain.incidents.lifecycle import IncidentState, Lifecycle
from bot.ports.clock import Clock
from bot.ports.unit_of_work import Changes

MOST = 500
PERSON, INCIDENT = "nudge", "nudged"
# An incident is asked about once, not once a day.
EVER = date(2000, 1, 1)


@dataclass(frozen=True, slots=True)
class SqlNudgeStore:
    """The NudgeStore port on SQLAlchemy."""

    database: Database
    clock: Clock
    writer: ChangesWriter

    async def list_unasked(self, since: datetime) -> tuple[Lifecycle, ...]:
        """See the port."""
        asked = sa.select(claims.c.channel).where(claims.c.work == INCIDENT)
        found = (
            sa.select(lives.c.body)
            .where(
                lives.c.state == IncidentState.CLEARED.value,
                lives.c.opened_at >= since,
                lives.c.incident_id.in_(sa.select(briefs.c.incident_id)),
                lives.c.incident_id.not_in(asked),
            )
            .order_by(lives.c.opened_at.desc(), lives.c.incident_id.desc())
            .limit(MOST)
        )
        async with self.database.read() as connection:
            return tuple(read_lifecycle_json(body) for body in (await connection.execute(found)).scalars())

    async def claim(self, person: str, day: date, incident_ids: Sequence[str], changes: Changes) -> bool:
        """See the port."""
        now = self.clock.now()
        try:
            async with self.database.write() as connection:
                for row in _build_rows(person, day, incident_ids):
                    await _require_new(connection, row | {"at": now})
                await self.writer.write(connection, changes, now)
        except AlreadyCommitted:
            return False
        return True

    async def close(self, incident_id: str) -> None:
        """See the port."""
        async with self.database.write() as connection:
            await insert_new(connection, claims, _build_row(INCIDENT, incident_id, EVER) | {"at": self.clock.now()})


async def _require_new(connection: AsyncConnection, row: ColumnValues) -> None:
    """Insert the claim. Raises AlreadyCommitted, which undoes the claims before it."""
    if not await insert_new(connection, claims, row):
        raise AlreadyCommitted


def _build_rows(person: str, day: date, incident_ids: Sequence[str]) -> Iterator[ColumnValues]:
    """Yield the claims in one order for everybody, so that two transactions never wait for each other."""
    yield _build_row(PERSON, person, day)
    for incident_id in sorted(incident_ids):
        yield _build_row(INCIDENT, incident_id, EVER)


def _build_row(work: str, name: str, day: date) -> ColumnValues:
    return {"work": work, "channel": name, "period": day}
