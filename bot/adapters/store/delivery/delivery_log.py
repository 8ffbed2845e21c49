"""The DeliveryLog port, read from the outbox and the inbox. Must not claim or change any row."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from bot.adapters.store.database.connection import Database
from bot.adapters.store.database.tables import inbox, outbox
from bot.domain.delivery.kinds import Operation
from bot.ports.delivery.delivery_log import DeliveryOutcome, LastReceivedEvent
from bot.ports.delivery.outbox import Destination


@dataclass(frozen=True, slots=True)
class SqlDeliveryLog:
    """The DeliveryLog port on SQLAlchemy."""

    database: Database

    async def find(self, delivery_id: str) -> DeliveryOutcome | None:
        """See the port."""
        return await self._read_first(sa.select(outbox).where(outbox.c.delivery_id == delivery_id))

    async def find_last_received(self, order_key: str, prefix: str) -> LastReceivedEvent | None:
        """See the port."""
        named = inbox.c.natural_key.startswith(prefix, autoescape=True)
        asked = sa.select(inbox).where(inbox.c.order_key == order_key, named).order_by(inbox.c.id.desc()).limit(1)
        async with self.database.read() as connection:
            row = (await connection.execute(asked)).mappings().first()
        return (
            LastReceivedEvent(row["id"], row["natural_key"], row["received_at"], row["state"] == "dead")
            if row
            else None
        )

    async def list_queued(self, prefix: str, since: datetime) -> tuple[tuple[str, datetime], ...]:
        """See the port. The prefix is a range, which the index on the ids answers."""
        named = (outbox.c.delivery_id >= prefix, outbox.c.delivery_id < prefix[:-1] + chr(ord(prefix[-1]) + 1))
        asked = sa.select(outbox.c.delivery_id, outbox.c.owed_at).where(*named, outbox.c.owed_at >= since)
        async with self.database.read() as connection:
            rows = (await connection.execute(asked.order_by(outbox.c.id))).all()
        return tuple((row.delivery_id, row.owed_at) for row in rows)

    async def find_latest_post(self, key: str) -> DeliveryOutcome | None:
        """See the port."""
        posts = (
            outbox.c.destination == Destination.SLACK.value,
            outbox.c.key == key,
            outbox.c.operation == Operation.POST,
        )
        return await self._read_first(sa.select(outbox).where(*posts).order_by(outbox.c.id.desc()).limit(1))

    async def _read_first(self, query: sa.Select[Any]) -> DeliveryOutcome | None:
        async with self.database.read() as connection:
            row = (await connection.execute(query)).mappings().first()
        if row is None:
            return None
        return DeliveryOutcome(row["delivery_id"], row["result"], row["state"] == "dead", row["error"])
