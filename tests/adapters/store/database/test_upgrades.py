"""A database of the first release, on SQLite and on PostgreSQL: brought up to date with nothing lost, or left as it was."""

from __future__ import annotations

import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import op
from structlog.testing import capture_logs

from bot.adapters.store import Store, migrate, open_store
from bot.adapters.store.database.connection import Database, connect, read_url
from bot.adapters.store.database.schema import HEAD, read_revision
from bot.domain.alerts.alert import Severity
from bot.domain.incidents.record import Incident
from bot.domain.recall.query import OPERATOR, Query
from bot.ports.delivery.outbox import Destination
from bot.ports.errors import StoreUnavailable
from bot.ports.unit_of_work import Changes
from tests.adapters.store.database.upgrades_support import FIRST, first_release
from tests.databases import empty_postgres
from tests.fakes import FakeClock, FakeIds

AFTER = datetime.fromisoformat("2026-12-01T06:00:00+00:00")
Rows = dict[str, list[dict[str, Any]]]


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.integration)])
async def old(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a database as the first release left it."""
    url = f"sqlite+aiosqlite:///{tmp_path}/old.db" if request.param == "sqlite" else await empty_postgres()
    async with connected(url) as database, database.write() as connection:
        await connection.run_sync(first_release)
    return url


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[Database]:
    database = connect(read_url(url))
    try:
        yield database
    finally:
        await database.close()


async def held(url: str) -> tuple[str | None, Rows]:
    """The revision, and every row of every table as the database shows it."""

    def rows(connection: sa.Connection) -> Rows:
        found = sa.MetaData()
        found.reflect(connection)
        return {
            name: sorted((dict(row) for row in connection.execute(sa.select(table)).mappings()), key=repr)
            for name, table in found.tables.items()
            if not name.startswith(("index_", "alembic"))
        }

    async with connected(url) as database, database.read() as connection:
        return await connection.run_sync(read_revision), await connection.run_sync(rows)


def was_held(after: Rows, before: Rows) -> Rows:
    """What is left of the rows in the tables and columns that were there before."""
    return {
        name: sorted(({c: row[c] for c in kept[0]} for row in after[name]), key=repr) for name, kept in before.items()
    }


async def test_nothing_of_thefirst_release_is_lost(old: str) -> None:
    revision, before = await held(old)
    assert (revision, [name for name, rows in before.items() if not rows]) == (FIRST, [])
    await migrate(old)
    revision, after = await held(old)
    assert revision == HEAD
    assert was_held(after, before) == before
    assert len(after) > len(before)
    store = await open_store(old, FakeClock(AFTER), FakeIds())
    try:
        await _is_used_on(store)
    finally:
        await store.close()


async def _is_used_on(store: Store) -> None:
    assert {r.incident_id for r in await store.incidents.list_records(OPERATOR)} >= {"INC-1", "INC-2", "INC-4"}
    found = await store.index.find_candidates(Query("ledger export checksum drift"), OPERATOR)
    assert found[0].incident.incident_id == "INC-4"
    assert found[0].incident.attempts[0].fix.startswith("Pause the export job")
    assert [life.state.value for life in [await store.incidents.read_lifecycle(f"INC-{n}") for n in (3, 4, 5)]] == [
        "open", "resolved", "open",
    ]  # fmt: skip
    assert [row.entry.delivery_id for row in await store.outbox.claim(Destination.SLACK, 5)] == ["d0waiting"]
    assert [row.body["text"] for row in await store.inbox.claim(5)] == ["waiting"]
    settings, house = (
        await store.channels.read_settings("C0ALERTS"),
        await store.channels.read_policy("C0ALERTS", AFTER),
    )
    assert (settings.minimum, settings.digest_hour, settings.model) == (Severity.HIGH, 8, None)
    assert [mute.value for mute in house.mutes] == ["ledger-export"]
    assert [rule.title for rule in house.rules] == ["nightly check"]
    await store.incidents.commit(Changes(records=(Incident("INC-6", "New"),), recallable=frozenset({"INC-6"})))
    assert len(await store.incidents.list_records(OPERATOR)) == 6


async def test_an_upgrade_that_fails_leaves_everything_as_it_was(old: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = await held(old)
    real, steps = op.create_table, list[str]()

    def fails_at_last(name: str, *parts: Any, **given: Any) -> Any:
        steps.append(name)
        if len(steps) == 3:
            op.execute("SELECT * FROM a_table_that_is_not_there")
        return real(name, *parts, **given)

    monkeypatch.setattr(op, "create_table", fails_at_last)
    with capture_logs() as logged, pytest.raises(StoreUnavailable, match=rf"is as it was \({FIRST}\)") as told:
        await migrate(old)
    assert "still works with it" in str(told.value)
    assert ("error", FIRST) in [(line["log_level"], line.get("schema_before")) for line in logged]
    assert await held(old) == before
    monkeypatch.undo()
    await migrate(old)
    assert (await held(old))[0] == HEAD


async def test_sqlite_keeps_a_copy_and_the_log_says_where(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    url = f"sqlite+aiosqlite:///{path}"
    async with connected(url) as database, database.write() as connection:
        await connection.run_sync(first_release)
    before = await held(url)
    kept, earlier, others = (tmp_path / f"old.db.before-{what}" for what in (HEAD, "0002", "restore-20260101T000000Z"))
    for file in (earlier, others):
        file.write_text("x")
    with capture_logs() as logged:
        store = await open_store(url, FakeClock(), FakeIds())
    await store.close()
    assert [line["copy"] for line in logged if line["event"] == "the database was upgraded"] == [str(kept)]
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert await held(f"sqlite+aiosqlite:///{kept}") == before
    assert (earlier.exists(), others.exists()) == (False, True)
