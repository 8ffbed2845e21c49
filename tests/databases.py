"""Databases for tests, migrated once in each test process and copied from then on: migrating costs more than most tests.

Must not be used where migrating is what is tested. Each test process has a PostgreSQL database of its own.
"""

from __future__ import annotations

import os
import tempfile
from functools import lru_cache
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import create_async_engine

from bot.adapters.store.assembly import migrate
from bot.adapters.store.database.schema import upgrade
from bot.adapters.store.index.tables import create_empty

_templates: set[str] = set()


def fresh(path: Path) -> str:
    """The address of an empty store at `path`, with the schema of this version and an empty index. What is there already
    stays."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_bytes(_migrated())
    return f"sqlite+aiosqlite:///{path}"


@lru_cache(maxsize=1)
def _migrated() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "migrated.db"
        engine = sa.create_engine(f"sqlite:///{path}")
        with engine.begin() as connection:
            upgrade(connection)
            create_empty(connection)
        with engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA journal_mode = WAL")
        engine.dispose()
        return path.read_bytes()


def postgres_server() -> str:
    """The address of the PostgreSQL server that the tests were given; skips where there is none."""
    url = os.environ.get("TEST_POSTGRES_URL")
    if not url:
        pytest.skip("TEST_POSTGRES_URL names no PostgreSQL server")
    return url


async def fresh_postgres() -> str:
    """The address of an empty store on PostgreSQL, with the schema of this version. Whoever is still connected to the last
    one is thrown out."""
    server = postgres_server()
    base = server.rpartition("/")[0]
    name = f"precedent_{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}"
    migrated = f"{name}_migrated"
    if migrated not in _templates:
        await _make(server, migrated, "template0")
        await migrate(f"{base}/{migrated}")
        _templates.add(migrated)
    await _make(server, name, migrated)
    return f"{base}/{name}"


async def empty_postgres() -> str:
    """The address of a database on PostgreSQL with nothing in it."""
    server = postgres_server()
    name = f"precedent_{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}_empty"
    await _make(server, name, "template0")
    return f"{server.rpartition('/')[0]}/{name}"


async def _make(server: str, name: str, template: str) -> None:
    engine = create_async_engine(server, isolation_level="AUTOCOMMIT")
    async with engine.connect() as connection:
        await connection.execute(sa.text(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)"))
        await connection.execute(sa.text(f"CREATE DATABASE {name} TEMPLATE {template}"))
    await engine.dispose()
