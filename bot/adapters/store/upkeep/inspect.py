"""Inspecting a store without opening it for use: nothing is made, migrated or kept.

Must not write anything but the time of the check, which shows that the store can be written.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from bot.adapters.store.alerts.brief_timings import SqlBriefTimings
from bot.adapters.store.alerts.storms import SqlConnectionWatermark
from bot.adapters.store.commit import ChangesWriter
from bot.adapters.store.database.connection import (
    TABLES,
    Database,
    connect,
    read_url,
    refuse_network,
    require_our_file,
    translate_errors,
)
from bot.adapters.store.database.schema import HEAD, list_revisions, read_revision
from bot.adapters.store.database.tables import inbox
from bot.adapters.store.delivery.outbox import SqlOutbox
from bot.adapters.store.delivery.outbox_admin import SqlInboxAdmin
from bot.adapters.store.records.incidents import SqlIncidentStore
from bot.adapters.store.upkeep.health import SqlHealth
from bot.ports.clock import Clock, Ids

BUSY_S = 2.0


@dataclass(frozen=True, slots=True)
class StoreAddress:
    """Where the store is."""

    url: URL
    file: Path | None  # None on PostgreSQL, and for SQLite's addresses of the form file:…

    @property
    def server(self) -> str:
        """The server and the database, without user and password."""
        return f"{self.url.host or 'localhost'}:{self.url.port or 5432}/{self.url.database or ''}"


def read_address(url: str) -> StoreAddress:
    """Parse DATABASE_URL. Raises StoreUnavailable for what cannot be used."""
    parsed = read_url(url)
    name = parsed.database or ""
    is_file = parsed.get_backend_name() == "sqlite" and not name.startswith("file:")
    file = Path(name) if is_file else None
    if file:
        refuse_network(file)
    return StoreAddress(parsed, file)


def describe_place(url: str) -> str | None:
    """Return the file, or server and database, that an address names, without user and password; None if it is none."""
    try:
        place = make_url(url)
    except (ArgumentError, ValueError):  # ValueError: the port is not a number
        return None
    if place.get_backend_name() == "sqlite":
        return place.database or ""
    return f"{place.host}:{place.port or 5432}/{place.database or ''}"


async def inspect_revision(at: StoreAddress) -> tuple[str | None, str]:
    """Return the store's schema (None: none yet), and what that is here: "current", "older", "newer" or "empty". Raises
    StoreUnavailable."""
    found = _read_file_revision(at.file) if at.file else await _read_server_revision(at.url)
    if found is None:
        return None, "empty"
    return found, "newer" if found not in list_revisions() else "current" if found == HEAD else "older"


def _read_file_revision(path: Path) -> str | None:
    """Read the revision in a way that creates no file, whatever is there."""
    with (
        translate_errors(),
        closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=BUSY_S)) as opened,
    ):
        tables = {str(row[0]) for row in opened.execute(TABLES)}
        require_our_file(path, tables)
        if "alembic_version" not in tables:
            return None
        row = opened.execute("SELECT version_num FROM alembic_version").fetchone()
        return str(row[0]) if row else None


async def _read_server_revision(url: URL) -> str | None:
    database = connect(url)
    try:
        async with database.read() as connection:
            return await connection.run_sync(read_revision)
    finally:
        await database.close()


@dataclass(frozen=True, slots=True)
class EventArrivals:
    """Events of Slack as far as the inbox still has them."""

    database: Database

    async def list_posts(self, channel: str, since: datetime) -> frozenset[str]:
        """Return the ts of a channel's posts that came in since then, under whatever team id (in a channel shared
        between organizations it may be either). Raises StoreUnavailable."""
        here = inbox.c.natural_key.contains(f"/{channel}/", autoescape=True)
        asked = sa.select(inbox.c.natural_key).where(inbox.c.received_at >= since, here)
        async with self.database.read() as connection:
            keys = (await connection.execute(asked)).scalars().all()
        return frozenset(key.rpartition("/")[2] for key in keys)

    async def read_span(self) -> tuple[datetime | None, datetime | None]:
        """Return when the first and the last known event came. Raises StoreUnavailable."""
        sent = inbox.c.event_id.startswith("Ev", autoescape=True)
        asked = sa.select(sa.func.min(inbox.c.received_at), sa.func.max(inbox.c.received_at)).where(sent)
        async with self.database.read() as connection:
            first, last = (await connection.execute(asked)).one()
        return first, last


@dataclass(frozen=True, slots=True)
class StoreParts:
    """The parts of a store that inspection needs."""

    health: SqlHealth
    outbox: SqlOutbox
    inbox_admin: SqlInboxAdmin
    brief_timings: SqlBriefTimings
    incidents: SqlIncidentStore
    watermark: SqlConnectionWatermark
    arrivals: EventArrivals


@asynccontextmanager
async def open_parts(at: StoreAddress, clock: Clock, ids: Ids) -> AsyncIterator[StoreParts]:
    """Open the parts of a store that has the schema of this version."""
    database = connect(at.url)
    try:
        yield StoreParts(
            SqlHealth(database, clock),
            SqlOutbox(database, clock, ids, 60.0),
            SqlInboxAdmin(database, clock),
            SqlBriefTimings(database),
            SqlIncidentStore(database, clock, ChangesWriter(index=None)),
            SqlConnectionWatermark(database),
            EventArrivals(database),
        )
    finally:
        await database.close()
