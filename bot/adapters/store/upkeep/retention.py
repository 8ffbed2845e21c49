"""The Retention port: deletes in portions, so that nobody waits long for the write lock. Must not touch undelivered
rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from bot.adapters.store.database.channel_tables import mutes, rules, silenced
from bot.adapters.store.database.connection import Database
from bot.adapters.store.database.feedback_tables import fixes_said, set_aside
from bot.adapters.store.database.model_tables import model_days, model_sent
from bot.adapters.store.database.tables import audit, briefs, deploys, inbox, lives, notices, once, outbox
from bot.adapters.store.records.incidents import UNFINISHED
from bot.ports.upkeep.retention import DeletedCounts

PORTION = 500


@dataclass(frozen=True, slots=True)
class SqlRetention:
    """The Retention port on SQLAlchemy."""

    database: Database

    async def delete_expired(
        self,
        *,
        before: datetime,
        audit_before: datetime,
        notices_before: datetime | None = None,
        sent_before: datetime | None = None,
    ) -> DeletedCounts:
        """See the port."""
        sent = sa.and_(outbox.c.state == "sent", outbox.c.settled_at < before)
        # a brief is found and edited by what posting it gave, so that stays; what it said need not
        of_brief = sa.exists().where(briefs.c.delivery_id == outbox.c.delivery_id)
        emptied = sa.and_(sent, of_brief, outbox.c.payload != "{}")
        await self._delete_in_portions(
            outbox.c.id, emptied, lambda ids: sa.update(outbox).values(payload="{}").where(ids)
        )
        dead = sa.and_(inbox.c.state == "dead", inbox.c.received_at < before)
        return DeletedCounts(
            sent=await self._delete(outbox.c.id, sa.and_(sent, sa.not_(of_brief))),
            once=await self._delete(once.c.key, once.c.at < before),
            dead_events=await self._delete(inbox.c.id, dead),
            audit=await self._delete(audit.c.id, audit.c.at < audit_before),
            early=await self._delete(notices.c.key, sa.and_(notices.c.incident_id.is_(None), notices.c.at < before)),
            silences=await self._delete_silences(before),
            notices=await self._delete_notifications(notices_before) if notices_before else 0,
            model_sent=await self._delete_exchanges(sent_before) if sent_before else 0,
            deploys=await self._delete(deploys.c.key, deploys.c.at < before),
        )

    async def _delete_silences(self, before: datetime) -> int:
        """Delete rules, mutes and judgements that ended, and the counts of what they silenced."""
        ended = sa.or_(mutes.c.undone_at < before, mutes.c.until < before)
        gone = await self._delete(mutes.c.number, ended)
        for table in (rules, set_aside, fixes_said):
            gone += await self._delete(table.c.number, table.c.undone_at < before)
        for kind, table in (("mute", mutes), ("rule", rules)):
            held = sa.exists().where(table.c.number == silenced.c.number)
            await self._delete_in_portions(
                silenced.c.number,
                sa.and_(silenced.c.kind == kind, sa.not_(held)),
                lambda old: sa.delete(silenced).where(old),
            )
        return gone

    async def _delete_notifications(self, before: datetime) -> int:
        """Delete notifications of ended incidents; an open incident is reconstructed from its notifications."""
        open_now = sa.exists().where(lives.c.incident_id == notices.c.incident_id, lives.c.state.in_(UNFINISHED))
        old = sa.and_(notices.c.at < before, notices.c.incident_id.is_not(None), sa.not_(open_now))
        return await self._delete(notices.c.key, old)

    async def _delete_exchanges(self, before: datetime) -> int:
        """Delete what models were sent, and the token counts of days that are over."""
        await self._delete(model_days.c.day, model_days.c.day < before.date())
        return await self._delete(model_sent.c.number, model_sent.c.at < before)

    async def _delete(self, key: sa.Column[Any], old: sa.ColumnElement[bool]) -> int:
        return await self._delete_in_portions(key, old, lambda ids: sa.delete(key.table).where(ids))

    async def _delete_in_portions(self, key: sa.Column[Any], old: sa.ColumnElement[bool], change: Any) -> int:
        done = 0
        while True:
            async with self.database.write() as connection:
                found: Sequence[Any] = (
                    (await connection.execute(sa.select(key).where(old).limit(PORTION))).scalars().all()
                )
                if found:
                    done += (await connection.execute(change(sa.and_(key.in_(found), old)))).rowcount
            if len(found) < PORTION:
                return done
