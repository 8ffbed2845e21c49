"""The ModelLedger port: what was sent to models, and the tokens of each day. Must not decide whether a model is asked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import date
from typing import Any

import sqlalchemy as sa
from pydantic import TypeAdapter
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.adapters.store.database.connection import Database
from bot.adapters.store.database.model_tables import model_days, model_sent
from bot.adapters.store.database.statements import insert_new, to_json
from bot.adapters.store.records.quoting import names_incident
from bot.ports.language_model import ModelExchange

_SENT = TypeAdapter(ModelExchange)


@dataclass(frozen=True, slots=True)
class SqlModelLedger:
    """The ModelLedger port on SQLAlchemy."""

    database: Database

    async def add_exchange(self, sent: ModelExchange, day: date) -> int:
        """See the port."""
        row = {
            "incident_id": sent.incident_id,
            "visibility": sent.visibility,
            "at": sent.at,
            "tokens": sent.tokens,
            "body": to_json(asdict(sent) | {"at": sent.at.isoformat()}),
        }
        async with self.database.write() as connection:
            await connection.execute(sa.insert(model_sent).values(**row))
            await insert_new(connection, model_days, {"day": day, "tokens": 0})
            more = sa.update(model_days).where(model_days.c.day == day)
            await connection.execute(more.values(tokens=model_days.c.tokens + sent.tokens))
            return await _read_tokens(connection, day)

    async def count_tokens(self, day: date) -> int:
        """See the port."""
        async with self.database.read() as connection:
            return await _read_tokens(connection, day)

    async def list_exchanges(self, incident_id: str, limit: int = 5) -> tuple[ModelExchange, ...]:
        """See the port."""
        asked = sa.select(model_sent).where(model_sent.c.incident_id == incident_id)
        async with self.database.read() as connection:
            rows = (await connection.execute(asked.order_by(model_sent.c.number.desc()).limit(limit))).mappings().all()
        return tuple(map(_read_exchange, rows))


async def _read_tokens(connection: AsyncConnection, day: date) -> int:
    asked = sa.select(model_days.c.tokens).where(model_days.c.day == day)
    return int((await connection.execute(asked)).scalar_one_or_none() or 0)


def _read_exchange(row: Mapping[Any, Any]) -> ModelExchange:
    return replace(_SENT.validate_python(json.loads(row["body"])), number=row["number"])


async def delete_exchanges(connection: AsyncConnection, incident_id: str) -> None:
    """Delete what was sent about an incident, or quoted it."""
    named = model_sent.c.body.contains(to_json(incident_id)[1:-1], autoescape=True)
    asked = sa.select(model_sent.c.number, model_sent.c.incident_id, model_sent.c.body).where(named)
    rows = (await connection.execute(asked)).all()
    gone = [r.number for r in rows if r.incident_id == incident_id or names_incident(r.body, incident_id)]
    for number in gone:
        await connection.execute(sa.delete(model_sent).where(model_sent.c.number == number))
