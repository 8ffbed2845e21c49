"""What may happen to the store's file: rights, a full disk, a crash, damage, a newer schema."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.adapters.store import Store, migrate, open_store
from bot.adapters.store.database import connection as engine_module
from bot.adapters.store.database.connection import connect, find_file_system, format_problem, prepare_file, read_url
from bot.adapters.store.database.schema import HEAD, MIGRATIONS, read_revision
from bot.adapters.store.database.tables import metadata
from bot.adapters.store.upkeep import health
from bot.domain.incidents.record import Incident
from bot.domain.recall.query import OPERATOR, Query
from bot.ports.delivery.inbox import ReceivedEvent
from bot.ports.errors import StoreUnavailable
from bot.ports.unit_of_work import Changes
from tests.adapters.store.database.store_files_support import WRITER
from tests.fakes import START, FakeClock, FakeIds

RECORD = Incident("INC-1", "Gateway timeouts")
RECALLABLE = Changes(records=(RECORD,), recallable=frozenset({"INC-1"}))


def url_of(path: Path) -> str:
    return f"sqlite+aiosqlite:///{path}"


async def opened(path: Path) -> Store:
    return await open_store(url_of(path), FakeClock(), FakeIds())


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await opened(tmp_path / "state" / "test.db")
    yield store
    await store.close()


async def test_the_file_is_its_owners_alone(store: Store, tmp_path: Path) -> None:
    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o700
    for file in (tmp_path / "state").iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


async def test_every_connection_is_safe(store: Store) -> None:
    async def pragmas() -> tuple[object, ...]:
        async with store.database.engine.connect() as connection:
            names = ("synchronous", "journal_mode", "foreign_keys", "busy_timeout")
            values = [(await connection.exec_driver_sql(f"PRAGMA {name}")).scalar_one() for name in names]
            await asyncio.sleep(0.05)
            return tuple(values)

    assert set(await asyncio.gather(*(pragmas() for _ in range(6)))) == {(2, "wal", 1, 10_000)}


async def test_a_store_opens_again_with_everything_in_it(tmp_path: Path) -> None:
    for _ in range(2):
        store = await opened(tmp_path / "test.db")
        await store.incidents.commit(RECALLABLE)
        await store.close()
    store = await opened(tmp_path / "test.db")
    assert await store.incidents.list_records(OPERATOR) == (RECORD,)
    assert len(await store.index.find_candidates(Query("gateway"), OPERATOR)) == 1
    await store.close()


async def test_a_full_disk_is_told_and_what_was_there_stays(store: Store) -> None:
    await store.incidents.commit(RECALLABLE)
    async with store.database.engine.connect() as connection:
        pages = (await connection.exec_driver_sql("PRAGMA page_count")).scalar_one()
    for engine in store.database.sync_engines:
        sa.event.listen(
            engine, "begin", lambda connection: connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
        )
    big = Incident("INC-2", "Big", symptoms=tuple(f"line {n}" for n in range(5000)))
    with pytest.raises(StoreUnavailable, match="disk of the database is full; free some space"):
        await store.incidents.commit(Changes(records=(big,), recallable=frozenset({"INC-2"})))
    with pytest.raises(StoreUnavailable, match="full"):
        await store.inbox.receive(ReceivedEvent("Ev1", "k", "message", {"text": "x" * 100_000}))
    assert await store.incidents.list_records(OPERATOR) == (RECORD,)


async def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    path = tmp_path / "test.db"
    await (await opened(path)).close()
    store = await open_store(f"sqlite+aiosqlite:///file:{path}?mode=ro&uri=true", FakeClock(), FakeIds())
    with pytest.raises(StoreUnavailable, match="cannot be written; check the owner and mode"):
        await store.incidents.commit(RECALLABLE)
    status = await store.health.read_status()
    assert (status.writable, status.schema) == (False, HEAD)
    assert "cannot be written" in (status.problem or "")
    await store.close()


async def test_health_of_a_store_that_is_gone(store: Store) -> None:
    async with store.database.write() as connection:
        await connection.execute(sa.text("DROP TABLE records"))
    status = await store.health.read_status()
    assert (status.writable, status.schema) == (False, None)
    assert "precedent migrate" in (status.problem or "")


async def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    path = tmp_path / "test.db"
    path.write_bytes(b"this is not a database, it is a letter" * 100)
    with pytest.raises(StoreUnavailable, match="not a Precedent database"):
        await opened(path)


async def test_a_directory_in_place_of_the_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="cannot be opened"):
        await opened(tmp_path)


async def test_a_path_below_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreUnavailable, match="a part of the database's path is a file"):
        await opened(tmp_path / "file" / "test.db")


async def test_another_programs_file_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "places.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE bookmarks (id INTEGER)")
    connection.close()
    with pytest.raises(StoreUnavailable, match=r"another program .*bookmarks"):
        await opened(path)
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("bookmarks",)]
    connection.close()


async def test_a_newer_schema_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "test.db"
    await (await opened(path)).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    with pytest.raises(StoreUnavailable, match="schema 9999 of a newer Precedent"):
        await opened(path)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("mysql://x/y", "names mysql"),
        ("no address", "is not an address"),
        ("sqlite://", "names no file"),
        ("sqlite:///:memory:", "names no file"),
    ],
)
async def test_addresses_that_cannot_be_used(url: str, says: str) -> None:
    with pytest.raises(StoreUnavailable, match=says):
        await open_store(url, FakeClock(), FakeIds())


def test_drivers_are_filled_in() -> None:
    assert read_url("sqlite:///x.db").drivername == "sqlite+aiosqlite"
    assert read_url("postgresql://u@h/d").drivername == "postgresql+asyncpg"


async def test_a_server_that_is_not_there_is_told() -> None:
    with pytest.raises(StoreUnavailable, match="server cannot be reached"):
        await open_store("postgresql+asyncpg://u@127.0.0.1:1/d", FakeClock(), FakeIds())


def test_an_error_of_the_disk_is_told() -> None:
    said = format_problem(sqlite3.OperationalError("disk I/O error"))
    assert "reports an error, or has become read-only" in said


async def test_health_asks_for_room(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (await store.health.read_status()).writable
    monkeypatch.setattr(health, "ROOM_BYTES", 2**60)
    status = await store.health.read_status()
    assert (status.writable, status.problem) == (False, engine_module.FULL)


def test_unknown_errors_still_say_what_to_do() -> None:
    assert "precedent doctor" in format_problem(ValueError("odd"))


def test_network_file_systems_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/a / ext4 rw 0 0\nserver:/x {tmp_path} nfs4 rw 0 0\n")
    assert find_file_system(tmp_path, mounts) == "nfs4"
    assert find_file_system(Path("/somewhere"), mounts) == "ext4"
    assert find_file_system(tmp_path, tmp_path / "none") == ""
    monkeypatch.setattr(engine_module, "find_file_system", lambda _directory: "nfs4")
    with pytest.raises(StoreUnavailable, match="network file system"):
        prepare_file(tmp_path / "test.db")


async def test_no_way_of_naming_the_file_gets_round_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    far, near = tmp_path / "far", tmp_path / "near"
    far.mkdir()
    near.mkdir()
    (near / "link.db").symlink_to(far / "test.db")

    def told(directory: Path) -> str:
        return "cifs" if directory == far else "ext4"

    monkeypatch.setattr(engine_module, "find_file_system", told)
    for path in (f"{near}/link.db", f"{far}/new/../test.db", f"file:{far}/test.db?mode=rwc&uri=true"):
        with pytest.raises(StoreUnavailable, match="lies on a network file system"):
            await open_store(f"sqlite+aiosqlite:///{path}", FakeClock(), FakeIds())
    assert list(far.iterdir()) == []


@pytest.mark.parametrize("pragma", ["PRAGMA journal_mode = DELETE", "PRAGMA synchronous = NORMAL"])
async def test_a_connection_that_would_lose_commits_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pragma: str
) -> None:
    monkeypatch.setattr(engine_module, "PRAGMAS", (*engine_module.PRAGMAS, pragma))
    with pytest.raises(StoreUnavailable, match="would not keep what it confirms"):
        await opened(tmp_path / "test.db")


async def test_migrating_twice_at_once_is_fine(tmp_path: Path) -> None:
    await asyncio.gather(*(migrate(url_of(tmp_path / "test.db")) for _ in range(3)))
    store = await opened(tmp_path / "test.db")
    assert (await store.health.read_status()).schema == HEAD
    await store.close()


async def test_the_migrations_make_the_tables_that_the_code_uses(store: Store) -> None:
    def differences(connection: sa.Connection) -> list[str]:
        inspector = sa.inspect(connection)
        found = []
        for table in metadata.sorted_tables:
            columns = {c["name"]: (str(c["type"]), c["nullable"]) for c in inspector.get_columns(table.name)}
            dialect = connection.dialect
            expected = {c.name: (str(c.type.compile(dialect)), c.nullable) for c in table.columns}
            indexes = {i["name"] for i in inspector.get_indexes(table.name) if not i["unique"]}
            if columns != expected or indexes != {i.name for i in table.indexes}:
                found.append(table.name)
        return found

    async with store.database.read() as connection:
        assert await connection.run_sync(differences) == []
        assert await connection.run_sync(read_revision) == HEAD
    assert sorted(p.name for p in (MIGRATIONS / "versions").glob("[0-9]*.py"))[-1].startswith(HEAD)


async def test_an_index_of_another_version_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "test.db"
    store = await opened(path)
    hidden = Incident("INC-2", "Gateway, not for recall yet")
    await store.incidents.commit(Changes(records=(RECORD, hidden), recallable=frozenset({"INC-1"})))
    await store.close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE index_state SET value = 'older' WHERE name = 'version'")
        connection.execute("DELETE FROM index_documents")
    connection.close()
    store = await opened(path)
    found = await store.index.find_candidates(Query("gateway"), OPERATOR)
    assert [candidate.incident.incident_id for candidate in found] == ["INC-1"]
    await store.close()


async def test_a_moment_without_time_zone_never_gets_in(store: Store) -> None:
    with pytest.raises(StoreUnavailable):
        await store.inbox.delete_settled(START.replace(tzinfo=None))


def written_until_killed(url: str, name: str, lines: int) -> list[str]:
    """The ids that a writer said were kept before it was killed."""
    command = [sys.executable, "-c", WRITER, url, name]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[4]) as writer:
        assert writer.stdout
        told = [writer.stdout.readline().strip() for _ in range(lines)]
        writer.send_signal(signal.SIGKILL)
        return told + writer.stdout.read().split("\n")[:-1]


async def test_what_was_acknowledged_survives_kill_9(tmp_path: Path) -> None:
    url = url_of(tmp_path / "test.db")
    acknowledged = [i for life in range(3) for i in written_until_killed(url, f"L{life}", 5 + 3 * life)]
    store = await open_store(url, FakeClock(), FakeIds())
    kept = {record.incident_id for record in await store.incidents.list_records(OPERATOR)}
    assert set(acknowledged) <= kept
    assert len(kept) - len(acknowledged) <= 3
    assert await store.index.count_records(OPERATOR) == len(kept)
    async with store.database.read() as connection:
        assert (await connection.exec_driver_sql("PRAGMA integrity_check")).scalar_one() == "ok"
    await store.close()


async def test_concurrent_commits_all_arrive(store: Store) -> None:
    changes = [
        Changes(records=(Incident(f"X-{n}", "Gateway"),), recallable=frozenset({f"X-{n}"}), once=f"k{n}")
        for n in range(60)
    ]
    assert all(await asyncio.gather(*(store.incidents.commit(change) for change in changes)))
    assert await store.index.count_records(OPERATOR) == 60
    assert connect(read_url("sqlite:///x")).is_sqlite
