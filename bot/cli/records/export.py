"""`precedent export`: all records as JSON Lines, or one incident as a post-mortem."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, TextIO

import typer

from bot.bootstrap.system import RandomIds, SystemClock
from bot.bootstrap.wiring.memory import open_memory
from bot.cli.run import USAGE, fail, read_settings, run
from bot.domain.reports.postmortem import write_postmortem
from bot.ports.errors import IncidentNotFound
from bot.workflows.resolutions.transfer import ExportRecords


def register(app: typer.Typer) -> None:
    """Add this command."""
    app.command("export")(export)


def export(
    file: Annotated[str, typer.Argument(help="Where to write; - is standard output")] = "-",
    of: Annotated[
        str | None, typer.Option("--postmortem", metavar="INC-7", help="One incident as a post-mortem in Markdown")
    ] = None,
) -> None:
    """Write all records as JSON Lines, in the form that import takes."""
    if of:
        _write(file, run(_postmortem(of)))
        return
    if file == "-":
        run(_export(sys.stdout))
        return
    try:
        with Path(file).open("w", encoding="utf-8") as out:
            count = run(_export(out))
    except OSError as problem:
        fail(f"{file} cannot be written: {problem.strerror}.", USAGE)
    sys.stderr.write(f"{count} records written to {file}.\n")


def _write(file: str, text: str) -> None:
    if file == "-":
        sys.stdout.write(text)
        return
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as problem:
        fail(f"{file} cannot be written: {problem.strerror}.", USAGE)


async def _postmortem(incident_id: str) -> str:
    async with open_memory(read_settings(), SystemClock(), RandomIds()) as memory:
        record = await memory.incidents.read_record(incident_id)
        try:
            life = await memory.incidents.read_lifecycle(incident_id)
        except IncidentNotFound:
            life = None  # imported: no alert of it was seen here
        return write_postmortem(record, life)


async def _export(out: TextIO) -> int:
    count = 0
    async with open_memory(read_settings(), SystemClock(), RandomIds()) as memory:
        async for line in ExportRecords(memory.incidents)():
            out.write(line + "\n")
            count += 1
    return count
