"""`precedent playground`: a local Slack in the browser, with the bot in it."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.bootstrap.modes.playground import Playground
from bot.cli.run import run
from bot.cli.serve import wait_until_stopped
from bot.observability import configure_logging


def register(app: typer.Typer) -> None:
    """Add this command."""
    app.command("playground")(playground)


def playground(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the page on 127.0.0.1")] = 3210,
    empty: Annotated[bool, typer.Option("--empty", help="Start with an empty memory")] = False,
) -> None:
    """A local Slack in the browser, with the bot in it: no token, no network, thrown away at the end."""
    configure_logging("WARNING", as_json=False)
    run(_playground(port, seeded=not empty))


async def _playground(port: int, *, seeded: bool) -> None:
    async with Playground(port=port, seeded=seeded).open() as opened:
        typer.echo(f"The playground is open: {opened.slack.url}  (Ctrl-C ends it)")
        await wait_until_stopped()
