"""The tables of people's judgements, for both databases."""

from __future__ import annotations

import sqlalchemy as sa

from bot.adapters.store.database.tables import RowId, UtcTime, metadata

set_aside = sa.Table(
    "set_aside",
    metadata,
    sa.Column("number", RowId, primary_key=True, autoincrement=True),
    sa.Column("incident_id", sa.Text, nullable=False),
    sa.Column("fingerprint", sa.Text, nullable=False),
    sa.Column("title", sa.Text),
    sa.Column("service", sa.Text),
    sa.Column("why", sa.Text, nullable=False),
    sa.Column("note", sa.Text, nullable=False),
    sa.Column("pinned_off", sa.Boolean(create_constraint=False), nullable=False),
    sa.Column("by", sa.Text, nullable=False),
    sa.Column("at", UtcTime, nullable=False),
    sa.Column("about", sa.Text, nullable=False),
    sa.Column("channel", sa.Text, nullable=False),
    sa.Column("visibility", sa.Text, nullable=False),
    sa.Column("undone_at", UtcTime),
    sa.Column("undone_by", sa.Text),
    sa.Index("ix_set_aside_fingerprint", "fingerprint"),
    sa.Index("ix_set_aside_service", "service"),
    sa.Index("ix_set_aside_channel", "channel"),
    sqlite_autoincrement=True,
)

fixes_said = sa.Table(
    "fixes_said",
    metadata,
    sa.Column("number", RowId, primary_key=True, autoincrement=True),
    sa.Column("same", sa.Boolean(create_constraint=False), nullable=False),
    sa.Column("one", sa.Text, nullable=False),
    sa.Column("other", sa.Text, nullable=False),
    sa.Column("one_incident", sa.Text, nullable=False),
    sa.Column("other_incident", sa.Text, nullable=False),
    sa.Column("by", sa.Text, nullable=False),
    sa.Column("at", UtcTime, nullable=False),
    sa.Column("undone_at", UtcTime),
    sa.Column("undone_by", sa.Text),
    sqlite_autoincrement=True,
)
