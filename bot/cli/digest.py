"""`precedent digest`: what recurred recently."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Annotated
from zoneinfo import ZoneInfo

import typer

from bot.adapters.chart import MatplotlibCharts
from bot.bootstrap.system import RandomIds, SystemClock
from bot.bootstrap.wiring.memory import open_memory
from bot.cli.plain_text import print_message
from bot.cli.run import REFUSED, USAGE, fail, print_json, read_settings, run
from bot.domain.recall.query import OPERATOR
from bot.domain.reports.digest import Digest
from bot.domain.reports.digest_chart import build_chart
from bot.slack.views.surfaces import SlackSurfaces
from bot.workflows.reports.digest import ComposeDigest


def register(app: typer.Typer) -> None:
    """Add this command."""
    app.command("digest")(digest)


def digest(
    days: Annotated[int, typer.Option(min=1, max=366, help="How many days back")] = 7,
    as_json: Annotated[bool, typer.Option("--json", help="Print the digest as JSON")] = False,
    picture: Annotated[Path | None, typer.Option("--picture", help="Write its picture to this PNG file, too")] = None,
) -> None:
    """Print what recurred in the last days."""
    composed = run(_compose_digest(days))
    if picture:
        _draw_chart(composed, picture)
    if as_json:
        print_json(json.loads(json.dumps(asdict(composed), default=str)))
    else:
        print_message(SlackSurfaces().render_digest(composed))


def _draw_chart(composed: Digest, path: Path) -> None:
    chart = build_chart(composed)
    if chart is None:
        fail("no incident in these days, so there is no picture; --days 30 looks further back.", REFUSED)
    try:
        path.write_bytes(run(MatplotlibCharts().render_png(chart)))
    except OSError as problem:
        fail(f"{path} cannot be written: {problem.strerror}.", USAGE)


async def _compose_digest(days: int) -> Digest:
    config, clock = read_settings(), SystemClock()
    until = clock.now()
    async with open_memory(config, clock, RandomIds()) as memory:
        since = until - timedelta(days=days)
        name = f"the last {'day' if days == 1 else f'{days} days'} to {until.astimezone(ZoneInfo(config.timezone)).date().isoformat()}"
        return await ComposeDigest(memory.incidents, memory.store.feedback)(since, until, OPERATOR, name)
