"""The few statements that both databases spell differently, and JSON for text columns.

Must not know a table or a use case.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.domain.access.visibility import Viewer

# Values by column: of any type that a column takes.
RowValues: TypeAlias = Mapping[str, Any]
ColumnValues: TypeAlias = dict[str, Any]


def _insert(connection: AsyncConnection, table: sa.Table) -> sqlite.Insert:
    # the two dialects' Insert offer the same on_conflict methods, without a common type
    if connection.dialect.name == "postgresql":
        return cast("sqlite.Insert", postgresql.insert(table))
    return sqlite.insert(table)


async def insert_new(connection: AsyncConnection, table: sa.Table, values: RowValues) -> bool:
    """Insert; False (and nothing done) where any unique key of the row is taken."""
    done = await connection.execute(_insert(connection, table).values(**values).on_conflict_do_nothing())
    return done.rowcount == 1


async def insert_new_rows(connection: AsyncConnection, table: sa.Table, rows: Sequence[RowValues]) -> None:
    """Insert the rows whose keys are free."""
    if rows:
        await connection.execute(_insert(connection, table).on_conflict_do_nothing(), list(rows))


async def insert_or_replace(
    connection: AsyncConnection,
    table: sa.Table,
    rows: Sequence[RowValues],
    *,
    keep: frozenset[str] = frozenset(),
) -> None:
    """Insert; where the primary key is taken, replace every other column but those in `keep`."""
    if not rows:
        return
    keys = [column.name for column in table.primary_key.columns]
    statement = _insert(connection, table)
    replaced = {name: statement.excluded[name] for name in rows[0] if name not in keys and name not in keep}
    await connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=replaced), list(rows))


async def advance_counter(connection: AsyncConnection, counters: sa.Table, name: str, by: int = 1) -> int:
    """Return the counter's next value. The row stays locked until the commit, so values commit in order."""
    await insert_new(connection, counters, {"name": name, "value": 0})
    row = counters.c.name == name
    await connection.execute(sa.update(counters).where(row).values(value=counters.c.value + by))
    return int((await connection.execute(sa.select(counters.c.value).where(row))).scalar_one())


def is_visible_to_viewer(viewer: Viewer, visibility: sa.Column[str]) -> sa.ColumnElement[bool]:
    """Return the condition under which the viewer may see a row."""
    return sa.true() if viewer.sees_all else visibility.in_(sorted(viewer.scopes))


def to_json(value: Any) -> str:
    """Return JSON without loss: non-ASCII is escaped, so that what a database's text cannot hold comes back, too."""
    return json.dumps(value, separators=(",", ":"))


def split_batches(rows: Sequence[Any], size: int) -> list[Sequence[Any]]:
    """Yield the rows in portions of at most `size`, for statements with a bounded number of parameters."""
    return [rows[start : start + size] for start in range(0, len(rows), size)]
