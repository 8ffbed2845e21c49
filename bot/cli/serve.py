"""`precedent serve`: run the bot."""

from __future__ import annotations

import asyncio
import signal

import typer

from bot.bootstrap.application import run_application
from bot.cli.run import read_settings, run
from bot.observability import configure_logging


def register(app: typer.Typer) -> None:
    """Add this command."""
    app.command("serve")(serve)


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
