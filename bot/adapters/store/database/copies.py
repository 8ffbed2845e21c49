"""Whole copies of a SQLite database, made while it is written: for backup, restore and upgrades.

Must not decide when a copy is made or what it replaces. A copy gets its name only when it is complete, on the disk and
checked; a process that ends before leaves a hidden `.partial` file at most, which a later copy removes.
"""

from __future__ import annotations

import glob
import os
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from sqlalchemy.engine import URL

from bot.adapters.store.database.connection import BUSY_TIMEOUT_MS, TABLES, read_url
from bot.ports.errors import ConfigurationRejected, StoreUnavailable

FORGOTTEN_S = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class DatabaseCopy:
    """A checked copy."""

    schema: str  # its revision
    records: int  # how many incidents people or imports recorded
    size_bytes: int


def find_file(url: str) -> Path:
    """Return the file of a SQLite store. Raises ConfigurationRejected for PostgreSQL, which is copied by its own tools."""
    address = read_url(url)
    if address.get_backend_name() != "sqlite":
        plain = URL.create("postgresql", address.username, None, address.host, address.port, address.database)
        raise ConfigurationRejected(
            "The database is PostgreSQL, which is backed up by its own tools while the bot runs: "
            f"pg_dump --format=custom --file=precedent.dump '{plain.render_as_string()}', and back with pg_restore --clean --if-exists."
        )
    name = address.database or ""
    return Path(name.removeprefix("file:").partition("?")[0] if name.startswith("file:") else name)


@contextmanager
def stage_copy(source: Path, target: Path, *, still: bool = False) -> Iterator[tuple[Path, DatabaseCopy]]:
    """Make a complete and checked copy of `source` in a hidden file beside `target`, readable by its owner alone; it is
    deleted afterwards unless it was put into place.

    Nobody writes to a `still` source. Raises StoreUnavailable for a source that is none of ours or damaged, or a disk
    that is full.
    """
    with _translate_errors(source, target), _create_hidden_file(target) as (handle, partial):
        with closing(_open_read_only(source, still=still)) as connection:
            connection.execute("VACUUM INTO ?", (str(partial),))
        found = check_copy(partial)
        os.fsync(handle)
        yield partial, found


@contextmanager
def _translate_errors(source: Path, target: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as problem:
        raise StoreUnavailable(
            f"{source} could not be copied to {target}: {problem}. Nothing was changed."
        ) from problem


@contextmanager
def _create_hidden_file(target: Path) -> Iterator[tuple[int, Path]]:
    _remove_abandoned(target)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".partial", dir=target.parent)
    try:
        yield handle, Path(name)
    finally:
        os.close(handle)
        Path(name).unlink(missing_ok=True)


def put_in_place(partial: Path, target: Path) -> None:
    """Give the copy its name, in one step that survives a power cut."""
    partial.replace(target)
    directory = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def check_copy(path: Path) -> DatabaseCopy:
    """Read the whole file back. Raises StoreUnavailable for one that is damaged or no database of Precedent."""
    try:
        with closing(_open_read_only(path, still=True)) as connection:
            _require_whole(path, connection)
            schema = connection.execute("SELECT version_num FROM alembic_version").fetchone()
            count = connection.execute("SELECT count(*) FROM records").fetchone()
    except sqlite3.DatabaseError as damaged:
        raise StoreUnavailable(f"{path} is no whole database of Precedent ({damaged}).") from damaged
    return DatabaseCopy(schema[0], count[0], path.stat().st_size)


def _require_whole(path: Path, connection: sqlite3.Connection) -> None:
    tables = {row[0] for row in connection.execute(TABLES)}
    if not {"alembic_version", "records"} <= tables:
        raise StoreUnavailable(f"{path} is no database of Precedent.")
    told = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
    if told != "ok" or connection.execute("PRAGMA foreign_key_check").fetchone():
        raise StoreUnavailable(f"{path} is damaged ({told}).")


def _open_read_only(path: Path, *, still: bool) -> sqlite3.Connection:
    """Open a connection that only reads. A still file is read as it is, also from a read-only disk, unless its log is
    there."""
    if not path.is_file():
        raise StoreUnavailable(f"There is no file {path}.")
    logged = path.with_name(f"{path.name}-wal").exists()
    mode = ("mode=ro" if logged else "immutable=1") if still else "mode=rw"
    return sqlite3.connect(f"file:{quote(str(path))}?{mode}", uri=True, timeout=BUSY_TIMEOUT_MS / 1000)


def _remove_abandoned(target: Path) -> None:
    """Delete what a killed copy left behind, once no process can be writing it any more."""
    for left in target.parent.glob(f".{glob.escape(target.name)}.*.partial*"):
        if left.stat().st_mtime < time.time() - FORGOTTEN_S:
            left.unlink(missing_ok=True)
