"""The tables of channels' past, for both databases."""

from __future__ import annotations

import sqlalchemy as sa

from bot.adapters.store.database.tables import UtcTime, metadata

backfills = sa.Table(
    "backfills",
    metadata,
    sa.Column("channel", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("at", UtcTime, nullable=False),
)

talks = sa.Table(
    "talks",
    metadata,
    sa.Column("channel", sa.Text, primary_key=True),
    sa.Column("ts", sa.Text, primary_key=True),
    sa.Column("people", sa.Integer, nullable=False),
    sa.Column("messages", sa.Integer, nullable=False),
)

# Where posts stood whose incident was purged: they may still be in Slack, and are not to be read back.
purged_posts = sa.Table(
    "purged_posts",
    metadata,
    sa.Column("channel", sa.Text, primary_key=True),
    sa.Column("ts", sa.Text, primary_key=True),
)
