"""The AuditLog port. Lines are written by `commit`, with what they are about."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from bot.adapters.store.database.connection import Database
from bot.adapters.store.database.tables import audit
from bot.ports.audit import AuditEntry, read_detail

PAGE = 500


@dataclass(frozen=True, slots=True)
class SqlAuditLog:
    """The AuditLog port on SQLAlchemy."""

    database: Database

    async def stream_lines(self, since: datetime | None = None) -> AsyncIterator[AuditEntry]:
        """See the port."""
        asked, last = sa.select(audit).order_by(audit.c.id).limit(PAGE), 0
        if since is not None:
            asked = asked.where(audit.c.at >= since)
        while page := await self._page(asked.where(audit.c.id > last)):
            for row in page:
                yield _read_line(row)
            last = page[-1].id

    async def _page(self, asked: sa.Select[tuple[object, ...]]) -> list[sa.Row[tuple[object, ...]]]:
        async with self.database.read() as connection:
            return list((await connection.execute(asked)).all())


def _read_line(row: sa.Row[tuple[object, ...]]) -> AuditEntry:
    detail, before, after = read_detail(row.detail)
    return AuditEntry(row.at, row.actor, row.action, row.object, detail, before, after)
