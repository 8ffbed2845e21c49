"""What became of single deliveries, read from the outbox. Must not claim or change any row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from bot.adapters.store.engine import Database
from bot.adapters.store.tables import outbox
from bot.ports.deliveries import Delivered
from bot.ports.store import Destination


@dataclass(frozen=True, slots=True)
class SqlDeliveries:
    """The Deliveries port on SQLAlchemy."""

    database: Database

    async def of(self, delivery_id: str) -> Delivered | None:
        """See the port."""
        return await self._first(sa.select(outbox).where(outbox.c.delivery_id == delivery_id))

    async def latest_post(self, key: str) -> Delivered | None:
        """See the port."""
        posts = (
            outbox.c.destination == Destination.SLACK.value,
            outbox.c.key == key,
            outbox.c.operation == "post",
        )
        return await self._first(sa.select(outbox).where(*posts).order_by(outbox.c.id.desc()).limit(1))

    async def _first(self, query: sa.Select[Any]) -> Delivered | None:
        async with self.database.read() as connection:
            row = (await connection.execute(query)).mappings().first()
        if row is None:
            return None
        return Delivered(row["delivery_id"], row["result"], row["state"] == "dead", row["error"])
