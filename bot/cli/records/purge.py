"""`precedent purge`: remove every text of a record for good."""

from __future__ import annotations

from dataclasses import asdict

import typer

from bot.bootstrap.system import RandomIds, SystemClock
from bot.bootstrap.wiring.memory import Memory, open_memory
from bot.bootstrap.wiring.resolutions import build_local_correct, build_refresh_briefs
from bot.cli.records.arguments import ByActorOption, IdArgument, ReasonOption, require_reason
from bot.cli.run import print_json, read_settings, run
from bot.slack.views.surfaces import SlackSurfaces
from bot.workflows.resolutions.correct import PurgeResult, build_key
from bot.workflows.resolutions.refresh_briefs import PURGED, Correction


def register(app: typer.Typer) -> None:
    """Add this command."""
    app.command("purge")(purge)


def purge(incident_id: IdArgument, reason: ReasonOption = "", by: ByActorOption = "operator") -> None:
    """Remove every text of a record for good, and write SQLite's file anew; in PostgreSQL the rows are gone, and its own
    vacuum and log retention decide when their bytes are. Digests that were posted to Slack stay. Again is no error."""
    require_reason(reason)
    print_json(asdict(run(_purge(incident_id, reason, by))))


async def _purge(incident_id: str, reason: str, by: str) -> PurgeResult:
    clock, ids = SystemClock(), RandomIds()
    async with open_memory(read_settings(), clock, ids) as memory:
        once = f"cli/{ids.new()}"
        done = await build_local_correct(memory, clock).purge(incident_id, by, reason, once)
        await _purge_copies(memory, clock, incident_id, by, once)
        return done


async def _purge_copies(memory: Memory, clock: SystemClock, incident_id: str, by: str, once: str) -> None:
    """Do at once what the running bot does later: there may be no bot, and the text must be gone when this command
    ends."""
    act = Correction(incident_id, PURGED, by, build_key(PURGED, incident_id, once))
    await build_refresh_briefs(memory, SlackSurfaces(), clock).refresh(act)
