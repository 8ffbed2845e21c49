"""`precedent parse`: what the bot reads in a Slack message event. Must not decide anything; prints JSON on stdout."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from bot.alerts import read
from bot.alerts.shape import shape

_REFUSED = 1
_USAGE = 2


class EventRejected(Exception):
    """An input that is no Slack event; the message is one sentence for the person who sent it."""


def _reading(raw: str) -> dict[str, Any]:
    """The reading of one JSON text: a bare event, or an Events API envelope. EventRejected says what is wrong with it."""
    try:
        event = json.loads(raw)
    except json.JSONDecodeError as bad:
        raise EventRejected(f"not JSON: {bad.msg} at column {bad.colno}") from bad
    except RecursionError as deep:
        raise EventRejected("not JSON that can be read: nested too deeply") from deep
    except ValueError as long:
        raise EventRejected("not JSON that can be read: it holds a number that is too long") from long
    if not isinstance(event, dict):
        raise EventRejected(f"expected a JSON object with a Slack event, got {type(event).__name__}")
    inner = event.get("event")
    return shape(read(inner if isinstance(inner, dict) else event))


def _inputs(text: str, *, lines: bool) -> Iterator[tuple[int, str]]:
    """The texts to read with their line numbers; blank lines of JSON Lines are skipped."""
    if not lines:
        yield 1, text
        return
    yield from ((number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip())


def _text_of(source: str) -> str:
    """The whole input; a file that cannot be read is wrong usage."""
    try:
        raw = sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
    except OSError as missing:
        typer.echo(f"precedent parse: cannot read {source}: {missing.strerror}", err=True)
        raise typer.Exit(_USAGE) from missing
    return raw.decode("utf-8-sig", "replace")


def parse(
    source: Annotated[
        str, typer.Argument(metavar="[FILE|-]", help="A file with one event; - reads standard input.")
    ] = "-",
    jsonl: Annotated[bool, typer.Option("--jsonl", help="One event a line, one result a line.")] = False,
) -> None:
    """Read Slack message events and print what the bot sees in them."""
    refused = False
    for number, raw in _inputs(_text_of(source), lines=jsonl):
        try:
            result = _reading(raw)
        except EventRejected as bad:
            refused = True
            typer.echo(f"precedent parse: line {number}: {bad}", err=True)
            result = {"error": str(bad), "line": number}
        typer.echo(json.dumps(result, ensure_ascii=False, indent=None if jsonl else 2))
    if refused:
        raise typer.Exit(_REFUSED)


def _root() -> None:
    """A Slack bot with incident memory."""


def register(app: typer.Typer) -> None:
    """Add this family's commands. The root callback keeps `precedent parse` a subcommand even while it is the only one."""
    if app.registered_callback is None:
        app.callback()(_root)
    app.command("parse")(parse)
