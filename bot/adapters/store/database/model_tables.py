"""The tables of what was sent to models, for both databases."""

from __future__ import annotations

import sqlalchemy as sa

from bot.adapters.store.database.tables import RowId, UtcTime, metadata

model_sent = sa.Table(
    "model_sent",
    metadata,
    sa.Column("number", RowId, primary_key=True, autoincrement=True),
    sa.Column("incident_id", sa.Text, nullable=False),
    sa.Column("visibility", sa.Text, nullable=False),
    sa.Column("at", UtcTime, nullable=False),
    sa.Column("tokens", sa.BigInteger, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Index("ix_model_sent_incident_id", "incident_id"),
    sa.Index("ix_model_sent_at", "at"),
    sqlite_autoincrement=True,
)

model_days = sa.Table(
    "model_days",
    metadata,
    sa.Column("day", sa.Date, primary_key=True),
    sa.Column("tokens", sa.BigInteger, nullable=False),
)
