"""`precedent sync`: bring store and Hindsight bank together."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from bot.bootstrap.system import RandomIds, SystemClock
from bot.bootstrap.wiring.memory import Memory, open_memory
from bot.cli.run import REFUSED, USAGE, fail, print_json, read_settings, run
from bot.observability import escape_terminal_text
from bot.ports.memory import RemoteBank
from bot.workflows.resolutions.sync import FillBank, FillProgress, PullProgress, PullRecords


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command("sync")(sync)


def sync(
    pull: Annotated[
        bool, typer.Option("--pull", help="Instead take over the records that only the bank knows, as an import")
    ] = False,
) -> None:
    """Fill the Hindsight bank from the store (again is harmless); with --pull the store from the bank."""
    if not read_settings().hindsight_url:
        fail("HINDSIGHT_URL is not set, so there is no bank to sync with; records are in the store.", USAGE)
    if pull:
        _print_pulled(run(_pull()))
    else:
        _print_filled(run(_fill()))


def _print_filled(filled: FillProgress) -> None:
    for incident_id, reason in filled.refused:
        sys.stderr.write(escape_terminal_text(f"{incident_id}: {reason}") + "\n")
    refused = [{"incident_id": incident_id, "reason": reason} for incident_id, reason in filled.refused]
    print_json({"records": filled.total, "retained": filled.retained, "refused": refused})
    if refused:
        raise typer.Exit(REFUSED)


def _print_pulled(pulled: PullProgress) -> None:
    counted = {"read": pulled.read, "added": pulled.added, "already_here": pulled.here}
    print_json(counted | {"retracted_here": pulled.forgotten, "without_record": pulled.outside})


async def _fill() -> FillProgress:
    filled = FillProgress()
    async with _open_bank() as (memory, bank):
        with _progress("Retaining") as show:
            async for so_far in FillBank(memory.incidents, bank)(filled):
                show(so_far.done, so_far.total)
    return filled


async def _pull() -> PullProgress:
    pulled = PullProgress()
    async with _open_bank() as (memory, bank):
        with _progress("Taking over") as show:
            async for so_far in PullRecords(memory.incidents, bank)(pulled):
                show(so_far.read, None)
    return pulled


@asynccontextmanager
async def _open_bank() -> AsyncIterator[tuple[Memory, RemoteBank]]:
    async with open_memory(read_settings(), SystemClock(), RandomIds()) as memory:
        if memory.remote is None:
            raise typer.Exit(USAGE)
        yield memory, memory.remote


@contextmanager
def _progress(what: str) -> Iterator[Callable[[int, int | None], None]]:
    """Show a progress bar on stderr if a person watches."""
    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal, transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
