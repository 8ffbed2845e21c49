"""Where a message stands that shadow mode keeps out of its own channel. Must not be changed once released."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Three columns of what is owed: the other channel, the delivery in whose thread, and the root of its own thread."""
    for name in ("place", "place_under", "place_root"):
        op.add_column("outbox", sa.Column(name, sa.Text(), nullable=True))


def downgrade() -> None:
    """Nothing goes back: an older version would edit messages in the wrong channel."""
    raise NotImplementedError
