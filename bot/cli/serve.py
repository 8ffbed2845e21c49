"""`precedent serve` and `playground`. Must not decide anything about alerts or incidents."""

from __future__ import annotations

import asyncio
import signal
from typing import Annotated

import typer

from bot.bootstrap.application import run_application
from bot.bootstrap.modes.playground import Playground
from bot.cli.run import read_settings, run
from bot.observability import configure_logging


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command("serve")(serve)
    app.command("playground")(playground)


def serve() -> None:
    """Run the bot: Socket Mode with SLACK_APP_TOKEN, else signed HTTP on PORT. Stops cleanly on SIGTERM."""
    config = read_settings()
    configure_logging(config.log_level)
    run(_serve())


async def _serve() -> None:
    async with run_application(read_settings()):
        await wait_until_stopped()


async def wait_until_stopped() -> None:
    """Return when the process is told to stop (SIGTERM, SIGINT)."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await stop.wait()


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
