"""`precedent edit`, `retract`, `purge` and `audit export`: records corrected from a terminal, and the log of who did what.

Must not decide anything. Who holds the database may do all of it; the audit log says so under the name that is given.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, TextIO

import typer

from bot.bootstrap.system import RandomIds, SystemClock
from bot.bootstrap.wiring.corrections import build_local_correct, build_refresh_briefs
from bot.bootstrap.wiring.memory import Memory, open_memory
from bot.cli.run import USAGE, fail, print_json, read_settings, run
from bot.domain.brief.as_json import time_text
from bot.domain.incidents.corrections import mark_of, texts_of
from bot.ports.audit import AuditEntry
from bot.ports.errors import RecordRejected
from bot.slack.listeners.recall_question import read_since
from bot.slack.views.surfaces import SlackSurfaces
from bot.workflows.resolutions.correct import PurgeResult, RecordCorrection, build_key
from bot.workflows.resolutions.refresh_briefs import PURGED, Correction

IdArgument = Annotated[str, typer.Argument(metavar="INC-…", help="The record's id")]
ByActorOption = Annotated[str, typer.Option(help="Who does it, for the audit log")]
ReasonOption = Annotated[str, typer.Option(help="Why; the audit log keeps it")]
TextOption = Annotated[str | None, typer.Option(help="The new text; empty removes it")]


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    audit = typer.Typer(no_args_is_help=True, help="Who changed what, when, and what it said before and after.")
    audit.command("export")(export)
    app.add_typer(audit, name="audit")
    app.command("edit")(edit)
    app.command("retract")(retract)
    app.command("purge")(purge)


def export(
    since: Annotated[str | None, typer.Option(help="30d, 12h, 2w or a date such as 2026-01-31; default: all")] = None,
) -> None:
    """Write the audit log as JSON Lines on standard output, oldest first."""
    try:
        begin = read_since(since, SystemClock().now())
    except RecordRejected as refused:
        fail(f"--since: {refused.reason}.", USAGE)
    run(_export(begin, sys.stdout))


async def _export(since: datetime | None, out: TextIO) -> None:
    async with open_memory(read_settings(), SystemClock(), RandomIds()) as memory:
        async for line in memory.store.audit_log.stream_lines(since):
            out.write(json.dumps(build_audit_json(line), ensure_ascii=False) + "\n")


def build_audit_json(line: AuditEntry) -> dict[str, object]:
    """Return an audit line as JSON values."""
    return asdict(line) | {"at": time_text(line.at)}


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
        shown = {name: mark_of(text) for name, text in texts_of(await use.open_form(incident_id, by)).items()}
        return await use(incident_id, by, typed, shown, f"cli/{ids.new()}")


def retract(incident_id: IdArgument, reason: ReasonOption = "", by: ByActorOption = "operator") -> None:
    """Take a record out of memory: gone from recall at once; the running bot tells the threads that used it."""
    _require_reason(reason)
    run(_retract(incident_id, reason, by))
    print_json({"retracted": incident_id})


async def _retract(incident_id: str, reason: str, by: str) -> None:
    clock, ids = SystemClock(), RandomIds()
    async with open_memory(read_settings(), clock, ids) as memory:
        await build_local_correct(memory, clock).retract(incident_id, by, reason, f"cli/{ids.new()}")


def purge(incident_id: IdArgument, reason: ReasonOption = "", by: ByActorOption = "operator") -> None:
    """Remove every text of a record for good, and write SQLite's file anew; in PostgreSQL the rows are gone, and its own
    vacuum and log retention decide when their bytes are. Digests that were posted to Slack stay. Again is no error."""
    _require_reason(reason)
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


def _require_reason(reason: str) -> None:
    if not reason.strip():
        fail('say why with --reason "…": the audit log keeps it.', USAGE)
