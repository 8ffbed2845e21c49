"""Which schema a database has, and bringing it up to date. Must not touch rows; the steps are in `migrations`."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from bot.ports import StoreUnavailable

MIGRATIONS = Path(__file__).parent / "migrations"
HEAD = "0008"
# any number, as long as every Precedent uses the same one
ADVISORY_LOCK = 7_303_014_271


def applied(connection: sa.Connection) -> str | None:
    """The revision of the database; None for an empty one."""
    return MigrationContext.configure(connection).get_current_revision()


def check(connection: sa.Connection) -> bool:
    """Whether the schema is the one we need; raises StoreUnavailable for one that a newer version wrote."""
    revision = applied(connection)
    if revision is not None and revision not in known():
        raise StoreUnavailable(
            f"The database has the schema {revision} of a newer Precedent; install that version, or restore a backup."
        )
    return revision == HEAD


@lru_cache(maxsize=1)
def known() -> frozenset[str]:
    """The revisions that this version knows."""
    return frozenset(script.revision for script in ScriptDirectory(str(MIGRATIONS)).walk_revisions())


def upgrade(connection: sa.Connection) -> None:
    """Apply the missing steps inside the open transaction. On PostgreSQL one at a time, under an advisory lock."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(ADVISORY_LOCK)))
    if not check(connection):
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
