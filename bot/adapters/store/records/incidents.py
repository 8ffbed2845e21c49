"""The IncidentStore port: incidents, their lifecycles and briefs. Writing is in `commit`."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.adapters.store.commit import AlreadyCommitted, ChangesWriter
from bot.adapters.store.database.connection import Database
from bot.adapters.store.database.json_bodies import (
    read_brief_json,
    read_lifecycle_json,
    read_notification_json,
    read_record_json,
)
from bot.adapters.store.database.statements import advance_counter, is_visible_to_viewer, split_batches
from bot.adapters.store.database.tables import briefs, counters, lives, notices, outbox, records, seen_posts, tombstones
from bot.adapters.store.records.quoting import names_incident, select_briefs_naming
from bot.domain.access.visibility import Viewer
from bot.domain.alerts.notification import Notification
from bot.domain.incidents.alert_history import AlertHistory, count_history
from bot.domain.incidents.lifecycle import IncidentState, Lifecycle
from bot.domain.incidents.record import Incident
from bot.ports.clock import Clock
from bot.ports.errors import IncidentNotFound
from bot.ports.incidents import RelatedIncidents
from bot.ports.posts import PostedBrief
from bot.ports.unit_of_work import Changes

PAGE = 500
OPEN_AT_MOST = 100
EARLY_AT_MOST = 100
POSTS = ("post", "upload")
UNFINISHED = (IncidentState.OPEN.value, IncidentState.CLEARED.value)


@dataclass(frozen=True, slots=True)
class SqlIncidentStore:
    """The IncidentStore port on SQLAlchemy."""

    database: Database
    clock: Clock
    writer: ChangesWriter

    async def commit(self, changes: Changes) -> bool:
        """See the port."""
        try:
            await self.database.write_at_once(partial(self.writer.write, changes=changes, now=self.clock.now()))
        except AlreadyCommitted:
            return False
        return True

    async def new_incident_id(self) -> str:
        """See the port."""
        number: list[int] = []

        async def give(connection: AsyncConnection) -> None:
            number[:] = [await advance_counter(connection, counters, "incident")]

        await self.database.write_at_once(give)
        return f"INC-{number[0]}"

    async def read_record(self, incident_id: str) -> Incident:
        """See the port."""
        body = await self._read_first(sa.select(records.c.body).where(records.c.incident_id == incident_id))
        if body is None:
            raise IncidentNotFound(f"There is no record of {incident_id} that you may see.")
        return read_record_json(body)

    async def find_records(self, incident_ids: Sequence[str]) -> Mapping[str, Incident]:
        """See the port."""
        found: list[str] = []
        for portion in split_batches(incident_ids, PAGE):
            found += await self._read_all(sa.select(records.c.body).where(records.c.incident_id.in_(portion)))
        return {record.incident_id: record for record in map(read_record_json, found)}

    async def find_retracted(self, incident_ids: Sequence[str]) -> frozenset[str]:
        """See the port."""
        found: list[str] = []
        for portion in split_batches(incident_ids, PAGE):
            found += await self._read_all(
                sa.select(tombstones.c.incident_id).where(tombstones.c.incident_id.in_(portion))
            )
        return frozenset(found)

    async def list_records(self, viewer: Viewer, *, recallable_only: bool = False) -> tuple[Incident, ...]:
        """See the port."""
        asked = (
            sa.select(records.c.body)
            .where(is_visible_to_viewer(viewer, records.c.visibility))
            .order_by(records.c.incident_id)
        )
        if recallable_only:
            asked = asked.where(records.c.recallable)
        return tuple(read_record_json(body) for body in await self._read_all(asked))

    async def stream_records(self, viewer: Viewer) -> AsyncIterator[Incident]:
        """See the port."""
        asked = sa.select(records.c.body).where(is_visible_to_viewer(viewer, records.c.visibility))
        asked, last = asked.order_by(records.c.incident_id).limit(PAGE), ""
        while page := await self._read_all(asked.where(records.c.incident_id > last)):
            for body in page:
                record = read_record_json(body)
                last = record.incident_id
                yield record

    async def read_lifecycle(self, incident_id: str) -> Lifecycle:
        """See the port."""
        body = await self._read_first(sa.select(lives.c.body).where(lives.c.incident_id == incident_id))
        if body is None:
            raise IncidentNotFound(f"There is no incident {incident_id} that you may see.")
        return read_lifecycle_json(body)

    async def find_latest_lifecycle(self, fingerprint: str, visibility: str) -> Lifecycle | None:
        """See the port."""
        body = await self._read_first(
            sa.select(lives.c.body)
            .where(lives.c.fingerprint == fingerprint, lives.c.visibility == visibility)
            .order_by(lives.c.opened_at.desc(), lives.c.incident_id.desc())
            .limit(1)
        )
        return None if body is None else read_lifecycle_json(body)

    async def list_lifecycles(self, since: datetime, until: datetime, viewer: Viewer) -> tuple[Lifecycle, ...]:
        """See the port."""
        asked = (
            sa.select(lives.c.body)
            .where(
                lives.c.opened_at >= since, lives.c.opened_at < until, is_visible_to_viewer(viewer, lives.c.visibility)
            )
            .order_by(lives.c.opened_at, lives.c.incident_id)
        )
        return tuple(read_lifecycle_json(body) for body in await self._read_all(asked))

    async def list_open_lifecycles(self, viewer: Viewer) -> tuple[Lifecycle, ...]:
        """See the port."""
        asked = (
            sa.select(lives.c.body)
            .where(lives.c.state.in_(UNFINISHED), is_visible_to_viewer(viewer, lives.c.visibility))
            .order_by(lives.c.opened_at.desc(), lives.c.incident_id.desc())
            .limit(OPEN_AT_MOST)
        )
        return tuple(read_lifecycle_json(body) for body in await self._read_all(asked))

    async def read_alert_history(
        self, fingerprint: str, visibility: str, now: datetime, days: int, but: str | None
    ) -> AlertHistory:
        """See the port. An incident may have begun long before the days asked for, hence twice as many days are read."""
        asked = sa.select(lives.c.body).where(
            lives.c.fingerprint == fingerprint,
            lives.c.visibility == visibility,
            lives.c.opened_at >= now - timedelta(days=2 * days),
            lives.c.opened_at < now,
        )
        return count_history([read_lifecycle_json(body) for body in await self._read_all(asked)], now, days, but)

    async def find_related(self, notice: Notification, *, known: str | None = None) -> RelatedIncidents:
        """See the port."""
        async with self.database.read() as connection:
            bodies = (await connection.execute(_select_neighbors(notice, known))).scalars()
            found = {life.incident_id: life for life in map(read_lifecycle_json, bodies)}
            theirs = sa.select(notices.c.body).where(notices.c.incident_id.in_(list(found)))
            told = [
                *(await connection.execute(theirs)).scalars(),
                *(await connection.execute(_select_unassigned(notice))).scalars(),
            ]
        ordered = sorted(found.values(), key=lambda life: (life.opened_at, life.incident_id))
        return RelatedIncidents(tuple(ordered), tuple(read_notification_json(body) for body in told))

    async def list_briefs(self, incident_id: str) -> tuple[PostedBrief, ...]:
        """See the port."""
        asked = (
            sa.select(briefs, outbox.c.result, outbox.c.place)
            .outerjoin(outbox, outbox.c.delivery_id == briefs.c.delivery_id)
            .where(briefs.c.incident_id == incident_id)
            .order_by(briefs.c.first_at, briefs.c.channel)
        )
        async with self.database.read() as connection:
            return tuple(_read_brief(row) for row in (await connection.execute(asked)).mappings())

    async def find_incident(self, channel: str, ts: str) -> str | None:
        """See the port."""
        post = sa.select(seen_posts.c.incident_id).where(seen_posts.c.channel == channel, seen_posts.c.ts == ts)
        root = sa.select(briefs.c.incident_id).where(briefs.c.channel == channel, briefs.c.root_ts == ts)
        delivered = (
            sa.select(briefs.c.incident_id)
            .join(outbox, outbox.c.delivery_id == briefs.c.delivery_id)
            .where(outbox.c.result == ts, sa.func.coalesce(outbox.c.place, briefs.c.channel) == channel)
        )
        async with self.database.read() as connection:
            for asked in (post, delivered, root.order_by(briefs.c.first_at.desc()).limit(1)):
                found: str | None = (await connection.execute(asked)).scalars().first()
                if found:
                    return found
        return None

    async def count_posts(self, since: datetime) -> Mapping[str, int]:
        """See the port. Deliveries about an incident have a key that ends with its id."""
        asked = (
            sa.select(outbox.c.key, sa.func.count())
            .where(outbox.c.destination == "slack", outbox.c.operation.in_(POSTS), outbox.c.state == "sent")
            .where(outbox.c.owed_at >= since)
            .group_by(outbox.c.key)
        )
        async with self.database.read() as connection:
            rows = (await connection.execute(asked)).all()
        counts: Counter[str] = Counter()
        for key, count in rows:
            counts[str(key).rpartition("/")[2]] += int(count)
        return counts

    async def find_briefs_naming(self, incident_id: str, since: datetime | None = None) -> tuple[PostedBrief, ...]:
        """See the port."""
        asked = select_briefs_naming(incident_id).add_columns(outbox.c.result, outbox.c.place)
        asked = asked.outerjoin(outbox, outbox.c.delivery_id == briefs.c.delivery_id)
        if since is not None:
            asked = asked.outerjoin(lives, lives.c.incident_id == briefs.c.incident_id)
            asked = asked.where(sa.or_(briefs.c.first_at >= since, lives.c.state.in_(UNFINISHED)))
        async with self.database.read() as connection:
            rows = (await connection.execute(asked.order_by(briefs.c.incident_id, briefs.c.channel))).mappings().all()
        return tuple(_read_brief(row) for row in rows if names_incident(row["body"], incident_id))

    async def list_brief_channels(self, since: datetime) -> tuple[str, ...]:
        """See the port."""
        asked = sa.select(briefs.c.channel).where(briefs.c.first_at >= since).distinct().order_by(briefs.c.channel)
        return tuple(await self._read_all(asked))

    async def _read_first(self, asked: sa.Select[Any]) -> str | None:
        async with self.database.read() as connection:
            found: str | None = (await connection.execute(asked)).scalars().first()
        return found

    async def _read_all(self, asked: sa.Select[Any]) -> list[str]:
        async with self.database.read() as connection:
            return list((await connection.execute(asked)).scalars())


def _select_neighbors(notice: Notification, known: str | None) -> sa.Select[Any]:
    """Select the last incident that its alert had opened by then, the first one after, and the known one."""
    same = sa.and_(lives.c.fingerprint == notice.fingerprint, lives.c.visibility == notice.visibility)
    ids = sa.select(lives.c.incident_id).where(same)
    last = lives.c.opened_at.desc(), lives.c.incident_id.desc()
    before = ids.where(lives.c.opened_at <= notice.at).order_by(*last).limit(1)
    after = ids.where(lives.c.opened_at > notice.at).order_by(lives.c.opened_at, lives.c.incident_id).limit(1)
    wanted = [lives.c.incident_id.in_(before.scalar_subquery()), lives.c.incident_id.in_(after.scalar_subquery())]
    return sa.select(lives.c.body).where(sa.or_(*wanted, lives.c.incident_id == (known or "")))


def _select_unassigned(notice: Notification) -> sa.Select[Any]:
    """Select the notifications of no incident that may belong to the same as this one: by fingerprint, or by the post
    they speak of."""
    alike = sa.and_(notices.c.fingerprint == notice.fingerprint, notices.c.visibility == notice.visibility)
    posts = {notice.ts, notice.root_ts} - {""}
    same_post = sa.and_(
        notices.c.channel == notice.channel, sa.or_(notices.c.root_ts.in_(posts), notices.c.ts.in_(posts))
    )
    asked = sa.select(notices.c.body).where(notices.c.incident_id.is_(None), sa.or_(alike, same_post))
    return asked.order_by(notices.c.at.desc()).limit(EARLY_AT_MOST)


def _read_brief(row: sa.RowMapping) -> PostedBrief:
    return PostedBrief(
        incident_id=row["incident_id"],
        channel=row["channel"],
        root_ts=row["root_ts"],
        delivery_id=row["delivery_id"],
        brief=read_brief_json(row["body"]),
        message_ts=row["result"],
        shadow=row["place"],
    )
