"""`precedent import`: incident histories in any form that `bot.records.importers` reads. `--dry-run` prints a table."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress

from bot.adapters.store.index.vectors import BATCH
from bot.bootstrap.system import RandomIds, SystemClock
from bot.bootstrap.wiring.memory import Memory, open_memory
from bot.cli.run import REFUSED, USAGE, fail, print_json, read_input, read_settings, run
from bot.domain.incidents.record import Incident
from bot.domain.text.format import cut, fit_one_line, format_count
from bot.observability import escape_terminal_text
from bot.ports.errors import RecordRejected
from bot.records.importers.column_names import FIELDS, IGNORED
from bot.records.importers.csv import CsvTable, find_unknown_fields
from bot.records.importers.detect import (
    JSON_NAMES,
    MARKDOWN_NAMES,
    TABLE_NAMES,
    FileReading,
    read_file,
    read_mapping,
    write_mapping,
)
from bot.records.importers.entries import ImportForm
from bot.workflows.resolutions.transfer import ImportProgress, ImportRecords, RefusedLine, read_entries

IN_FOLDERS = (*MARKDOWN_NAMES, *TABLE_NAMES, *JSON_NAMES)
_NONE = "—"


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file to import."""

    # as the person wrote it
    name: str
    # its name below the folder that was given
    below: str
    text: str


def register(app: typer.Typer) -> None:
    """Add this family's command."""
    app.command("import")(import_records)


def import_records(
    files: Annotated[list[str], typer.Argument(help="Files or folders; - is standard input")],
    form: Annotated[
        ImportForm | None, typer.Option("--format", help="The form of the files, where it is not recognised")
    ] = None,
    maps: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="COLUMN=FIELD", help="What a column of a CSV is; may be repeated"),
    ] = None,
    mapping: Annotated[
        str | None,
        typer.Option("--mapping", metavar="FILE", help="Keep what columns are in this file, or take it from there"),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what was understood and what not; store nothing")
    ] = False,
    no_embed: Annotated[
        bool, typer.Option("--no-embed", help="Leave embeddings to the running bot, or to the next import")
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Take records, too, that were retracted or purged here")
    ] = False,
) -> None:
    """Take incident records into memory: JSON Lines, CSV, Markdown post-mortems, PagerDuty, Opsgenie, Jira, incident.io."""
    sources = [source for name in files for source in _iterate_files(name)]
    columns = _read_columns(maps or [], mapping)
    readings = _read_files(sources, form, columns, asking="-" not in files and sys.stdin.isatty())
    if mapping and columns:
        _keep_mapping(mapping, columns)
    if dry_run:
        raise typer.Exit(REFUSED if _print_dry_run(sources, readings) else 0)
    done = run(_import(sources, readings, embed=not no_embed, again=again))
    for refusal in done.refused:
        sys.stderr.write(escape_terminal_text(f"{_format_place(refusal)}: {refusal.reason}") + "\n")
    for incident_id in done.forgotten:
        sys.stderr.write(
            f"{_format_cell(incident_id, 60)} was retracted or purged here, so it was not taken; --again takes it.\n"
        )
    if done.read and not (done.added or done.replaced or done.refused or done.forgotten):
        sys.stderr.write("Nothing changed: all of these records are in memory already.\n")
    refused = [{"file": r.file, "line": r.line, "field": r.field, "reason": r.reason} for r in done.refused]
    told = {"read": done.read, "added": done.added, "replaced": done.replaced, "unchanged": done.unchanged}
    print_json(told | {"refused": refused, "forgotten": done.forgotten})
    if done.refused or done.forgotten:
        raise typer.Exit(REFUSED)


def _format_place(refusal: RefusedLine) -> str:
    return f"{refusal.file}:{refusal.line}" + (f": {refusal.field}" if refusal.field else "")


def _iterate_files(name: str) -> Iterator[InputFile]:
    folder = Path(name)
    if name == "-" or not folder.is_dir():
        yield InputFile(name, folder.name, read_input(name))
        return
    found = sorted(p for p in folder.rglob("*") if p.suffix.casefold() in IN_FOLDERS and p.is_file())
    if not found:
        fail(f"{name} holds no file that ends in one of {' '.join(IN_FOLDERS)}.", USAGE)
    for path in found:
        yield InputFile(str(path), path.relative_to(folder).as_posix(), read_input(str(path)))


def _read_columns(maps: list[str], mapping: str | None) -> dict[str, str]:
    """Return the columns of the mapping file and of the options; the options take precedence."""
    columns: dict[str, str] = {}
    if mapping and Path(mapping).exists():
        try:
            columns = read_mapping(read_input(mapping))
        except RecordRejected as bad:
            fail(f"{mapping} {bad}.", USAGE)
    for said in maps:
        column, _, field = said.rpartition("=")
        if not column.strip():
            fail(f"--map {said} should be COLUMN=FIELD, such as --map Opened=started_at.", USAGE)
        columns[column.strip()] = field.strip()
    if unknown := find_unknown_fields(columns):
        fail(f"{', '.join(unknown)}: no such field; fields are {', '.join(FIELDS)}, and {IGNORED} for none.", USAGE)
    return columns


def _read_files(
    sources: list[InputFile], form: ImportForm | None, columns: dict[str, str], *, asking: bool
) -> list[FileReading]:
    """Detect how to read each file. If a table does not show which column is the title, ask once for all files."""
    readings = []
    for source in sources:
        reading = read_file(source.below, source.text, form, columns)
        if reading.table and reading.table.asks:
            if not asking:
                fail(escape_terminal_text(_format_column_choice(source.name, reading.table)), USAGE)
            columns |= _ask_columns(source.name, reading.table)
            reading = read_file(source.below, source.text, form, columns)
        readings.append(reading)
    return readings


def _format_column_choice(name: str, table: CsvTable) -> str:
    columns = ", ".join(cut(h, 60) for h in table.headings if h)
    example = cut(next((h for h in table.unread), "Name"), 60)
    return (
        f'{name}: none of its columns is known to be the title. They are: {columns}. Say which is, with --map "{example}=title"'
        f" (and others likewise; fields: {', '.join(FIELDS)}); --mapping FILE keeps it for the next time."
    )


def _ask_columns(name: str, table: CsvTable) -> dict[str, str]:
    """Ask what each unrecognized column is."""
    fields = ", ".join(FIELDS)
    typer.echo(f"{name}: which field is each of these columns? Enter alone for none. Fields: {fields}", err=True)
    said: dict[str, str] = {}
    while "title" not in said.values():
        for heading in table.unread:
            answer = typer.prompt(escape_terminal_text(heading), default="", show_default=False, err=True).strip()
            while answer and answer not in {*FIELDS, IGNORED}:
                answer = typer.prompt(
                    f"{escape_terminal_text(heading)} (one of the fields)", default="", show_default=False, err=True
                ).strip()
            said |= {heading: answer} if answer else {}
        if "title" not in said.values():
            typer.echo("One column must be the title.", err=True)
    return said


def _keep_mapping(mapping: str, columns: dict[str, str]) -> None:
    try:
        Path(mapping).write_text(write_mapping(columns), encoding="utf-8")
    except OSError as problem:
        fail(f"{mapping} cannot be written: {problem.strerror}.", USAGE)


def _print_dry_run(sources: list[InputFile], readings: list[FileReading]) -> int:
    """Print what was understood of each file and record. Return how many records were refused."""
    refused = 0
    for source, reading in zip(sources, readings, strict=True):
        entries = list(reading.entries)
        taken = list(read_entries(source.name, entries))
        forms = ", ".join(sorted({entry.form.value for entry in entries})) or reading.form.value
        records = [found for found in taken if isinstance(found, Incident)]
        typer.echo(
            f"{source.name} ({forms}): {format_count(len(records), 'record')}, {len(taken) - len(records)} refused"
        )
        for line in _format_columns(reading.table) if reading.table else ():
            typer.echo(f"  {escape_terminal_text(line)}")
        for line in _align([format_row(found) for found in taken]):
            typer.echo(f"  {escape_terminal_text(line)}")
        refused += len(taken) - len(records)
    typer.echo("Nothing was stored.")
    return refused


def _format_columns(table: CsvTable) -> Iterator[str]:
    taken = [f"{table.headings[place]} → {field}" for place, field in sorted(table.fields.items()) if field != IGNORED]
    yield f"columns: {'; '.join(taken)}"
    if table.unread:
        yield f"columns left out: {'; '.join(table.unread)}"


HEADINGS = ("id", "date", "service", "attempts", "root cause", "title")


def _format_cell(text: str, limit: int) -> str:
    return fit_one_line(escape_terminal_text(text), limit)


def format_row(found: Incident | RefusedLine) -> tuple[str, ...]:
    """Return one row of the dry-run table: its cells, or why there is no record."""
    if isinstance(found, RefusedLine):
        return ("", f"line {found.line} refused: " + (f"{found.field}: " if found.field else "") + found.reason)
    when = found.happened_at
    attempts = ", ".join(a.status.value.lower() for a in found.attempts[:3]) + (" …" if len(found.attempts) > 3 else "")
    kept = f"(kept as text: {', '.join(found.evidence)})" if found.evidence else ""
    return (
        _format_cell(found.incident_id, 40),
        when.date().isoformat() if when else _NONE,
        _format_cell(found.service or _NONE, 24),
        attempts or _NONE,
        "yes" if found.root_cause else _NONE,
        _format_cell(found.title, 60) + (f" {_format_cell(kept, 120)}" if kept else ""),
    )


def _align(rows: list[tuple[str, ...]]) -> Iterator[str]:
    records = [HEADINGS, *(row for row in rows if len(row) == len(HEADINGS))]
    widths = [max(len(row[place]) for row in records) for place in range(len(HEADINGS))]
    for row in [HEADINGS, *rows] if rows else []:
        if len(row) == len(HEADINGS):
            yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        else:
            yield row[1]


async def _import(sources: list[InputFile], readings: list[FileReading], *, embed: bool, again: bool) -> ImportProgress:
    done = ImportProgress()
    async with open_memory(read_settings(), SystemClock(), RandomIds()) as memory:
        take = ImportRecords(memory.incidents, again=again)
        with _progress(sum(source.text.count("\n") for source in sources)) as show:
            for source, reading in zip(sources, readings, strict=True):
                async for so_far in take.import_found(read_entries(source.name, reading.entries), done):
                    show(so_far.read)
        if embed and memory.store.vectors:
            await _embed(memory, await memory.store.vectors.count_pending())
    return done


async def _embed(memory: Memory, waiting: int) -> None:
    """Compute the vector of every document while the model works; without vectors, words still find them."""
    done = 0
    with _progress(waiting, "Embedding") as show:
        while not await memory.fill_vectors():
            done += BATCH
            show(done)


@contextmanager
def _progress(total: int, what: str = "Importing") -> Iterator[Any]:
    """Show a progress bar on stderr if a person watches."""
    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal, transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda read: bar.update(task, completed=read)
