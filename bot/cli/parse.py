"""`precedent parse`: what the bot reads in a Slack message event, as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from bot.bootstrap.config.file import read_directory
from bot.cli.run import REFUSED, USAGE, fail, read_input, read_settings
from bot.domain.catalog.vendors import Directory
from bot.observability import escape_terminal_text
from bot.parsers import read
from bot.parsers.explained.rules import explain
from bot.parsers.shape import build_shape
from bot.ports.errors import ConfigurationRejected

Event = Mapping[str, Any]


class EventRejected(Exception):
    """Raised for input that is not a Slack event; the message is one sentence for the person who sent it."""


@dataclass(frozen=True, slots=True)
class Input:
    """One event of the input, or why it is not one."""

    # where it begins, counted from 1
    line: int
    event: Event | None = None
    problem: str = ""


def parse_slack_event(raw: str) -> Event:
    """Return the event in one JSON text: bare, or in an Events API envelope. Raises EventRejected."""
    try:
        found = json.loads(raw)
    except json.JSONDecodeError as bad:
        raise EventRejected(f"not JSON: {bad.msg} at column {bad.colno}") from bad
    except RecursionError as deep:
        raise EventRejected("not JSON that can be read: nested too deeply") from deep
    except ValueError as long:
        raise EventRejected("not JSON that can be read: it holds a number that is too long") from long
    if not isinstance(found, dict):
        raise EventRejected(f"expected a JSON object with a Slack event, got {type(found).__name__}")
    inner = found.get("event")
    return inner if isinstance(inner, dict) else found


def iterate_inputs(text: str, *, lines: bool) -> Iterator[Input]:
    """Yield the events of a text: a single one, or with `lines` one on each line (blank lines are skipped)."""
    numbered = enumerate(text.split("\n"), start=1) if lines else ((1, text),)
    for number, raw in numbered:
        if lines and not raw.strip():
            continue
        try:
            yield Input(number, parse_slack_event(raw))
        except EventRejected as bad:
            yield Input(number, problem=str(bad))


def _find_place(event: Event, key: str) -> tuple[str, str] | None:
    channel, ts = event.get("channel"), event.get(key)
    return (channel, ts) if isinstance(channel, str) and isinstance(ts, str) else None


def attach_roots(given: Sequence[Input]) -> Iterator[Input]:
    """Attach to each reply the message that it answers, if that is in the input, too: "acknowledged the incident" makes
    sense only in its thread."""
    posts = {
        _find_place(i.event, "ts"): i.event for i in given if i.event and i.event.get("subtype") != "message_changed"
    }
    posts.pop(None, None)
    for one in given:
        thread = _find_place(one.event, "thread_ts") if one.event else None
        root = posts.get(thread) if thread else None
        if one.event and root and root is not one.event and "root" not in one.event and one.event.get("bot_id"):
            yield Input(one.line, {**one.event, "root": root})
        else:
            yield one


def read_names() -> Directory:
    """Return the organization's names from the configuration file. Exits with 2 if the file is wrong."""
    try:
        return read_directory(read_settings().precedent_config)
    except ConfigurationRejected as wrong:
        fail(str(wrong), USAGE)


def parse(
    source: Annotated[
        str, typer.Argument(metavar="[FILE|-]", help="A file with one event; - reads standard input.")
    ] = "-",
    jsonl: Annotated[bool, typer.Option("--jsonl", help="One event a line, one result a line.")] = False,
    explained: Annotated[
        bool, typer.Option("--explain", help="Add which rule gave each field, to report a misread post.")
    ] = False,
) -> None:
    """Read Slack message events and print what the bot sees in them."""
    refused, names = False, read_names()
    for one in attach_roots(tuple(iterate_inputs(read_input(source), lines=jsonl))):
        if one.event is None:
            refused = True
            typer.echo(escape_terminal_text(f"precedent parse: line {one.line}: {one.problem}"), err=True)
            result: dict[str, Any] = {"error": one.problem, "line": one.line}
        else:
            result = build_shape(read(one.event, names=names))
            result |= {"explain": explain(one.event, names=names)} if explained else {}
        typer.echo(json.dumps(result, ensure_ascii=False, indent=None if jsonl else 2))
    if refused:
        raise typer.Exit(REFUSED)


def register(app: typer.Typer) -> None:
    """Add this family's command."""
    app.command("parse")(parse)
