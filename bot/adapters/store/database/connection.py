"""The connection to the database: addresses, safety settings, transactions, and errors in plain words.

Must not know a table. On SQLite every connection has WAL, synchronous=FULL, foreign keys and a busy timeout, and every
writing transaction begins IMMEDIATE, one at a time within the process: SQLite has one writer, and waiting for a turn in
a queue of ours is fair and cheap, while its busy handler polls and may starve somebody.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

import asyncpg
import sqlalchemy as sa
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from bot.ports.errors import PrecedentError, StoreUnavailable

T = TypeVar("T")
BUSY_TIMEOUT_MS = 10_000
BUSY_POLL_S = 0.02
TABLES = "SELECT name FROM sqlite_master WHERE type = 'table'"
# How long a closing store waits for whoever still reads or writes.
CLOSE_WAIT_S = 5.0
PRAGMAS = (
    f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}",
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA temp_store = MEMORY",
)
# What a connection must have for a commit to outlive a power cut.
SAFE = {"journal_mode": "wal", "synchronous": 2}
UNSAFE = (
    "The database would not keep what it confirms (journal mode {mode}, synchronous {level} instead of wal and 2); put its "
    "file on a local disk, or use PostgreSQL."
)
NETWORK_FILE_SYSTEMS = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "ncpfs", "afs"})
UNKNOWN_PROBLEM = "the database reported an error ({error}); see its log, and run `precedent doctor`"
NO_ADDRESS = "DATABASE_URL is not an address; write sqlite+aiosqlite:///FILE or postgresql+asyncpg://USER@HOST/NAME."
MOST_PORT = 65535
DISK_FULL = "the disk of the database is full; free some space and try again"
STILL_READ = "What was deleted may still be in the database's file, for somebody reads an older state of it; try again."
NOTHING_SAVED = "Nothing was saved or read: {}."
FULL = NOTHING_SAVED.format(DISK_FULL)
# What the databases say, and what a person can do about it. The first that matches counts.
PROBLEMS: tuple[tuple[str, str], ...] = (
    ("disk is full", DISK_FULL),
    ("no space left", DISK_FULL),
    ("readonly database", "the database cannot be written; check the owner and mode of its file and directory"),
    ("read-only", "the database cannot be written; check that its file system or server is not read-only"),
    (
        "disk i/o error",
        "the disk of the database reports an error, or has become read-only; look at the system's log, and mend the disk",
    ),
    ("permission denied", "the database cannot be opened; check the owner and mode of its file and directory"),
    ("fileexistserror", "a part of the database's path is a file; mend the path in DATABASE_URL"),
    ("isadirectoryerror", "the database file cannot be opened, it is a directory; mend the path in DATABASE_URL"),
    ("notadirectoryerror", "a part of the database's path is a file; mend the path in DATABASE_URL"),
    ("unable to open", "the database file cannot be opened; check that its directory exists and can be written"),
    (
        "is not a database",
        "the file is not a Precedent database; check DATABASE_URL, or restore the file from a backup",
    ),
    ("malformed", "the database file is damaged; restore it from a backup"),
    ("is locked", "another program holds the database; try again, and check that nothing else keeps it open"),
    ("no such table", "the database has no tables of Precedent; run `precedent migrate`"),
    ("undefinedtable", "the database has no tables of Precedent; run `precedent migrate`"),
    ("password authentication", "the database refuses this user or password; check DATABASE_URL"),
    ("does not exist", "the database or user named in DATABASE_URL does not exist; create it or mend DATABASE_URL"),
    ("connect call failed", "the database server cannot be reached; check that it runs and what DATABASE_URL names"),
    ("connection refused", "the database server cannot be reached; check that it runs and what DATABASE_URL names"),
    ("connection", "the connection to the database broke; check that the server runs and try again"),
    ("timeout", "the database did not answer in time; check its load and try again"),
)


def format_problem(error: BaseException) -> str:
    """Return one sentence for a person: what is wrong with the store and what to do."""
    told = f"{type(error).__name__} {error}".lower()
    problem = next((says for sign, says in PROBLEMS if sign in told), None)
    return NOTHING_SAVED.format(problem or UNKNOWN_PROBLEM.format(error=type(error).__name__))


@contextmanager
def translate_errors() -> Iterator[None]:
    """Turn every error of the database or the disk into StoreUnavailable."""
    try:
        yield
    except PrecedentError:
        raise
    except (SQLAlchemyError, sqlite3.Error, OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
        raise StoreUnavailable(format_problem(error)) from error


def read_url(url: str) -> URL:
    """Return the address with the async driver filled in. Raises StoreUnavailable for what we cannot use."""
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError) as error:  # ValueError: a port that is no number
        raise StoreUnavailable(NO_ADDRESS) from error
    if parsed.port is not None and not 0 < parsed.port <= MOST_PORT:
        raise StoreUnavailable(NO_ADDRESS)
    backend = parsed.get_backend_name()
    if backend == "sqlite":
        if not parsed.database or parsed.database == ":memory:":
            raise StoreUnavailable("DATABASE_URL names no file; the store keeps what people record, so give it one.")
        return parsed.set(drivername="sqlite+aiosqlite")
    if backend == "postgresql":
        return parsed.set(drivername="postgresql+asyncpg")
    raise StoreUnavailable(f"DATABASE_URL names {backend}; the store works on sqlite and postgresql.")


def prepare_file(path: Path) -> None:
    """Make the directory (0700) and the file (0600) of a new SQLite store; refuse a network file system."""
    refuse_network(path)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # opening it here tells at once what is wrong with the path, before a driver's thread runs into it
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    _switch_to_wal(path)


def _switch_to_wal(path: Path) -> None:
    """Switch the file to write-ahead logging, before any pool does.

    The switch needs the file for itself, and SQLite does not wait for that, so this does; later processes find it done.
    Raises StoreUnavailable for a file of another program, which stays as it is.
    """
    until = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while True:
        try:
            with closing(sqlite3.connect(path, timeout=BUSY_TIMEOUT_MS / 1000)) as connection:
                require_our_file(path, {row[0] for row in connection.execute(TABLES)})
                connection.execute("PRAGMA journal_mode = WAL")
                return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(BUSY_POLL_S)


def require_our_file(path: Path, tables: set[str]) -> None:
    """Raise StoreUnavailable where a file holds tables, and none of them is Precedent's."""
    if tables and "alembic_version" not in tables:
        raise StoreUnavailable(
            f"{path} belongs to another program (it has the table {min(tables)}, and none of Precedent's): "
            "name another file in DATABASE_URL."
        )


def refuse_network(path: Path) -> None:
    """Raise StoreUnavailable where the file, or what it is a link to, lies or would lie on a network file system."""
    if (kind := find_file_system(path.resolve().parent)) in NETWORK_FILE_SYSTEMS:
        raise StoreUnavailable(
            f"{path} lies on a network file system ({kind}), where SQLite loses writes; use a local disk or PostgreSQL."
        )


def find_file_system(directory: Path, mounts: Path = Path("/proc/mounts")) -> str:
    """Return the type of the file system that holds the directory, "" where the system does not say."""
    if not mounts.exists():
        return ""
    rows = [line.split()[1:3] for line in mounts.read_text(encoding="utf-8", errors="replace").splitlines()]
    held = [(point, kind) for point, kind in rows if directory.is_relative_to(point.replace("\\040", " "))]
    return max(held, key=lambda row: len(row[0]), default=("", ""))[1]


class Database:
    """An engine and the two kinds of transaction on it."""

    def __init__(self, engine: AsyncEngine) -> None:
        self.engine = engine
        self.is_sqlite = engine.dialect.name == "sqlite"
        self._writing = engine.execution_options(writes=True)
        self._at_once = _create_sync_engine(engine.url) if self.is_sqlite else None
        self._turn = asyncio.Lock()

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncConnection]:
        """Open a transaction with one consistent view; nothing is written."""
        with translate_errors():
            async with self.engine.connect() as connection, connection.begin():
                yield connection

    @asynccontextmanager
    async def write(self) -> AsyncIterator[AsyncConnection]:
        """Open a durable transaction: it commits at the end and rolls back on any error."""
        with translate_errors():
            if not self.is_sqlite:
                async with self._writing.begin() as connection:
                    yield connection
                return
            # SQLite has one writer: waiting here is fair and cheap, waiting in its busy handler is neither
            async with self._turn, self._writing.begin() as connection:
                yield connection

    @property
    def sync_engines(self) -> tuple[sa.Engine, ...]:
        """Every engine that writes to this database."""
        return (self.engine.sync_engine, *((self._at_once,) if self._at_once else ()))

    async def write_at_once(self, work: Callable[[AsyncConnection], Coroutine[Any, Any, None]]) -> None:
        """Run `work` in a durable transaction, where it waits for nothing but the database.

        On SQLite all of it runs in one thread: handing each of twenty statements to the driver's thread and back took
        several times as long as the statements.
        """
        if not self.is_sqlite:
            async with self.write() as connection:
                await work(connection)
            return
        with translate_errors():
            async with self._turn:
                await asyncio.to_thread(self._write_in_thread, work)

    def _write_in_thread(self, work: Callable[[AsyncConnection], Coroutine[Any, Any, None]]) -> None:
        if self._at_once is None:
            raise RuntimeError("only SQLite is written in a thread of ours")
        with self._at_once.begin() as connection:
            try:
                work(cast("AsyncConnection", InlineConnection(connection))).send(None)
            except StopIteration:
                return
            raise RuntimeError("work that is done at once waited for something")

    async def compact(self) -> None:
        """Rewrite the whole SQLite file, so that nothing deleted is left in it or in its log; PostgreSQL does that
        itself. Raises StoreUnavailable where somebody reads an older state for too long."""
        if self._at_once is None:
            return
        with translate_errors():
            async with self._turn:
                until = time.monotonic() + BUSY_TIMEOUT_MS / 1000
                while not await asyncio.to_thread(self._compact_in_thread, self._at_once):
                    if time.monotonic() > until:
                        raise StoreUnavailable(STILL_READ)
                    await asyncio.sleep(BUSY_POLL_S)

    def _compact_in_thread(self, engine: sa.Engine) -> bool:
        with closing(engine.raw_connection()) as connection:
            cursor = connection.cursor()
            cursor.execute("PRAGMA temp_store = FILE")  # the copy is as large as the database
            try:
                cursor.execute("VACUUM")
                cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                answer = cursor.fetchone()
                return answer is not None and answer[0] == 0
            finally:
                cursor.execute("PRAGMA temp_store = MEMORY")

    async def close(self) -> None:
        """Close all connections, once those in use have come back or `CLOSE_WAIT_S` have passed.

        The pool closes what lies in it; a connection that comes back later is closed by nobody.
        """
        until = time.monotonic() + CLOSE_WAIT_S
        while cast("sa.QueuePool", self.engine.pool).checkedout():
            if time.monotonic() > until:
                break
            await asyncio.sleep(BUSY_POLL_S)
        await self.engine.dispose()
        if self._at_once:
            self._at_once.dispose()


class InlineConnection:
    """A synchronous connection behind the asynchronous interface: for coroutines that run in a thread without an event
    loop."""

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection
        self.dialect = connection.dialect

    async def execute(self, *asked: Any) -> sa.CursorResult[Any]:
        """Do what AsyncConnection.execute does."""
        return self._connection.execute(*asked)

    async def run_sync(self, work: Callable[..., T], *given: Any) -> T:
        """Do what AsyncConnection.run_sync does."""
        return work(self._connection, *given)


def _create_sync_engine(url: URL) -> sa.Engine:
    made = sa.create_engine(
        url.set(drivername="sqlite"), pool_size=1, connect_args={"timeout": BUSY_TIMEOUT_MS / 1000}
    ).execution_options(writes=True)
    sa.event.listen(made, "connect", _make_safe)
    sa.event.listen(made, "begin", _begin)
    return made


def connect(url: URL) -> Database:
    """Return a database that is not opened yet: the first transaction connects."""
    if url.get_backend_name() == "sqlite":
        engine = create_async_engine(url, pool_size=8, max_overflow=8, connect_args={"timeout": BUSY_TIMEOUT_MS / 1000})
        sa.event.listen(engine.sync_engine, "connect", _make_safe)
        sa.event.listen(engine.sync_engine, "begin", _begin)
    else:
        engine = create_async_engine(url, pool_size=8, max_overflow=8, pool_pre_ping=True)
    return Database(engine)


def _make_safe(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # transactions begin where `_begin` says, not where the driver guesses
    try:
        cursor = connection.cursor()
        for pragma in PRAGMAS:
            cursor.execute(pragma)
        _require_safe(cursor)
        cursor.close()
    except (sqlite3.Error, StoreUnavailable):
        connection.close()  # nobody else knows of it yet, and its thread would stay
        raise


def _require_safe(cursor: Any) -> None:
    """Raise StoreUnavailable where a setting did not take: SQLite answers an impossible journal mode with another one
    and no error."""
    found = []
    for name in SAFE:
        cursor.execute(f"PRAGMA {name}")
        found.append(cursor.fetchone()[0])
    if found != list(SAFE.values()):
        raise StoreUnavailable(UNSAFE.format(mode=found[0], level=found[1]))


def _begin(connection: sa.Connection) -> None:
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
