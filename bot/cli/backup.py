"""`precedent backup` and `restore`. The store is not opened: what is copied stays as it is."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from bot.adapters import store
from bot.bootstrap.system import SystemClock
from bot.cli.run import print_json, read_settings, run


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command("backup")(backup)
    app.command("restore")(restore)


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where the copy goes")],
    force: Annotated[bool, typer.Option("--force", help="Replace FILE if it is there")] = False,
) -> None:
    """Copy the SQLite database while the bot runs, and read the copy back. PostgreSQL: says how. Exit 1 if refused."""
    held = run(store.backup(read_settings().store_url, file, overwrite=force))
    print_json({"backup": str(file), **asdict(held)})


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `precedent backup` made")],
    force: Annotated[bool, typer.Option("--force", help="Replace a database that is there; it is kept beside")] = False,
) -> None:
    """Put a backup in the place of the SQLite database. Refused while a bot has that open, and for a newer version's."""
    url = read_settings().store_url
    done = run(store.restore(url, file, SystemClock().now(), replace=force))
    print_json(
        {
            "restored": str(file),
            **asdict(done.held),
            "kept": str(done.kept) if done.kept else None,
            "upgraded_at_next_start": done.upgrades,
        }
    )
