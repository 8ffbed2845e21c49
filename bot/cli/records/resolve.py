"""`precedent resolve`: record what fixed an incident."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from bot.bootstrap.system import RandomIds, SystemClock
from bot.bootstrap.wiring.memory import open_memory
from bot.cli.run import USAGE, fail, print_json, read_settings, run
from bot.domain.incidents.record import Boundary, FailedCheck
from bot.slack.views.surfaces import SlackSurfaces
from bot.workflows.resolutions.resolve import FixOutcome, RecordedResolution, Resolution, Resolve


def register(app: typer.Typer) -> None:
    """Add this command."""
    app.command("resolve")(resolve)


class OutcomeOption(StrEnum):
    """`--outcome` of `precedent resolve`."""

    RECOVERED = "recovered"
    PARTLY = "partly"
    NO = "no"
    BY_ITSELF = "by_itself"
    NOT_SURE = "not_sure"


def resolve(
    incident_id: Annotated[str, typer.Argument(help="For example INC-7")],
    outcome: Annotated[OutcomeOption, typer.Option(help="Did it fix it?")],
    fix: Annotated[str | None, typer.Option(help="What was done; steps separated by ; or lines")] = None,
    root_cause: Annotated[str | None, typer.Option(help="What it was")] = None,
    boundary: Annotated[Boundary, typer.Option(help="Where the fault was")] = Boundary.UNKNOWN,
    failed_check: Annotated[
        list[str] | None, typer.Option(help="What wasted time: CHECK or CHECK=MINUTES; may be repeated")
    ] = None,
    lesson: Annotated[str | None, typer.Option(help="What to remember")] = None,
    by: Annotated[str, typer.Option(help="Who says so")] = "operator",
) -> None:
    """Record what fixed an incident, from a terminal."""
    checks = tuple(parse_failed_check(text) for text in failed_check or ())
    said = Resolution(
        FixOutcome(outcome.value),
        incident_id,
        fix=fix,
        root_cause=root_cause,
        boundary=boundary,
        failed_checks=checks,
        lesson=lesson,
    )
    recorded = run(_resolve(said, by))
    print_json(
        {"incident_id": recorded.incident.incident_id, "recorded": not recorded.again, "summary": recorded.summary}
    )


async def _resolve(said: Resolution, by: str) -> RecordedResolution:
    clock = SystemClock()
    async with open_memory(read_settings(), clock, RandomIds()) as memory:
        resolve = Resolve(store=memory.incidents, surfaces=SlackSurfaces(), clock=clock)
        return await resolve(said, by, f"cli/{RandomIds().new()}")


def parse_failed_check(text: str) -> FailedCheck:
    """Parse CHECK or CHECK=MINUTES."""
    name, _, minutes = text.rpartition("=")
    if not name:
        return FailedCheck(text)
    try:
        return FailedCheck(name, float(minutes))
    except ValueError:
        fail(f"--failed-check {text}: “{minutes}” is no number of minutes.", USAGE)
