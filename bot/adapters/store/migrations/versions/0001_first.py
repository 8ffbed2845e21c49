"""The first schema. Must not be changed once released."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def _create_audit() -> None:
    op.create_table(
        "audit",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("object", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
    )
    op.create_index("ix_audit_object", "audit", ["object"], unique=False)


def _create_briefs() -> None:
    op.create_table(
        "briefs",
        sa.Column("incident_id", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("root_ts", sa.Text(), nullable=False),
        sa.Column("delivery_id", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("first_at", sa.DateTime(), nullable=False),
        sa.Column("updated_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("incident_id", "channel", name=op.f("pk_briefs")),
    )
    op.create_index("ix_briefs_channel_root_ts", "briefs", ["channel", "root_ts"], unique=False)
    op.create_index("ix_briefs_delivery_id", "briefs", ["delivery_id"], unique=False)
    op.create_index("ix_briefs_first_at", "briefs", ["first_at"], unique=False)


def _create_claims() -> None:
    op.create_table(
        "claims",
        sa.Column("work", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("period", sa.Date(), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("work", "channel", "period", name=op.f("pk_claims")),
    )


def _create_counters() -> None:
    op.create_table(
        "counters",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_counters")),
    )


def _create_inbox() -> None:
    op.create_table(
        "inbox",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("event_id", sa.Text(), nullable=False),
        sa.Column("natural_key", sa.Text(), nullable=False),
        sa.Column("order_key", sa.Text(), nullable=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due_at", sa.DateTime(), nullable=False),
        sa.Column("lease", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("received_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_inbox")),
        sa.UniqueConstraint("event_id", name=op.f("uq_inbox_event_id")),
        sa.UniqueConstraint("natural_key", name=op.f("uq_inbox_natural_key")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_inbox_order_key", "inbox", ["order_key", "id"], unique=False)
    op.create_index("ix_inbox_received_at", "inbox", ["received_at"], unique=False)
    op.create_index("ix_inbox_state_due_at", "inbox", ["state", "due_at"], unique=False)


def _create_lives() -> None:
    op.create_table(
        "lives",
        sa.Column("incident_id", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("visibility", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("opened_at", sa.DateTime(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("incident_id", name=op.f("pk_lives")),
    )
    op.create_index(
        "ix_lives_fingerprint_visibility_opened_at", "lives", ["fingerprint", "visibility", "opened_at"], unique=False
    )
    op.create_index("ix_lives_opened_at", "lives", ["opened_at"], unique=False)
    op.create_index("ix_lives_state_opened_at", "lives", ["state", "opened_at"], unique=False)


def _create_once() -> None:
    op.create_table(
        "once",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_once")),
    )


def _create_outbox() -> None:
    op.create_table(
        "outbox",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("destination", sa.Text(), nullable=False),
        sa.Column("operation", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("delivery_id", sa.Text(), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("urgent", sa.Boolean(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due_at", sa.DateTime(), nullable=False),
        sa.Column("lease", sa.Text(), nullable=True),
        sa.Column("uncertain", sa.Boolean(), nullable=False),
        sa.Column("replaced", sa.Boolean(), nullable=False),
        sa.Column("result", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("owed_at", sa.DateTime(), nullable=False),
        sa.Column("settled_at", sa.DateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outbox")),
        sa.UniqueConstraint("delivery_id", name=op.f("uq_outbox_delivery_id")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_outbox_destination_key_state", "outbox", ["destination", "key", "state"], unique=False)
    op.create_index("ix_outbox_destination_state_due_at", "outbox", ["destination", "state", "due_at"], unique=False)
    op.create_index("ix_outbox_result", "outbox", ["result"], unique=False)


def _create_records() -> None:
    op.create_table(
        "records",
        sa.Column("incident_id", sa.Text(), nullable=False),
        sa.Column("visibility", sa.Text(), nullable=False),
        sa.Column("recallable", sa.Boolean(), nullable=False),
        sa.Column("service", sa.Text(), nullable=True),
        sa.Column("vendor", sa.Text(), nullable=True),
        sa.Column("region", sa.Text(), nullable=True),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("incident_id", name=op.f("pk_records")),
    )
    op.create_index("ix_records_revision", "records", ["revision"], unique=False)


def _create_seen_posts() -> None:
    op.create_table(
        "seen_posts",
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("ts", sa.Text(), nullable=False),
        sa.Column("incident_id", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("channel", "ts", name=op.f("pk_seen_posts")),
    )
    op.create_index("ix_seen_posts_incident_id", "seen_posts", ["incident_id"], unique=False)


def _create_tombstones() -> None:
    op.create_table(
        "tombstones",
        sa.Column("incident_id", sa.Text(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("incident_id", name=op.f("pk_tombstones")),
    )
    op.create_index("ix_tombstones_revision", "tombstones", ["revision"], unique=False)


def _create_record_fingerprints() -> None:
    op.create_table(
        "record_fingerprints",
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("incident_id", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["incident_id"],
            ["records.incident_id"],
            name=op.f("fk_record_fingerprints_incident_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("fingerprint", "incident_id", name=op.f("pk_record_fingerprints")),
    )
    op.create_index("ix_record_fingerprints_incident_id", "record_fingerprints", ["incident_id"], unique=False)


def upgrade() -> None:
    """Create all tables."""
    _create_audit()
    _create_briefs()
    _create_claims()
    _create_counters()
    _create_inbox()
    _create_lives()
    _create_once()
    _create_outbox()
    _create_records()
    _create_seen_posts()
    _create_tombstones()
    _create_record_fingerprints()


def downgrade() -> None:
    """There is nothing before the first schema."""
    raise NotImplementedError
