"""`precedent report`: how useful the bot was recently."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Annotated, Any

import typer

from bot.bootstrap.system import RandomIds, SystemClock
from bot.bootstrap.wiring.memory import open_memory
from bot.cli.plain_text import format_message
from bot.cli.run import print_json, read_settings, run
from bot.domain.brief.as_json import format_time
from bot.domain.recall.query import OPERATOR
from bot.domain.reports.usefulness import UsefulnessReport
from bot.slack.views.usefulness import render_report
from bot.workflows.reports.usefulness import ComposeUsefulnessReport


def register(app: typer.Typer) -> None:
    """Add this family's command."""
    app.command("report")(report)


def report(
    days: Annotated[int, typer.Option(min=1, max=366, help="How many days back")] = 30,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Print what became of the briefs: acted on, right or wrong, recorded, and how many messages it took."""
    found = run(_compose_report(days))
    if as_json:
        print_json(build_report_json(found))
        return
    message = render_report(found, f"the last {days} days")
    typer.echo(format_message({"text": message.text, "blocks": message.blocks}))


async def _compose_report(days: int) -> UsefulnessReport:
    clock = SystemClock()
    until = clock.now()
    async with open_memory(read_settings(), clock, RandomIds()) as memory:
        return await ComposeUsefulnessReport(memory.incidents, memory.store.feedback)(
            until - timedelta(days=days), until, OPERATOR
        )


def build_report_json(found: UsefulnessReport) -> dict[str, Any]:
    """Return the report with its rates as JSON values."""
    shares = {name: getattr(found, name) for name in ("shown", "acted_on", "right", "recorded")}
    rates = {f"{name}_percent": share.percent for name, share in shares.items()}
    return (
        {name: _to_json_value(value) for name, value in asdict(found).items()}
        | rates
        | {"posts_per_outage": found.posts_per_outage}
    )


def _to_json_value(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _to_json_value(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_to_json_value(entry) for entry in value]
    return format_time(value) if isinstance(value, datetime) else value
