"""What persons said of precedents and fixes. Must not be changed once released."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def _texts(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text(), nullable=False) for name in names]


def _number() -> sa.Column[int]:
    return sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False)


def _create_set_aside() -> None:
    op.create_table(
        "set_aside",
        _number(),
        *_texts("incident_id", "fingerprint"),
        sa.Column("title", sa.Text(), nullable=True),
        sa.Column("service", sa.Text(), nullable=True),
        *_texts("why", "note"),
        sa.Column("pinned_off", sa.Boolean(), nullable=False),
        *_texts("by"),
        sa.Column("at", sa.DateTime(), nullable=False),
        *_texts("about", "channel", "visibility"),
        sa.Column("undone_at", sa.DateTime(), nullable=True),
        sa.Column("undone_by", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_set_aside")),
        sqlite_autoincrement=True,
    )
    for column in ("fingerprint", "service", "channel"):
        op.create_index(f"ix_set_aside_{column}", "set_aside", [column], unique=False)


def upgrade() -> None:
    """Create the tables of what was said."""
    _create_set_aside()
    op.create_table(
        "fixes_said",
        _number(),
        sa.Column("same", sa.Boolean(), nullable=False),
        *_texts("one", "other", "one_incident", "other_incident", "by"),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("undone_at", sa.DateTime(), nullable=True),
        sa.Column("undone_by", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_fixes_said")),
        sqlite_autoincrement=True,
    )


def downgrade() -> None:
    """Nothing goes back: what was said would be lost."""
    raise NotImplementedError
