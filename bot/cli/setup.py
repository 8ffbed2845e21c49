"""`precedent setup`: set the bot up in a real workspace, step by step (`bot.setup.walk`)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
import yaml

from bot.bootstrap.modes.playground import read_manifest
from bot.bootstrap.modes.seeds import FILES
from bot.cli.run import DOWN, USAGE, fail, read_settings
from bot.domain.operations import setup_answers as answers
from bot.domain.operations.setup_answers import AnswerRejected
from bot.observability import configure_logging
from bot.ports.errors import ConfigurationRejected, PrecedentError
from bot.settings import SETTINGS_FILE
from bot.setup.channel import ChannelSteps
from bot.setup.env_file import EnvFile
from bot.setup.prompts import InputEnded, say_exactly
from bot.setup.walk import SetupWalk
from bot.slack.client.manifest import adapt_to_http

WAIT_S = 60.0


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    app.command("setup")(setup)


def setup(
    only_manifest: Annotated[
        bool, typer.Option("--manifest", help="Print the app's manifest alone, to paste it, and end")
    ] = False,
    url: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="HTTP instead of Socket Mode: your public https address")
    ] = None,
    channel: Annotated[str | None, typer.Option(help="The channel of alerts, instead of being asked for it")] = None,
    wait: Annotated[float, typer.Option(min=0.1, max=3600, help="Seconds to listen for the first events")] = WAIT_S,
    browser: Annotated[bool, typer.Option("--browser", help="Open the link in this machine's browser, too")] = False,
) -> None:
    """Set the bot up in a real workspace, step by step: the app, its tokens, the channel, a test. Run it again to go on.

    Answers are kept in .env of the working directory. They may also be piped, one a line.
    """
    try:
        address = answers.parse_address(url) if url else None
        named = answers.parse_channel(channel) if channel else None
    except AnswerRejected as wrong:
        fail(str(wrong), USAGE)
    if only_manifest:
        typer.echo(format_manifest(address), nl=False)
        return
    configure_logging("ERROR", as_json=False)
    walk = SetupWalk(
        read_settings=read_settings,
        env=EnvFile(Path(SETTINGS_FILE)),
        channel=ChannelSteps(named=named, wait_s=wait),
        address=address,
        browser=browser,
    )
    try:
        walk.walk()
    except InputEnded as ended:
        fail(f"the input ended before an answer was given for: {ended}. {walk.summarize()}", USAGE)
    except KeyboardInterrupt:
        say_exactly("")
        fail(f"stopped. {walk.summarize()}", 130)
    except ConfigurationRejected as wrong:
        fail(f"{wrong} {walk.summarize()}", USAGE)
    except PrecedentError as down:
        fail(f"{down} {walk.summarize()}", DOWN)


def format_manifest(address: str | None) -> str:
    """Return the manifest as text to paste: manifest.yml itself, or the one for HTTP."""
    if address is None:
        return (FILES / "manifest.yml").read_text(encoding="utf-8")
    return yaml.safe_dump(adapt_to_http(read_manifest(), address), sort_keys=False, allow_unicode=True, width=120)
