"""The StormStore port, and openings written as part of a larger change. Must not decide what a storm is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.adapters.store.database.connection import Database
from bot.adapters.store.database.json_bodies import (
    read_opening_json,
    read_storm_json,
    write_opening_json,
    write_storm_json,
)
from bot.adapters.store.database.statements import ColumnValues, advance_counter, insert_new, insert_or_replace
from bot.adapters.store.database.tables import counters, heard, lives, openings, storms
from bot.domain.incidents.lifecycle import IncidentState
from bot.domain.operations.storms import OpenedIncident, Storm, StormMember
from bot.ports.clock import Clock
from bot.ports.errors import StoreConflict
from bot.ports.unit_of_work import Changes

BRIEFS_AT_MOST, OTHERS_AT_MOST = 200, 50


async def write_openings(connection: AsyncConnection, changes: Changes) -> None:
    """Write openings and their storm. Raises StoreConflict where the channel had another opening meanwhile."""
    number = 0
    if changes.after_openings:
        channel, seen = changes.after_openings
        number = await advance_counter(connection, counters, _name_counter(channel))
        if number != seen + 1:
            raise StoreConflict("Another incident opened in this channel at the same moment; it is looked at again.")
    rows = [_build_row(opening, number) for opening in changes.openings]
    await insert_or_replace(connection, openings, rows)
    if changes.storm:
        await _write_storm(connection, changes.storm)


async def _write_storm(connection: AsyncConnection, storm: Storm) -> None:
    """Write a storm, or raise the version of a known one: a summary that was computed meanwhile is outdated."""
    row = {"name": storm.name, "version": 1, "watched": True, "started_at": storm.started_at, "told": ""}
    if not await insert_new(connection, storms, row | {"body": write_storm_json(storm)}):
        newer = {"version": storms.c.version + 1, "watched": True}
        await connection.execute(sa.update(storms).where(storms.c.name == storm.name).values(**newer))


def _name_counter(channel: str) -> str:
    return f"openings/{channel}"


def _build_row(opening: OpenedIncident, number: int) -> ColumnValues:
    kept = replace(opening, number=opening.number or number)
    named = ("channel", "incident_id", "at", "number", "storm", "has_brief")
    return {name: getattr(kept, name) for name in named} | {"body": write_opening_json(kept)}


@dataclass(frozen=True, slots=True)
class SqlStormStore:
    """The StormStore port on SQLAlchemy."""

    database: Database
    clock: Clock
    writer: Any  # writes what is committed with a summary

    async def read_openings(
        self, channel: str, since: datetime, until: datetime, incident_id: str
    ) -> tuple[tuple[OpenedIncident, ...], int]:
        """See the port."""
        of_channel = sa.select(openings.c.incident_id, openings.c.body).where(openings.c.channel == channel)
        near = (openings.c.at >= since, openings.c.at <= until)
        asked = of_channel.where(*near).order_by(openings.c.number.desc())
        own = of_channel.where(openings.c.incident_id == incident_id)
        briefs = asked.where(openings.c.has_brief).limit(BRIEFS_AT_MOST)
        others = asked.where(sa.not_(openings.c.has_brief)).limit(OTHERS_AT_MOST)
        seen = sa.select(counters.c.value).where(counters.c.name == _name_counter(channel))
        async with self.database.read() as connection:
            number = (await connection.execute(seen)).scalar_one_or_none() or 0
            bodies = {i: body for one in (briefs, others, own) for i, body in (await connection.execute(one)).all()}
        found = sorted(map(read_opening_json, bodies.values()), key=lambda o: o.number)
        return tuple(found), int(number)

    async def list_watched(self) -> tuple[Storm, ...]:
        """See the port."""
        asked = sa.select(storms).where(storms.c.watched).order_by(storms.c.started_at, storms.c.name)
        async with self.database.read() as connection:
            rows = (await connection.execute(asked)).mappings().all()
        return tuple(replace(read_storm_json(r["body"]), told=r["told"], version=r["version"]) for r in rows)

    async def list_members(self, storm: str) -> tuple[StormMember, ...]:
        """See the port."""
        asked = (
            sa.select(openings.c.body, lives.c.state)
            .join(lives, lives.c.incident_id == openings.c.incident_id)
            .where(openings.c.storm == storm)
            .order_by(openings.c.number, openings.c.incident_id)
        )
        async with self.database.read() as connection:
            rows = (await connection.execute(asked)).all()
        return tuple(StormMember(read_opening_json(body), IncidentState(state)) for body, state in rows)

    async def save_summary(self, storm: Storm, told: str, changes: Changes, *, watched: bool) -> bool:
        """See the port."""
        try:
            await self.database.write_at_once(
                partial(self._write_summary, storm=storm, told=told, changes=changes, watched=watched)
            )
        except StoreConflict:
            return False
        return True

    async def _write_summary(
        self, connection: AsyncConnection, storm: Storm, told: str, changes: Changes, *, watched: bool
    ) -> None:
        held = sa.and_(storms.c.name == storm.name, storms.c.version == storm.version)
        newer = {"version": storm.version + 1, "told": told, "watched": watched}
        if (await connection.execute(sa.update(storms).where(held).values(**newer))).rowcount != 1:
            raise StoreConflict("The storm went on meanwhile.")
        await self.writer.write(connection, changes, self.clock.now())


@dataclass(frozen=True, slots=True)
class SqlConnectionWatermark:
    """The ConnectionWatermark port on SQLAlchemy."""

    database: Database

    async def read(self) -> datetime | None:
        """See the port."""
        async with self.database.read() as connection:
            found: datetime | None = (await connection.execute(sa.select(sa.func.max(heard.c.until)))).scalar_one()
        return found

    async def advance(self, at: datetime) -> None:
        """See the port."""
        async with self.database.write() as connection:
            await insert_or_replace(connection, heard, [{"connection": "slack", "until": at}])
