"""Commands of the alerts family. Must not decide anything."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
