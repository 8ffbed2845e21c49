"""Which schema a database has, and upgrading it. Must not touch rows; the steps are in `migrations`.

What runs the steps (`schema_steps`) is imported where one is missing: a database that is up to date needs none of it.
"""

from __future__ import annotations

import importlib
from functools import lru_cache
from pathlib import Path

import sqlalchemy as sa

from bot.ports.errors import StoreUnavailable

MIGRATIONS = Path(__file__).parents[1] / "migrations"
HEAD = "0009"
# any number, as long as every Precedent uses the same one
ADVISORY_LOCK = 7_303_014_271
_VERSION = sa.table("alembic_version", sa.column("version_num", sa.String))


def read_revision(connection: sa.Connection) -> str | None:
    """Return the revision of the database, None for an empty one."""
    if not sa.inspect(connection).has_table(_VERSION.name):
        return None
    return connection.scalar(sa.select(_VERSION.c.version_num))


def check_revision(connection: sa.Connection) -> bool:
    """Return whether the schema is the one we need. Raises StoreUnavailable for one that a newer version wrote."""
    revision = read_revision(connection)
    if revision is not None and revision not in list_revisions():
        raise StoreUnavailable(
            f"The database has the schema {revision} of a newer Precedent; install that version, or restore a backup."
        )
    return revision == HEAD


@lru_cache(maxsize=1)
def list_revisions() -> frozenset[str]:
    """Return the revisions that this version knows."""
    return frozenset(path.name.partition("_")[0] for path in MIGRATIONS.glob("versions/[0-9]*_*.py"))


def upgrade(connection: sa.Connection) -> None:
    """Apply the missing steps inside the open transaction. On PostgreSQL one at a time, under an advisory lock."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(ADVISORY_LOCK)))
    if not check_revision(connection):
        importlib.import_module("bot.adapters.store.database.schema_steps").run_steps(connection, MIGRATIONS)
