"""What is agreed in channels: settings, pools, sources, rules, mutes. Must not be changed once released."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def _number() -> sa.Column[int]:
    kind = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    return sa.Column("number", kind, autoincrement=True, nullable=False)


def _texts(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text(), nullable=False) for name in names]


def _build_undo_columns() -> tuple[sa.Column[object], ...]:
    return sa.Column("undone_at", sa.DateTime(), nullable=True), sa.Column("undone_by", sa.Text(), nullable=True)


def _create_channels() -> None:
    op.create_table(
        "channel_settings",
        *_texts("channel", "body"),
        sa.Column("updated_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("channel", name=op.f("pk_channel_settings")),
    )
    op.create_table(
        "channel_pools",
        *_texts("channel", "other"),
        sa.PrimaryKeyConstraint("channel", "other", name=op.f("pk_channel_pools")),
    )
    op.create_table(
        "channel_sources",
        *_texts("channel", "fingerprint", "source", "tool"),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("channel", "fingerprint", "source", name=op.f("pk_channel_sources")),
    )


def _create_rules() -> None:
    op.create_table(
        "rules",
        _number(),
        *_texts("channel", "source", "tool", "title", "reach", "by"),
        sa.Column("at", sa.DateTime(), nullable=False),
        *_texts("incident_id"),
        *_build_undo_columns(),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_rules")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_rules_channel", "rules", ["channel"], unique=False)


def _create_mutes() -> None:
    op.create_table(
        "mutes",
        _number(),
        *_texts("channel", "what", "value", "shown"),
        sa.Column("until", sa.DateTime(), nullable=False),
        *_texts("reason", "by"),
        sa.Column("at", sa.DateTime(), nullable=False),
        *_texts("incident_id"),
        *_build_undo_columns(),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_mutes")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_mutes_channel_until", "mutes", ["channel", "until"], unique=False)


def _create_silenced() -> None:
    op.create_table(
        "silenced",
        *_texts("kind"),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("event", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("kind", "number", "event", name=op.f("pk_silenced")),
    )


def upgrade() -> None:
    """Create the tables of channels."""
    _create_channels()
    _create_rules()
    _create_mutes()
    _create_silenced()


def downgrade() -> None:
    """Nothing goes back: an older version does not know what people agreed."""
    raise NotImplementedError
