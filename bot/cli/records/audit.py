"""`precedent audit export`: the log of who changed what, when."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, TextIO

import typer

from bot.bootstrap.system import RandomIds, SystemClock
from bot.bootstrap.wiring.memory import open_memory
from bot.cli.run import USAGE, fail, read_settings, run
from bot.domain.brief.as_json import format_time
from bot.domain.recall.question import read_since
from bot.ports.audit import AuditEntry
from bot.ports.errors import RecordRejected, require_readable


def register(app: typer.Typer) -> None:
    """Add this command."""
    audit = typer.Typer(no_args_is_help=True, help="Who changed what, when, and what it said before and after.")
    audit.command("export")(export)
    app.add_typer(audit, name="audit")


def export(
    since: Annotated[str | None, typer.Option(help="30d, 12h, 2w or a date such as 2026-01-31; default: all")] = None,
) -> None:
    """Write the audit log as JSON Lines on standard output, oldest first."""
    try:
        begin = require_readable(read_since(since, SystemClock().now())) if since is not None else None
    except RecordRejected as refused:
        fail(f"--since: {refused.reason}.", USAGE)
    run(_export(begin, sys.stdout))


async def _export(since: datetime | None, out: TextIO) -> None:
    async with open_memory(read_settings(), SystemClock(), RandomIds()) as memory:
        async for line in memory.store.audit_log.stream_lines(since):
            out.write(json.dumps(build_audit_json(line), ensure_ascii=False) + "\n")


def build_audit_json(line: AuditEntry) -> dict[str, object]:
    """Return an audit line as JSON values."""
    return asdict(line) | {"at": format_time(line.at)}
