"""Every notice of an alert's life, and edits that are paced. Must not be changed once released."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def _create_notices() -> None:
    op.create_table(
        "notices",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("incident_id", sa.Text(), nullable=True),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("visibility", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("ts", sa.Text(), nullable=False),
        sa.Column("root_ts", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_notices")),
    )
    op.create_index("ix_notices_incident_id", "notices", ["incident_id"], unique=False)
    op.create_index(
        "ix_notices_fingerprint_visibility_at", "notices", ["fingerprint", "visibility", "at"], unique=False
    )
    op.create_index("ix_notices_channel_root_ts", "notices", ["channel", "root_ts"], unique=False)
    op.create_index("ix_notices_at", "notices", ["at"], unique=False)


def upgrade() -> None:
    """Add what this version keeps."""
    _create_notices()
    op.add_column("outbox", sa.Column("every_s", sa.Float(), server_default="0", nullable=False))


def downgrade() -> None:
    """Drop what this version added."""
    op.drop_column("outbox", "every_s")
    op.drop_table("notices")
