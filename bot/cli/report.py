"""`precedent report`: how useful the bot was in the last days. Must not count anything."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Annotated, Any

import typer

from bot.bootstrap.system import RandomIds, SystemClock
from bot.bootstrap.wiring.memory import open_memory
from bot.cli.plain_text import message_text
from bot.cli.run import print_json, run, settings
from bot.domain.brief.as_json import time_text
from bot.domain.recall.query import OPERATOR
from bot.domain.reports.usefulness import Report
from bot.slack.views.usefulness import report_message
from bot.workflows.reports.usefulness import ComposeReport


def register(app: typer.Typer) -> None:
    """Add this family's command."""
    app.command("report")(report)


def report(
    days: Annotated[int, typer.Option(min=1, max=366, help="How many days back")] = 30,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Print what became of the briefs: acted on, right or wrong, recorded, and how many messages it took."""
    found = run(_report(days))
    if as_json:
        print_json(report_json(found))
        return
    message = report_message(found, f"the last {days} days")
    typer.echo(message_text({"text": message.text, "blocks": message.blocks}))


async def _report(days: int) -> Report:
    clock = SystemClock()
    until = clock.now()
    async with open_memory(settings(), clock, RandomIds()) as memory:
        return await ComposeReport(memory.incidents, memory.store.said)(until - timedelta(days=days), until, OPERATOR)


def report_json(found: Report) -> dict[str, Any]:
    """The report as JSON values, with its rates."""
    shares = {name: getattr(found, name) for name in ("shown", "acted_on", "right", "recorded")}
    rates = {f"{name}_percent": share.percent for name, share in shares.items()}
    return (
        {name: _plain(value) for name, value in asdict(found).items()}
        | rates
        | {"posts_per_outage": found.posts_per_outage}
    )


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return time_text(value) if isinstance(value, datetime) else value
