"""What tests of upgrades share with other tests."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config

from bot.adapters.store.database.schema import MIGRATIONS

FIRST = "0004"
FIXTURE = Path(__file__).parent.parent.parent.parent / "fixtures" / "first-release.sql"
NUMBERED = {"inbox": "id", "outbox": "id", "audit": "id", "rules": "number", "mutes": "number"}


def first_release(connection: sa.Connection) -> None:
    """Fill an empty database as the first release left it."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    command.upgrade(config, FIRST)
    lines = FIXTURE.read_text(encoding="utf-8").splitlines()
    for line in lines:
        if not line.startswith("--"):
            connection.exec_driver_sql(line.removesuffix(";"))
    if connection.dialect.name == "postgresql":  # the server numbers on from a row that was put in only when it is told
        for table, column in NUMBERED.items():
            last = sa.select(sa.func.max(sa.column(column))).select_from(sa.table(table)).scalar_subquery()
            connection.execute(sa.select(sa.func.setval(sa.func.pg_get_serial_sequence(table, column), last)))
