"""Storms: what opened in which channel, the storms told of in one summary, and until when Slack was heard. Must not be
changed once released."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def _texts(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text(), nullable=False) for name in names]


def _create_openings() -> None:
    op.create_table(
        "openings",
        *_texts("channel", "incident_id"),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        *_texts("storm"),
        sa.Column("has_brief", sa.Boolean(), nullable=False),
        *_texts("body"),
        sa.PrimaryKeyConstraint("channel", "incident_id", name=op.f("pk_openings")),
    )
    op.create_index("ix_openings_channel_at", "openings", ["channel", "at"], unique=False)
    op.create_index("ix_openings_storm", "openings", ["storm"], unique=False)
    op.create_index("ix_openings_at", "openings", ["at"], unique=False)


def _create_storms() -> None:
    op.create_table(
        "storms",
        *_texts("name"),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("watched", sa.Boolean(), nullable=False),
        sa.Column("started_at", sa.DateTime(), nullable=False),
        *_texts("told", "body"),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_storms")),
    )
    op.create_index("ix_storms_watched_started_at", "storms", ["watched", "started_at"], unique=False)


def upgrade() -> None:
    """Create the tables of storms and of what was heard."""
    _create_openings()
    _create_storms()
    op.create_table(
        "heard",
        *_texts("connection"),
        sa.Column("until", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("connection", name=op.f("pk_heard")),
    )


def downgrade() -> None:
    """Nothing goes back: an older version does not know what a summary told of."""
    raise NotImplementedError
