"""`precedent migrate`: give the database the tables of this version."""

from __future__ import annotations

import sys

import typer

from bot.adapters.store import migrate as migrate_store
from bot.cli.run import read_settings, run


def register(app: typer.Typer) -> None:
    """Add this command."""
    app.command("migrate")(migrate)


def migrate() -> None:
    """Bring the database up to date (needed for PostgreSQL; SQLite does it by itself)."""
    run(migrate_store(read_settings().store_url))
    sys.stderr.write("The database is up to date.\n")
