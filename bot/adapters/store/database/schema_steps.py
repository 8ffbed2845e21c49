"""Runs the missing steps of the schema with Alembic. Must not decide whether any is missing; that is `schema`.

Imported by name when the schema changes, which is once per version: Alembic takes longer to import than the check
takes.
"""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config


def run_steps(connection: sa.Connection, migrations: Path) -> None:
    """Apply the steps of this folder that the database lacks, inside the open transaction."""
    config = Config()
    config.set_main_option("script_location", str(migrations).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
