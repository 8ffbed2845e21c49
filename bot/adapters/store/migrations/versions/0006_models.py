"""Models: what was sent to them about which incident, and each day's tokens. Must not be changed once released."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables of what models were asked."""
    op.create_table(
        "model_sent",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("incident_id", sa.Text(), nullable=False),
        sa.Column("visibility", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("tokens", sa.BigInteger(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_model_sent")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_model_sent_incident_id", "model_sent", ["incident_id"], unique=False)
    op.create_index("ix_model_sent_at", "model_sent", ["at"], unique=False)
    op.create_table(
        "model_days",
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("tokens", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("day", name=op.f("pk_model_days")),
    )


def downgrade() -> None:
    """Nothing goes back: an older version does not know that models were asked."""
    raise NotImplementedError
