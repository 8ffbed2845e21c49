"""The tables of channel settings, rules and mutes, for both databases."""

from __future__ import annotations

import sqlalchemy as sa

from bot.adapters.store.database.tables import RowId, UtcTime, metadata

channel_settings = sa.Table(
    "channel_settings",
    metadata,
    sa.Column("channel", sa.Text, primary_key=True),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("updated_at", UtcTime, nullable=False),
)

channel_pools = sa.Table(
    "channel_pools",
    metadata,
    sa.Column("channel", sa.Text, primary_key=True),
    sa.Column("other", sa.Text, primary_key=True),
)

channel_sources = sa.Table(
    "channel_sources",
    metadata,
    sa.Column("channel", sa.Text, primary_key=True),
    sa.Column("fingerprint", sa.Text, primary_key=True),
    sa.Column("source", sa.Text, primary_key=True),
    sa.Column("tool", sa.Text, nullable=False),
    sa.Column("at", UtcTime, nullable=False),
)

rules = sa.Table(
    "rules",
    metadata,
    sa.Column("number", RowId, primary_key=True, autoincrement=True),
    sa.Column("channel", sa.Text, nullable=False),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("tool", sa.Text, nullable=False),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("reach", sa.Text, nullable=False),
    sa.Column("by", sa.Text, nullable=False),
    sa.Column("at", UtcTime, nullable=False),
    sa.Column("incident_id", sa.Text, nullable=False),
    sa.Column("undone_at", UtcTime),
    sa.Column("undone_by", sa.Text),
    sa.Index("ix_rules_channel", "channel"),
    sqlite_autoincrement=True,
)

mutes = sa.Table(
    "mutes",
    metadata,
    sa.Column("number", RowId, primary_key=True, autoincrement=True),
    sa.Column("channel", sa.Text, nullable=False),
    sa.Column("what", sa.Text, nullable=False),
    sa.Column("value", sa.Text, nullable=False),
    sa.Column("shown", sa.Text, nullable=False),
    sa.Column("until", UtcTime, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("by", sa.Text, nullable=False),
    sa.Column("at", UtcTime, nullable=False),
    sa.Column("incident_id", sa.Text, nullable=False),
    sa.Column("undone_at", UtcTime),
    sa.Column("undone_by", sa.Text),
    sa.Index("ix_mutes_channel_until", "channel", "until"),
    sqlite_autoincrement=True,
)

silenced = sa.Table(
    "silenced",
    metadata,
    sa.Column("kind", sa.Text, primary_key=True),
    sa.Column("number", sa.BigInteger, primary_key=True),
    sa.Column("event", sa.BigInteger, primary_key=True),
)
