"""The BriefTimingStore port: how alerts became briefs, read from rows that are stored anyway."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.adapters.store.database.connection import Database
from bot.adapters.store.database.statements import is_visible_to_viewer
from bot.adapters.store.database.tables import briefs, inbox, notices, outbox
from bot.domain.access.visibility import Viewer
from bot.domain.brief.timings import BriefTimings, DeliveryTimes
from bot.domain.delivery.ids import build_edit_id


@dataclass(frozen=True, slots=True)
class SqlBriefTimings:
    """The BriefTimingStore port on SQLAlchemy."""

    database: Database

    async def read_timings(self, incident_id: str, channel: str) -> BriefTimings:
        """See the port."""
        here = (briefs.c.incident_id == incident_id, briefs.c.channel == channel)
        told = sa.select(sa.func.count(), sa.func.min(notices.c.at), sa.func.max(notices.c.at))
        async with self.database.read() as connection:
            brief = (await connection.execute(sa.select(briefs).where(*here))).mappings().first()
            of_incident = told.where(notices.c.incident_id == incident_id)
            alerts, first, last = (await connection.execute(of_incident)).one()
            if brief is None:
                return BriefTimings(alerts, first, last)
            return BriefTimings(
                alerts,
                first,
                last,
                await _read_received_time(connection, channel, brief["root_ts"]),
                brief["first_at"],
                await _read_delivery(connection, brief["delivery_id"]),
                await _read_delivery(connection, build_edit_id(brief["delivery_id"])),
            )

    async def list_last_alerts(self, viewer: Viewer, since: datetime, limit: int) -> tuple[tuple[str, datetime], ...]:
        """See the port."""
        named = _select_channels()
        seen = (notices.c.channel == named.c.channel, is_visible_to_viewer(viewer, notices.c.visibility))
        latest = sa.select(sa.func.max(notices.c.at)).where(*seen).scalar_subquery()
        asked = sa.select(named.c.channel, latest).where(named.c.channel.is_not(None))
        async with self.database.read() as connection:
            rows = (await connection.execute(asked)).all()
        recent = [(channel, at) for channel, at in rows if at is not None and at >= since]
        return tuple(sorted(recent, key=lambda row: (-row[1].timestamp(), row[0]))[:limit])


def _select_channels() -> sa.CTE:
    """Select every channel that has a notification, then null: one step in the index for each, however many
    notifications."""
    first = sa.select(sa.func.min(notices.c.channel).label("channel")).cte("channels", recursive=True)
    after = notices.alias("after")
    following = sa.select(sa.func.min(after.c.channel)).where(after.c.channel > first.c.channel).scalar_subquery()
    return first.union_all(sa.select(following).where(first.c.channel.is_not(None)))


async def _read_received_time(connection: AsyncConnection, channel: str, ts: str) -> datetime | None:
    """Return when the alert's message came in, None once its row (a day old) is gone. Reads among rows of about its
    time."""
    named = inbox.c.natural_key.endswith(f"/{channel}/{ts}", autoescape=True)
    asked = sa.select(inbox.c.received_at).where(named).order_by(inbox.c.id).limit(1)
    found: datetime | None = (await connection.execute(asked)).scalar_one_or_none()
    return found


async def _read_delivery(connection: AsyncConnection, delivery_id: str) -> DeliveryTimes | None:
    asked = sa.select(outbox).where(outbox.c.delivery_id == delivery_id)
    row: Any = (await connection.execute(asked)).mappings().first()
    if row is None:
        return None
    return DeliveryTimes(row["owed_at"], row["settled_at"], row["attempts"], row["state"], row["error"])
