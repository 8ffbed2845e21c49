"""What was read of channels' past. Must not be changed once released."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables of how far each channel was read, of how much people wrote in its threads, and of what is not to be
    read back."""
    op.create_table(
        "backfills",
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("channel", name=op.f("pk_backfills")),
    )
    op.create_table(
        "talks",
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("ts", sa.Text(), nullable=False),
        sa.Column("people", sa.Integer(), nullable=False),
        sa.Column("messages", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("channel", "ts", name=op.f("pk_talks")),
    )
    op.create_table(
        "purged_posts",
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("ts", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("channel", "ts", name=op.f("pk_purged_posts")),
    )


def downgrade() -> None:
    """Nothing goes back: an older version does not know them."""
    raise NotImplementedError
