"""The ChannelStore port: settings, pools, rules, mutes and alert sources of channels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

import sqlalchemy as sa
from pydantic import TypeAdapter
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.adapters.store.channels.undoable import UndoableRows, insert_numbered
from bot.adapters.store.commit import AlreadyCommitted, ChangesWriter
from bot.adapters.store.database.channel_tables import (
    channel_pools,
    channel_settings,
    channel_sources,
    mutes,
    rules,
    silenced,
)
from bot.adapters.store.database.connection import Database
from bot.adapters.store.database.statements import ColumnValues, insert_new, insert_new_rows, insert_or_replace, to_json
from bot.domain.alerts.channel_settings import ChannelSettings
from bot.domain.alerts.suppression import ChannelPolicy, Mute, MuteTarget, RuleScope, SilenceRule
from bot.ports.channels import AlertSource
from bot.ports.clock import Clock
from bot.ports.unit_of_work import Changes

_SETTINGS = TypeAdapter(ChannelSettings)
# What makes two rules, or two mutes, the same one.
_SAME_RULE = ("channel", "source", "tool", "title", "reach")
_SAME_MUTE = ("channel", "what", "value")
_RULE, _MUTE = "rule", "mute"


@dataclass(frozen=True, slots=True)
class SqlChannelStore:
    """The ChannelStore port on SQLAlchemy."""

    database: Database
    clock: Clock
    writer: ChangesWriter

    async def read_settings(self, channel: str) -> ChannelSettings:
        """See the port."""
        async with self.database.read() as connection:
            return await _read_settings(connection, channel)

    async def save_settings(
        self, channel: str, settings: ChannelSettings, pool: Sequence[str], changes: Changes
    ) -> None:
        """See the port."""
        now = self.clock.now()
        values = _SETTINGS.dump_python(settings, mode="json")
        body = to_json(values | {"sources": sorted(values["sources"])})
        both = [{"channel": a, "other": b} for other in pool for a, b in ((channel, other), (other, channel))]
        async with self.database.write() as connection:
            row = {"channel": channel, "body": body, "updated_at": now}
            await insert_or_replace(connection, channel_settings, [row])
            ours = sa.or_(channel_pools.c.channel == channel, channel_pools.c.other == channel)
            await connection.execute(sa.delete(channel_pools).where(ours))
            await insert_new_rows(connection, channel_pools, both)
            await self.writer.write(connection, changes, now)

    async def list_pool(self, channel: str) -> tuple[str, ...]:
        """See the port."""
        asked = sa.select(channel_pools.c.other).where(channel_pools.c.channel == channel)
        async with self.database.read() as connection:
            return tuple((await connection.execute(asked.order_by(channel_pools.c.other))).scalars())

    async def read_policy(self, channel: str, at: datetime) -> ChannelPolicy:
        """See the port."""
        # what was posted before the undoing is still silenced, whenever it is worked on
        ours = sa.and_(rules.c.channel == channel, _is_in_force(rules, at))
        held = sa.and_(mutes.c.channel == channel, _is_in_force(mutes, at), mutes.c.until > at)
        async with self.database.read() as connection:
            settings = await _read_settings(connection, channel)
            found_rules = await _select_counted(connection, rules, _RULE, ours)
            found_mutes = await _select_counted(connection, mutes, _MUTE, held)
        return ChannelPolicy(settings, tuple(map(_read_rule, found_rules)), tuple(map(_read_mute, found_mutes)))

    async def add_rule(self, rule: SilenceRule, changes: Changes) -> int:
        """See the port."""
        row = _build_row(rule)
        same = sa.and_(rules.c.undone_at.is_(None), *(rules.c[name] == row[name] for name in _SAME_RULE))
        now = self.clock.now()
        try:
            async with self.database.write() as connection:
                await self.writer.write(connection, changes, now)
                known = (await connection.execute(sa.select(rules.c.number).where(same))).scalars().first()
                return int(known) if known is not None else await insert_numbered(connection, rules, row)
        except AlreadyCommitted:
            return 0

    async def add_mute(self, mute: Mute, changes: Changes) -> int:
        """See the port."""
        row, now = _build_row(mute), self.clock.now()
        same = sa.and_(mutes.c.undone_at.is_(None), *(mutes.c[name] == row[name] for name in _SAME_MUTE))
        ended = {"undone_at": now, "undone_by": mute.by}
        try:
            async with self.database.write() as connection:
                await self.writer.write(connection, changes, now)
                await connection.execute(sa.update(mutes).where(same, mutes.c.until > now).values(**ended))
                return await insert_numbered(connection, mutes, row)
        except AlreadyCommitted:
            return 0

    async def undo_silence(self, silence: SilenceRule | Mute, by: str, changes: Changes) -> bool:
        """See the port."""
        table = rules if isinstance(silence, SilenceRule) else mutes
        row = sa.and_(table.c.number == silence.number, table.c.channel == silence.channel)
        return await UndoableRows(self.database, self.clock, self.writer).end(table, row, by, changes)

    async def count_silenced(self, silence: SilenceRule | Mute, event: int) -> None:
        """See the port."""
        kind = _RULE if isinstance(silence, SilenceRule) else _MUTE
        async with self.database.write() as connection:
            await insert_new(connection, silenced, {"kind": kind, "number": silence.number, "event": event})

    async def note_source(self, channel: str, fingerprint: str, source: AlertSource) -> None:
        """See the port."""
        table = channel_sources
        row = {"channel": channel, "fingerprint": fingerprint, "source": source.source}
        known = sa.select(table.c.tool).where(*(table.c[name] == value for name, value in row.items()))
        async with self.database.read() as connection:
            if (await connection.execute(known)).first() is not None:
                return
        async with self.database.write() as connection:
            await insert_new(connection, table, row | {"tool": source.tool, "at": self.clock.now()})

    async def list_sources(self, channel: str) -> tuple[AlertSource, ...]:
        """See the port."""
        table = channel_sources
        asked = sa.select(table.c.source, table.c.tool).where(table.c.channel == channel).distinct()
        async with self.database.read() as connection:
            found = await connection.execute(asked.order_by(table.c.source, table.c.tool))
            return tuple(AlertSource(source, tool) for source, tool in found)

    async def find_source(self, channel: str, fingerprint: str) -> str | None:
        """See the port."""
        table = channel_sources
        asked = sa.select(table.c.source).where(table.c.channel == channel, table.c.fingerprint == fingerprint)
        async with self.database.read() as connection:
            found: str | None = (await connection.execute(asked.order_by(table.c.at, table.c.source))).scalars().first()
        return found


def _is_in_force(table: sa.Table, at: datetime) -> sa.ColumnElement[bool]:
    return sa.or_(table.c.undone_at.is_(None), table.c.undone_at > at)


async def _read_settings(connection: AsyncConnection, channel: str) -> ChannelSettings:
    asked = sa.select(channel_settings.c.body).where(channel_settings.c.channel == channel)
    body = (await connection.execute(asked)).scalars().first()
    return ChannelSettings() if body is None else _SETTINGS.validate_json(body)


async def _select_counted(
    connection: AsyncConnection, table: sa.Table, kind: str, where: sa.ColumnElement[bool]
) -> Sequence[sa.RowMapping]:
    counted = (
        sa.select(sa.func.count())
        .where(silenced.c.kind == kind, silenced.c.number == table.c.number)
        .scalar_subquery()
        .label("silenced")
    )
    asked = sa.select(table, counted).where(where).order_by(table.c.number)
    return (await connection.execute(asked)).mappings().all()


def _build_row(silence: SilenceRule | Mute) -> ColumnValues:
    return {
        k: str(v) if isinstance(v, RuleScope | MuteTarget) else v for k, v in asdict(silence).items() if k not in _OURS
    }


_OURS = frozenset({"number", "silenced"})
_NOT_THEIRS = frozenset({"undone_at", "undone_by"})


def _read_rule(row: sa.RowMapping) -> SilenceRule:
    values = {k: v for k, v in row.items() if k not in _NOT_THEIRS}
    return SilenceRule(**values | {"reach": RuleScope(row["reach"])})


def _read_mute(row: sa.RowMapping) -> Mute:
    values = {k: v for k, v in row.items() if k not in _NOT_THEIRS}
    return Mute(**values | {"what": MuteTarget(row["what"])})
