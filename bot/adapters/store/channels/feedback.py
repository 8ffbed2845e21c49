"""The FeedbackStore port: people's judgements on precedents and fixes."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.adapters.store.channels.undoable import UndoableRows, insert_numbered
from bot.adapters.store.commit import AlreadyCommitted, ChangesWriter
from bot.adapters.store.database.connection import Database
from bot.adapters.store.database.feedback_tables import fixes_said, set_aside
from bot.adapters.store.database.statements import ColumnValues
from bot.domain.fixes.grouping import FixEquivalence
from bot.domain.recall.dismissed import DismissalReason, DismissedPrecedent
from bot.domain.recall.query import Query
from bot.domain.text.names import normalize_name
from bot.ports.clock import Clock
from bot.ports.unit_of_work import Changes

_SAME = ("incident_id", "fingerprint", "title", "service", "visibility")
_NOT_THEIRS = frozenset({"undone_at", "undone_by"})


@dataclass(frozen=True, slots=True)
class SqlFeedbackStore:
    """The FeedbackStore port on SQLAlchemy."""

    database: Database
    clock: Clock
    writer: ChangesWriter

    async def dismiss_precedent(self, aside: DismissedPrecedent, changes: Changes) -> int:
        """See the port."""
        row = _build_row(aside) | {"why": aside.why.value}
        same = sa.and_(*(set_aside.c[name].is_not_distinct_from(row[name]) for name in _SAME))
        try:
            async with self.database.write() as connection:
                await self.writer.write(connection, changes, self.clock.now())
                held = sa.and_(same, set_aside.c.undone_at.is_(None))
                ended = sa.update(set_aside).where(held).values(undone_at=aside.at, undone_by=aside.by)
                await connection.execute(ended)
                return await insert_numbered(connection, set_aside, row)
        except AlreadyCommitted:
            return 0

    async def list_dismissed(
        self, query: Query | None = None, channel: str | None = None
    ) -> tuple[DismissedPrecedent, ...]:
        """See the port."""
        asked = sa.select(set_aside).where(set_aside.c.undone_at.is_(None))
        if query is not None:
            same_alert = set_aside.c.fingerprint == (query.fingerprint or "-")
            asked = asked.where(sa.or_(same_alert, set_aside.c.service == (normalize_name(query.service) or "-")))
        if channel is not None:
            asked = asked.where(set_aside.c.channel == channel)
        async with self.database.read() as connection:
            rows = (await connection.execute(asked.order_by(set_aside.c.number))).mappings().all()
        return tuple(DismissedPrecedent(**_read_values(row) | {"why": DismissalReason(row["why"])}) for row in rows)

    async def undo_dismissal(self, aside: DismissedPrecedent, by: str, changes: Changes) -> bool:
        """See the port."""
        return await self._end(set_aside, aside.number, by, changes)

    async def add_fix_equivalence(self, said: FixEquivalence, changes: Changes) -> int:
        """See the port."""
        try:
            async with self.database.write() as connection:
                await self.writer.write(connection, changes, self.clock.now())
                return await insert_numbered(connection, fixes_said, _build_row(said))
        except AlreadyCommitted:
            return 0

    async def list_fix_equivalences(self) -> tuple[FixEquivalence, ...]:
        """See the port."""
        asked = sa.select(fixes_said).where(fixes_said.c.undone_at.is_(None)).order_by(fixes_said.c.number)
        async with self.database.read() as connection:
            rows = (await connection.execute(asked)).mappings().all()
        return tuple(FixEquivalence(**_read_values(row)) for row in rows)

    async def undo_fix_equivalence(self, said: FixEquivalence, by: str, changes: Changes) -> bool:
        """See the port."""
        return await self._end(fixes_said, said.number, by, changes)

    async def _end(self, table: sa.Table, number: int, by: str, changes: Changes) -> bool:
        return await UndoableRows(self.database, self.clock, self.writer).end(
            table, table.c.number == number, by, changes
        )


async def delete_feedback(connection: AsyncConnection, incident_id: str) -> None:
    """Delete every judgement on an incident, under its brief, or with its words."""
    about = sa.or_(set_aside.c.incident_id == incident_id, set_aside.c.about == incident_id)
    await connection.execute(sa.delete(set_aside).where(about))
    words = sa.or_(fixes_said.c.one_incident == incident_id, fixes_said.c.other_incident == incident_id)
    await connection.execute(sa.delete(fixes_said).where(words))


def _build_row(said: DismissedPrecedent | FixEquivalence) -> ColumnValues:
    return {name: value for name, value in asdict(said).items() if name != "number"}


def _read_values(row: sa.RowMapping) -> ColumnValues:
    return {name: value for name, value in row.items() if name not in _NOT_THEIRS}
