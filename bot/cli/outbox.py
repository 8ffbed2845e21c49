"""`precedent outbox` and `precedent inbox`: what is undelivered, and which events could not be worked off.

Needs no Slack: it is for the time when Slack is what fails.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Annotated, TextIO, TypeVar

import typer

from bot.adapters.store import Store
from bot.bootstrap.system import RandomIds, SystemClock
from bot.bootstrap.wiring.memory import open_memory
from bot.cli.run import REFUSED, USAGE, fail, print_json, read_settings, run
from bot.observability import escape_terminal_text
from bot.ports.delivery.outbox_admin import UNDELIVERED, OutboxRowView, OutboxState, RowResult, UnprocessedEvent
from bot.workflows.delivery.export_undelivered import ExportUndelivered, build_event_json, build_row_json

T = TypeVar("T")
MAX_ROWS = 10_000
IdsArgument = Annotated[list[int] | None, typer.Argument(metavar="[ID]...", help="Numbers as `list` shows them")]
AllDead = Annotated[bool, typer.Option("--all-dead", help="All that were given up")]
ByOption = Annotated[str, typer.Option(help="Who does it, for the audit log")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON")]
Limit = Annotated[int, typer.Option(min=1, max=MAX_ROWS, help="How many at most")]


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    outbox = typer.Typer(no_args_is_help=True, help="What is owed to Slack and to the memory bank.")
    outbox.command("list")(list_rows)
    outbox.command("replay")(replay)
    outbox.command("drop")(drop)
    outbox.command("export")(export)
    inbox = typer.Typer(no_args_is_help=True, help="Events from Slack that could not be worked off.")
    inbox.command("list")(list_events)
    inbox.command("replay")(replay_events)
    app.add_typer(outbox, name="outbox")
    app.add_typer(inbox, name="inbox")


def list_rows(
    state: Annotated[OutboxState | None, typer.Option(help="Only these; default: all that is not sent")] = None,
    limit: Limit = 100,
    as_json: AsJson = False,
) -> None:
    """What is owed, oldest first: waiting, on its way, or given up."""
    states = frozenset({state}) if state else UNDELIVERED
    rows = run(_with_store(lambda store: store.outbox_admin.list_rows(states, limit)))
    if as_json:
        print_json([build_row_json(row) for row in rows])
        return
    for row in rows:
        typer.echo(format_row(row))
    if not rows:
        typer.echo(f"No delivery is {state.value}." if state else "Nothing is owed.", err=True)


def replay(ids: IdsArgument = None, all_dead: AllDead = False, by: ByOption = "operator") -> None:
    """Try again: dead deliveries, or waiting ones at once."""
    _require_choice(ids, all_dead)

    async def work(store: Store) -> tuple[RowResult, ...]:
        if all_dead:
            dead = await store.outbox_admin.list_rows(frozenset({OutboxState.DEAD}), MAX_ROWS)
            return await store.outbox_admin.requeue([row.id for row in dead], by)
        return await store.outbox_admin.requeue(ids or (), by)

    _print_results("replayed", run(_with_store(work)))


def drop(
    ids: Annotated[list[int], typer.Argument(metavar="ID...", help="Numbers as `list` shows them")],
    reason: Annotated[str, typer.Option(help="Why; the audit log keeps it")] = "",
    by: ByOption = "operator",
) -> None:
    """Give deliveries up for good. Needs a reason, which the audit log keeps."""
    if not reason.strip():
        fail(
            'say why with --reason "…": what is dropped is never delivered, and the audit log keeps the reason.', USAGE
        )
    _print_results("dropped", run(_with_store(lambda store: store.outbox_admin.drop(ids, reason, by))))


def export(file: Annotated[str, typer.Argument(help="Where to write; - is standard output")] = "-") -> None:
    """Write all that is owed, and all events not worked off, as JSON Lines with everything they say."""
    if file == "-":
        run(_export(sys.stdout))
        return
    try:
        # messages of private channels are in it
        with os.fdopen(os.open(Path(file), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as out:
            count = run(_export(out))
    except OSError as problem:
        fail(f"{file} cannot be written: {problem.strerror}.", USAGE)
    typer.echo(f"{count} lines written to {file}.", err=True)


async def _export(out: TextIO) -> int:
    async def work(store: Store) -> int:
        count = 0
        async for line in ExportUndelivered(store.outbox_admin, store.inbox_admin, store.incidents)():
            out.write(line + "\n")
            count += 1
        return count

    return await _with_store(work)


def list_events(limit: Limit = 100, as_json: AsJson = False) -> None:
    """Events that were given up, oldest first; after 30 days they are deleted."""
    events = run(_with_store(lambda store: store.inbox_admin.list_dead(limit)))
    if as_json:
        print_json([build_event_json(event) for event in events])
        return
    for event in events:
        typer.echo(format_event(event))
    if not events:
        typer.echo("No event was given up.", err=True)


def replay_events(ids: IdsArgument = None, all_dead: AllDead = False, by: ByOption = "operator") -> None:
    """Work on given-up events again (after an upgrade that mends the reason, for example)."""
    _require_choice(ids, all_dead)

    async def work(store: Store) -> tuple[RowResult, ...]:
        if all_dead:
            return await store.inbox_admin.requeue(
                [event.id for event in await store.inbox_admin.list_dead(MAX_ROWS)], by
            )
        return await store.inbox_admin.requeue(ids or (), by)

    _print_results("replayed", run(_with_store(work)))


async def _with_store(work: Callable[[Store], Awaitable[T]]) -> T:
    async with open_memory(read_settings(), SystemClock(), RandomIds()) as memory:
        return await work(memory.store)


def _require_choice(ids: Sequence[int] | None, all_dead: bool) -> None:
    if bool(ids) == all_dead:
        fail("name the numbers that `list` shows, or say --all-dead.", USAGE)


def _print_results(done: str, handled: Sequence[RowResult]) -> None:
    """Print what became of each row. Exit with 1 if any was refused."""
    refused = [one for one in handled if one.refusal]
    print_json({done: [one.id for one in handled if not one.refusal], "refused": [asdict(one) for one in refused]})
    for one in refused:
        typer.echo(escape_terminal_text(f"precedent: {one.id}: {one.refusal}"), err=True)
    if refused:
        raise typer.Exit(REFUSED)


def format_row(row: OutboxRowView) -> str:
    """Format a delivery as a line."""
    said = f"{row.id:>6}  {row.state.value:7}  {row.destination:5}  {row.operation:9}  {row.delivery_id}"
    tried = f"  owed {_format_minute(row.owed_at)}, {row.attempts} attempts"
    return f"{said}{tried}" + (f"\n        {escape_terminal_text(row.error)}" if row.error else "")


def format_event(event: UnprocessedEvent) -> str:
    """Format a given-up event as a line."""
    said = f"{event.id:>6}  {event.kind:9}  received {_format_minute(event.received_at)}, {event.attempts} attempts"
    return said + (f"\n        {escape_terminal_text(event.error)}" if event.error else "")


def _format_minute(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
