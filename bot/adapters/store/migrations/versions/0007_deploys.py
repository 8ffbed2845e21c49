"""Deploys that a pipeline or a deploy post told of. Must not be changed once released."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table of deploys, and the index that tells the last alert of each channel."""
    op.create_table(
        "deploys",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("service", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_deploys")),
    )
    op.create_index("ix_deploys_service_at", "deploys", ["service", "at"], unique=False)
    op.create_index("ix_deploys_at", "deploys", ["at"], unique=False)
    # when alerts were seen last in each channel is asked at every look at the status
    of_channel = ["channel", "visibility", "at"]
    op.create_index("ix_notices_channel_visibility_at", "notices", of_channel, unique=False)


def downgrade() -> None:
    """Nothing goes back: an older version does not know deploys."""
    raise NotImplementedError
