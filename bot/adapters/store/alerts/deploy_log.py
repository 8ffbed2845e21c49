"""The DeployLog port. Must not match deploys to alerts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from pydantic import TypeAdapter

from bot.adapters.store.database.connection import Database
from bot.adapters.store.database.statements import insert_or_replace, to_json
from bot.adapters.store.database.tables import deploys
from bot.domain.catalog.vendors import fold_name
from bot.domain.evidence.deploys import Deploy

_DEPLOY = TypeAdapter(Deploy)


@dataclass(frozen=True, slots=True)
class SqlDeployLog:
    """The DeployLog port on SQLAlchemy."""

    database: Database

    async def record(self, deploy: Deploy) -> bool:
        """See the port."""
        row = {"key": deploy.key, "service": fold_name(deploy.service), "at": deploy.at}
        known = sa.select(deploys.c.key).where(deploys.c.key == deploy.key)
        async with self.database.write() as connection:
            new = (await connection.execute(known)).first() is None
            body = to_json(_DEPLOY.dump_python(deploy, mode="json"))
            await insert_or_replace(connection, deploys, [row | {"body": body}])
        return new

    async def list_latest(self, service: str, until: datetime, limit: int) -> tuple[Deploy, ...]:
        """See the port."""
        held = (deploys.c.service == fold_name(service), deploys.c.at <= until)
        asked = sa.select(deploys.c.body).where(*held).order_by(deploys.c.at.desc(), deploys.c.key).limit(limit)
        async with self.database.read() as connection:
            bodies = (await connection.execute(asked)).scalars().all()
        return tuple(_DEPLOY.validate_json(body) for body in bodies)
