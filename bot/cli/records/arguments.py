"""Arguments that the commands on a record share."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.cli.run import USAGE, fail

IdArgument = Annotated[str, typer.Argument(metavar="INC-…", help="The record's id")]
ByActorOption = Annotated[str, typer.Option(help="Who does it, for the audit log")]
ReasonOption = Annotated[str, typer.Option(help="Why; the audit log keeps it")]
TextOption = Annotated[str | None, typer.Option(help="The new text; empty removes it")]


def require_reason(reason: str) -> None:
    """Exit with 2 unless there is a reason."""
    if not reason.strip():
        fail('say why with --reason "…": the audit log keeps it.', USAGE)
