"""The tables of the store, for both databases; the index has its own in `index.tables`.

Times are stored as UTC without offset, because SQLite has none; `UtcTime` returns aware values.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Dialect


def _to_naive_utc(self: Any, value: datetime | None, dialect: Dialect) -> datetime | None:
    if value is None:
        return None
    if value.tzinfo is None:
        raise ValueError("a moment without time zone reached the store")
    return value.astimezone(UTC).replace(tzinfo=None)


def _to_aware_utc(self: Any, value: Any | None, dialect: Dialect) -> datetime | None:
    return None if value is None else value.replace(tzinfo=UTC)


class UtcTime(sa.types.TypeDecorator[datetime]):
    """A moment: aware in Python, UTC without offset in the database."""

    impl = sa.DateTime(timezone=False)
    cache_ok = True

    process_bind_param = _to_naive_utc
    process_result_value = _to_aware_utc


metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)
RowId = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

counters = sa.Table(
    "counters",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("value", sa.BigInteger, nullable=False),
)

records = sa.Table(
    "records",
    metadata,
    sa.Column("incident_id", sa.Text, primary_key=True),
    sa.Column("visibility", sa.Text, nullable=False),
    sa.Column("recallable", sa.Boolean(create_constraint=False), nullable=False),
    sa.Column("service", sa.Text),
    sa.Column("vendor", sa.Text),
    sa.Column("region", sa.Text),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("revision", sa.BigInteger, nullable=False),
    sa.Column("updated_at", UtcTime, nullable=False),
    sa.Index("ix_records_revision", "revision"),
)

record_fingerprints = sa.Table(
    "record_fingerprints",
    metadata,
    sa.Column("fingerprint", sa.Text, primary_key=True),
    sa.Column("incident_id", sa.Text, sa.ForeignKey("records.incident_id", ondelete="CASCADE"), primary_key=True),
    sa.Index("ix_record_fingerprints_incident_id", "incident_id"),
)

tombstones = sa.Table(
    "tombstones",
    metadata,
    sa.Column("incident_id", sa.Text, primary_key=True),
    sa.Column("revision", sa.BigInteger, nullable=False),
    sa.Index("ix_tombstones_revision", "revision"),
)

lives = sa.Table(
    "lives",
    metadata,
    sa.Column("incident_id", sa.Text, primary_key=True),
    sa.Column("fingerprint", sa.Text, nullable=False),
    sa.Column("visibility", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("opened_at", UtcTime, nullable=False),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Index("ix_lives_fingerprint_visibility_opened_at", "fingerprint", "visibility", "opened_at"),
    sa.Index("ix_lives_opened_at", "opened_at"),
    sa.Index("ix_lives_state_opened_at", "state", "opened_at"),
)

notices = sa.Table(
    "notices",
    metadata,
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("incident_id", sa.Text),
    sa.Column("fingerprint", sa.Text, nullable=False),
    sa.Column("visibility", sa.Text, nullable=False),
    sa.Column("channel", sa.Text, nullable=False),
    sa.Column("ts", sa.Text, nullable=False),
    sa.Column("root_ts", sa.Text, nullable=False),
    sa.Column("at", UtcTime, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Index("ix_notices_incident_id", "incident_id"),
    sa.Index("ix_notices_fingerprint_visibility_at", "fingerprint", "visibility", "at"),
    sa.Index("ix_notices_channel_root_ts", "channel", "root_ts"),
    sa.Index("ix_notices_at", "at"),
    sa.Index("ix_notices_channel_visibility_at", "channel", "visibility", "at"),
)

briefs = sa.Table(
    "briefs",
    metadata,
    sa.Column("incident_id", sa.Text, primary_key=True),
    sa.Column("channel", sa.Text, primary_key=True),
    sa.Column("root_ts", sa.Text, nullable=False),
    sa.Column("delivery_id", sa.Text, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("first_at", UtcTime, nullable=False),
    sa.Column("updated_at", UtcTime, nullable=False),
    sa.Index("ix_briefs_channel_root_ts", "channel", "root_ts"),
    sa.Index("ix_briefs_delivery_id", "delivery_id"),
    sa.Index("ix_briefs_first_at", "first_at"),
)

seen_posts = sa.Table(
    "seen_posts",
    metadata,
    sa.Column("channel", sa.Text, primary_key=True),
    sa.Column("ts", sa.Text, primary_key=True),
    sa.Column("incident_id", sa.Text, nullable=False),
    sa.Index("ix_seen_posts_incident_id", "incident_id"),
)

inbox = sa.Table(
    "inbox",
    metadata,
    sa.Column("id", RowId, primary_key=True, autoincrement=True),
    sa.Column("event_id", sa.Text, nullable=False, unique=True),
    sa.Column("natural_key", sa.Text, nullable=False, unique=True),
    sa.Column("order_key", sa.Text),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("body", sa.Text),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("due_at", UtcTime, nullable=False),
    sa.Column("lease", sa.Text),
    sa.Column("error", sa.Text),
    sa.Column("received_at", UtcTime, nullable=False),
    sa.Index("ix_inbox_state_due_at", "state", "due_at"),
    sa.Index("ix_inbox_order_key", "order_key", "id"),
    sa.Index("ix_inbox_received_at", "received_at"),
    sqlite_autoincrement=True,
)

outbox = sa.Table(
    "outbox",
    metadata,
    sa.Column("id", RowId, primary_key=True, autoincrement=True),
    sa.Column("destination", sa.Text, nullable=False),
    sa.Column("operation", sa.Text, nullable=False),
    sa.Column("key", sa.Text, nullable=False),
    sa.Column("delivery_id", sa.Text, nullable=False, unique=True),
    sa.Column("payload", sa.Text, nullable=False),
    sa.Column("urgent", sa.Boolean(create_constraint=False), nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("due_at", UtcTime, nullable=False),
    sa.Column("lease", sa.Text),
    sa.Column("uncertain", sa.Boolean(create_constraint=False), nullable=False),
    sa.Column("replaced", sa.Boolean(create_constraint=False), nullable=False),
    sa.Column("every_s", sa.Float, nullable=False, server_default="0"),
    sa.Column("result", sa.Text),
    sa.Column("error", sa.Text),
    sa.Column("owed_at", UtcTime, nullable=False),
    sa.Column("settled_at", UtcTime),
    sa.Column("place", sa.Text),
    sa.Column("place_under", sa.Text),
    sa.Column("place_root", sa.Text),
    sa.Index("ix_outbox_destination_state_due_at", "destination", "state", "due_at"),
    sa.Index("ix_outbox_destination_key_state", "destination", "key", "state"),
    sa.Index("ix_outbox_result", "result"),
    sqlite_autoincrement=True,
)

once = sa.Table(
    "once",
    metadata,
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("at", UtcTime, nullable=False),
)

claims = sa.Table(
    "claims",
    metadata,
    sa.Column("work", sa.Text, primary_key=True),
    sa.Column("channel", sa.Text, primary_key=True),
    sa.Column("period", sa.Date, primary_key=True),
    sa.Column("at", UtcTime, nullable=False),
)

audit = sa.Table(
    "audit",
    metadata,
    sa.Column("id", RowId, primary_key=True, autoincrement=True),
    sa.Column("at", UtcTime, nullable=False),
    sa.Column("actor", sa.Text, nullable=False),
    sa.Column("action", sa.Text, nullable=False),
    sa.Column("object", sa.Text, nullable=False),
    sa.Column("detail", sa.Text, nullable=False),
    sa.Index("ix_audit_object", "object"),
)

openings = sa.Table(
    "openings",
    metadata,
    sa.Column("channel", sa.Text, primary_key=True),
    sa.Column("incident_id", sa.Text, primary_key=True),
    sa.Column("at", UtcTime, nullable=False),
    sa.Column("number", sa.BigInteger, nullable=False),
    sa.Column("storm", sa.Text, nullable=False),
    sa.Column("has_brief", sa.Boolean(create_constraint=False), nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Index("ix_openings_channel_at", "channel", "at"),
    sa.Index("ix_openings_storm", "storm"),
    sa.Index("ix_openings_at", "at"),
)

storms = sa.Table(
    "storms",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("watched", sa.Boolean(create_constraint=False), nullable=False),
    sa.Column("started_at", UtcTime, nullable=False),
    sa.Column("told", sa.Text, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Index("ix_storms_watched_started_at", "watched", "started_at"),
)

heard = sa.Table(
    "heard",
    metadata,
    sa.Column("connection", sa.Text, primary_key=True),
    sa.Column("until", UtcTime, nullable=False),
)

deploys = sa.Table(
    "deploys",
    metadata,
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("service", sa.Text, nullable=False),
    sa.Column("at", UtcTime, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Index("ix_deploys_service_at", "service", "at"),
    sa.Index("ix_deploys_at", "at"),
)
