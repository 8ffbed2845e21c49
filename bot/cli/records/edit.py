"""`precedent edit`: correct a record. Who has the database may; the audit log has the name that is given."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from bot.bootstrap.system import RandomIds, SystemClock
from bot.bootstrap.wiring.memory import open_memory
from bot.bootstrap.wiring.resolutions import build_local_correct
from bot.cli.records.arguments import ByActorOption, IdArgument, TextOption
from bot.cli.run import USAGE, fail, print_json, read_settings, run
from bot.domain.incidents.corrections import hash_text, read_texts
from bot.workflows.resolutions.correct import RecordCorrection


def register(app: typer.Typer) -> None:
    """Add this command."""
    app.command("edit")(edit)


def edit(
    incident_id: IdArgument,
    title: TextOption = None,
    root_cause: TextOption = None,
    boundary: Annotated[str | None, typer.Option(help="vendor, internal, mixed or unknown")] = None,
    failed_checks: TextOption = None,
    lesson: TextOption = None,
    by: ByActorOption = "operator",
) -> None:
    """Correct a record. What is not named stays; --failed-checks takes one check a line ("DB pool, 25")."""
    said = {
        "title": title,
        "root_cause": root_cause,
        "boundary": boundary,
        "failed_checks": failed_checks,
        "lesson": lesson,
    }
    typed = {name: text for name, text in said.items() if text is not None}
    if not typed:
        fail("say what to change: --title, --root-cause, --boundary, --failed-checks or --lesson.", USAGE)
    done = run(_edit(incident_id, typed, by))
    print_json({"incident_id": incident_id, "changed": [asdict(one) for one in done.changed]})


async def _edit(incident_id: str, typed: dict[str, str], by: str) -> RecordCorrection:
    clock, ids = SystemClock(), RandomIds()
    async with open_memory(read_settings(), clock, ids) as memory:
        use = build_local_correct(memory, clock).edit
        shown = {name: hash_text(text) for name, text in read_texts(await use.open_form(incident_id, by)).items()}
        return await use(incident_id, by, typed, shown, f"cli/{ids.new()}")
