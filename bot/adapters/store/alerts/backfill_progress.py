"""The BackfillStore port: how far channels' past was read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import sqlalchemy as sa
from pydantic import TypeAdapter

from bot.adapters.store.database.backfill_tables import backfills, purged_posts
from bot.adapters.store.database.backfill_tables import talks as talked
from bot.adapters.store.database.connection import Database
from bot.adapters.store.database.statements import insert_or_replace, split_batches, to_json
from bot.adapters.store.database.tables import inbox, seen_posts
from bot.domain.operations.backfill import ThreadActivity
from bot.ports.alerts.backfill_progress import BackfillProgress
from bot.ports.clock import Clock

_PROGRESS: TypeAdapter[BackfillProgress] = TypeAdapter(BackfillProgress)
PORTION = 500


@dataclass(frozen=True, slots=True)
class SqlBackfillStore:
    """The BackfillStore port on SQLAlchemy."""

    database: Database
    clock: Clock

    async def read_progress(self, channel: str) -> BackfillProgress | None:
        """See the port."""
        asked = sa.select(backfills.c.body).where(backfills.c.channel == channel)
        async with self.database.read() as connection:
            body = (await connection.execute(asked)).scalar_one_or_none()
        return None if body is None else _PROGRESS.validate_json(body)

    async def find_channel(self, name: str) -> str | None:
        """See the port."""
        asked = sa.select(backfills.c.channel).where(backfills.c.name == name).order_by(backfills.c.at.desc()).limit(1)
        async with self.database.read() as connection:
            found: str | None = (await connection.execute(asked)).scalar_one_or_none()
        return found

    async def save(self, progress: BackfillProgress, talks: Mapping[str, ThreadActivity]) -> None:
        """See the port."""
        body = to_json(_PROGRESS.dump_python(progress, mode="json"))
        row = {"channel": progress.channel, "name": progress.name, "body": body, "at": self.clock.now()}
        said = [
            {"channel": progress.channel, "ts": ts, "people": t.people, "messages": t.messages}
            for ts, t in talks.items()
        ]
        async with self.database.write() as connection:
            await insert_or_replace(connection, backfills, [row])
            await insert_or_replace(connection, talked, said)

    async def read_talks(self, channel: str) -> Mapping[str, ThreadActivity]:
        """See the port."""
        asked = sa.select(talked).where(talked.c.channel == channel).order_by(talked.c.ts)
        async with self.database.read() as connection:
            rows = (await connection.execute(asked)).mappings().all()
        return {row["ts"]: ThreadActivity(row["people"], row["messages"]) for row in rows}

    async def find_incidents(self, channel: str, posts: Iterable[str]) -> Mapping[str, str]:
        """See the port."""
        found: dict[str, str] = {}
        async with self.database.read() as connection:
            for portion in split_batches(list(posts), PORTION):
                asked = sa.select(seen_posts.c.ts, seen_posts.c.incident_id)
                asked = asked.where(seen_posts.c.channel == channel, seen_posts.c.ts.in_(portion))
                rows = (await connection.execute(asked)).mappings().all()
                found |= {row["ts"]: row["incident_id"] for row in rows}
        return found

    async def find_purged(self, channel: str, posts: Iterable[str]) -> frozenset[str]:
        """See the port."""
        return await self._find_known(purged_posts.c.ts, posts, purged_posts.c.channel == channel)

    async def find_received(self, natural_keys: Iterable[str]) -> frozenset[str]:
        """See the port."""
        return await self._find_known(inbox.c.natural_key, natural_keys)

    async def _find_known(
        self, column: sa.Column[str], values: Iterable[str], *where: sa.ColumnElement[bool]
    ) -> frozenset[str]:
        """Return those of these values that the column holds."""
        found: set[str] = set()
        async with self.database.read() as connection:
            for portion in split_batches(list(values), PORTION):
                found |= set((await connection.execute(sa.select(column).where(column.in_(portion), *where))).scalars())
        return frozenset(found)
