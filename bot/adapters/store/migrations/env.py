"""Runs the steps on the connection that the store hands over. Must not open a connection of its own."""

from __future__ import annotations

from typing import Any

from alembic import context

from bot.adapters.store.database.backfill_tables import backfills
from bot.adapters.store.database.channel_tables import channel_settings
from bot.adapters.store.database.feedback_tables import fixes_said

# All are in one metadata; naming one of each module puts its tables there.
TABLES = (backfills, channel_settings, fixes_said)


def _ours(_object: Any, name: str | None, kind: str, _reflected: bool, _compare_to: Any) -> bool:  # noqa: FBT001  # Alembic's own signature
    """Autogenerate leaves the index alone: its tables are FTS5's or belong to one file only."""
    return not (kind == "table" and name is not None and name.startswith("index_"))


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=TABLES[0].metadata,
    include_object=_ours,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
