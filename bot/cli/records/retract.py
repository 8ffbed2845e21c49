"""`precedent retract`: take a record out of memory."""

from __future__ import annotations

import typer

from bot.bootstrap.system import RandomIds, SystemClock
from bot.bootstrap.wiring.memory import open_memory
from bot.bootstrap.wiring.resolutions import build_local_correct
from bot.cli.records.arguments import ByActorOption, IdArgument, ReasonOption, require_reason
from bot.cli.run import print_json, read_settings, run


def register(app: typer.Typer) -> None:
    """Add this command."""
    app.command("retract")(retract)


def retract(incident_id: IdArgument, reason: ReasonOption = "", by: ByActorOption = "operator") -> None:
    """Take a record out of memory: gone from recall at once; the running bot tells the threads that used it."""
    require_reason(reason)
    run(_retract(incident_id, reason, by))
    print_json({"retracted": incident_id})


async def _retract(incident_id: str, reason: str, by: str) -> None:
    clock, ids = SystemClock(), RandomIds()
    async with open_memory(read_settings(), clock, ids) as memory:
        await build_local_correct(memory, clock).retract(incident_id, by, reason, f"cli/{ids.new()}")
