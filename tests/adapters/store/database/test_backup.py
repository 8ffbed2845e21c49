"""A backup is whole or not there, holds what was acknowledged, and comes back without harming what is there."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.adapters.store import backup, open_store, restore
from bot.adapters.store.database.copies import check_copy
from bot.adapters.store.database.schema import HEAD
from bot.domain.incidents.record import Incident
from bot.domain.recall.query import OPERATOR, Query
from bot.ports.errors import ConfigurationRejected, RecordRejected, StoreUnavailable
from bot.ports.unit_of_work import Changes
from tests.adapters.store.database.store_files_support import WRITER
from tests.cli.command import ROOT, Precedent
from tests.databases import fresh
from tests.fakes import START, FakeClock, FakeIds

BACKUP = """
import asyncio, pathlib, sys
from bot.adapters.store import backup
asyncio.run(backup(sys.argv[1], pathlib.Path(sys.argv[2])))
"""


async def store_with(path: Path, *ids: str) -> str:
    store = await open_store(fresh(path), FakeClock(), FakeIds())
    records = tuple(Incident(name, "Gateway timeouts") for name in ids)
    await store.incidents.commit(Changes(records=records, recallable=frozenset(ids)))
    await store.close()
    return f"sqlite+aiosqlite:///{path}"


async def ids_in(path: Path) -> set[str]:
    store = await open_store(f"sqlite+aiosqlite:///{path}", FakeClock(), FakeIds())
    found = {record.incident_id for record in await store.incidents.list_records(OPERATOR)}
    assert len(await store.index.find_candidates(Query("gateway"), OPERATOR)) > 0
    await store.close()
    return found


def names_in(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def damage(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 8192)


@contextlib.contextmanager
def writing(url: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", WRITER, url, "W"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as writer:
        try:
            yield writer
        finally:
            writer.kill()


async def test_a_backup_while_a_bot_writes_holds_what_was_acknowledged_and_restore_waits_for_the_bot(
    tmp_path: Path,
) -> None:
    url, copy = fresh(tmp_path / "live.db"), tmp_path / "kept" / "copy.db"
    copy.parent.mkdir()
    with writing(url) as writer:
        assert writer.stdout
        acknowledged = {writer.stdout.readline().strip() for _ in range(25)}
        held = await backup(url, copy)
        with pytest.raises(StoreUnavailable, match="in use: stop the bot"):
            await restore(url, copy, START, replace=True)
        assert writer.stdout.readline()  # neither of them stopped it
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert names_in(copy.parent) == ["copy.db"]
    assert (held.schema, held.size_bytes) == (HEAD, copy.stat().st_size)
    assert len(acknowledged) <= held.records
    assert acknowledged <= await ids_in(copy)


def killed_in_the_middle(url: str, copy: Path) -> int:
    """Kill a backup as soon as its hidden file has content; how the process ended."""
    with subprocess.Popen([sys.executable, "-c", BACKUP, url, str(copy)], cwd=ROOT) as process:
        while process.poll() is None and not any(f.stat().st_size for f in copy.parent.glob(".copy.db.*.partial")):
            time.sleep(0.001)
        process.kill()
    return process.returncode


async def test_a_backup_that_is_killed_leaves_no_half_file(tmp_path: Path) -> None:
    url, copy = await store_with(tmp_path / "live.db", "INC-1"), tmp_path / "copies" / "copy.db"
    copy.parent.mkdir()
    with contextlib.closing(sqlite3.connect(tmp_path / "live.db")) as connection, connection:
        large = "INSERT INTO audit (at, actor, action, object, detail) VALUES ('2026-01-01', '', '', '', ?)"
        connection.executemany(large, (("x" * 500_000,) for _ in range(20)))
    assert killed_in_the_middle(url, copy) == -signal.SIGKILL
    left = names_in(copy.parent)
    assert left != []
    assert all(name.startswith(".copy.db.") for name in left)
    for name in left:
        os.utime(copy.parent / name, (1, 1))
    assert (await backup(url, copy)).records == 1
    assert names_in(copy.parent) == ["copy.db"]


async def test_a_restore_keeps_what_it_replaces(tmp_path: Path) -> None:
    url = await store_with(tmp_path / "live.db", "INC-1")
    await backup(url, tmp_path / "copy.db")
    await store_with(tmp_path / "live.db", "INC-2")
    with pytest.raises(RecordRejected, match=r"is there already \(with 2 incidents\); say --force"):
        await restore(url, tmp_path / "copy.db", START)
    done = await restore(url, tmp_path / "copy.db", START, replace=True)
    assert (done.held.records, done.upgrades) == (1, False)
    assert done.kept
    assert await ids_in(tmp_path / "live.db") == {"INC-1"}
    assert await ids_in(done.kept) == {"INC-1", "INC-2"}
    new = await restore(f"sqlite:///{tmp_path}/new/state.db", tmp_path / "copy.db", START)
    assert new.kept is None
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700
    assert await ids_in(tmp_path / "new" / "state.db") == {"INC-1"}


async def test_a_damaged_database_is_replaced_with_its_log_kept(tmp_path: Path) -> None:
    url = await store_with(tmp_path / "live.db", "INC-1")
    await backup(url, tmp_path / "copy.db")
    damage(tmp_path / "live.db")
    (tmp_path / "live.db-wal").write_bytes(b"left by a crash")
    with pytest.raises(RecordRejected, match="damaged or not Precedent's"):
        await restore(url, tmp_path / "copy.db", START)
    done = await restore(url, tmp_path / "copy.db", START, replace=True)
    assert done.kept
    assert f"{done.kept.name}-wal" in names_in(tmp_path)
    assert await ids_in(tmp_path / "live.db") == {"INC-1"}


async def test_what_cannot_be_restored_changes_nothing(tmp_path: Path) -> None:
    url = await store_with(tmp_path / "live.db", "INC-1")
    before = (tmp_path / "live.db").read_bytes()
    newer, torn, letter, other = (tmp_path / name for name in ("newer.db", "torn.db", "letter.db", "other.db"))
    await backup(url, newer)
    torn.write_bytes(newer.read_bytes())
    damage(torn)
    letter.write_text("this is a letter " * 500)
    with contextlib.closing(sqlite3.connect(newer)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with contextlib.closing(sqlite3.connect(other)) as connection, connection:
        connection.execute("CREATE TABLE bookmarks (id INTEGER)")
    for file, says in (
        (newer, "schema 9999 of a newer Precedent"),
        (torn, r"damaged|no whole database"),
        (letter, "no whole database of Precedent"),
        (other, "no database of Precedent"),
        (tmp_path / "none.db", "There is no file"),
    ):
        with pytest.raises(RecordRejected, match=says):
            await restore(url, file, START, replace=True)
    assert (tmp_path / "live.db").read_bytes() == before
    assert [name for name in names_in(tmp_path) if "before" in name] == []


async def test_a_backup_is_refused_where_it_would_harm(tmp_path: Path) -> None:
    url = await store_with(tmp_path / "live.db", "INC-1")
    (tmp_path / "there.db").write_text("x")
    with pytest.raises(RecordRejected, match="there already"):
        await backup(url, tmp_path / "there.db")
    with pytest.raises(RecordRejected, match="the database itself"):
        await backup(url, tmp_path / "live.db", overwrite=True)
    with pytest.raises(StoreUnavailable, match="could not be copied to"):
        await backup(url, tmp_path / "nowhere" / "copy.db")
    with pytest.raises(StoreUnavailable, match="There is no file"):
        await backup(f"sqlite:///{tmp_path}/none.db", tmp_path / "copy.db")
    assert not (tmp_path / "none.db").exists()
    damage(tmp_path / "live.db")
    with pytest.raises(StoreUnavailable):
        await backup(url, tmp_path / "there.db", overwrite=True)
    assert (tmp_path / "there.db").read_text() == "x"
    with pytest.raises(ConfigurationRejected, match=r"pg_dump --format=custom .*'postgresql://me@db/precedent'"):
        await backup("postgresql+asyncpg://me:secret@db/precedent", tmp_path / "copy.db")


def test_both_as_commands(tmp_path: Path) -> None:
    precedent, copy = Precedent(tmp_path), str(tmp_path / "copy.db")
    fresh(tmp_path / "cli.db")
    made = precedent("backup", copy)
    assert (made.returncode, f'"schema": "{HEAD}"' in made.stdout) == (0, True)
    assert check_copy(Path(copy)).records == 0
    assert precedent("backup", copy).returncode == 1
    assert precedent("backup", copy, "--force").returncode == 0
    refused = precedent("restore", copy)
    assert (refused.returncode, "--force" in refused.stderr) == (1, True)
    done = precedent("restore", copy, "--force")
    assert (done.returncode, ".before-restore-" in done.stdout) == (0, True)
    told = precedent("backup", copy, DATABASE_URL="postgresql://me@db/precedent")
    assert (told.returncode, "pg_dump" in told.stderr) == (2, True)
