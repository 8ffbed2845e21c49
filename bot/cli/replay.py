"""`precedent replay`: which briefs would change with this version, this configuration and these records."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from itertools import zip_longest
from typing import Annotated, Any

import typer

from bot import __version__
from bot.bootstrap.modes.replay import open_replay
from bot.bootstrap.system import SystemClock
from bot.cli.run import read_input, read_settings, run
from bot.domain.operations.replay_diff import (
    BriefDifference,
    ChangedBrief,
    ChangeKind,
    ReplayComparison,
    compare_replays,
)
from bot.observability import configure_logging, escape_terminal_text
from bot.workflows.operations.replay import build_line
from bot.workflows.operations.replay_file import ReplayFile, build_header, read_replay_file

LABEL, NARROW, WIDEST = 14, 76, 160
Line = Mapping[str, Any]


def register(app: typer.Typer) -> None:
    """Add this family's command."""
    app.command("replay")(replay)


def replay(
    days: Annotated[int, typer.Option(min=1, max=366, help="How many days back; with --against the file says")] = 30,
    against: Annotated[str | None, typer.Option(metavar="FILE", help="What this command printed before")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="With --against: print JSON")] = False,
) -> None:
    """Decide again the briefs of the last days, as JSON Lines; with --against, print which are others than in FILE.

    Nothing is posted or changed. Exit 0, whatever changed; 1 for a FILE that cannot be used.
    """
    configure_logging("ERROR", as_json=False)  # that a copy was upgraded would be taken for the database
    if against is None:
        until = SystemClock().now()
        since = until - timedelta(days=days)
        lines = run(_decide_again(since, until))
        for line in (build_header(__version__, since, until, len(lines)), *lines):
            sys.stdout.write(json.dumps(line, ensure_ascii=False) + "\n")
        return
    text = read_input(against)
    before, found = run(_compare(against, text))
    if as_json:
        sys.stdout.write(json.dumps(build_comparison_json(before, found), ensure_ascii=False, indent=2) + "\n")
    else:
        typer.echo("\n".join(format_comparison(before, found, shutil.get_terminal_size().columns)))


async def _decide_again(since: datetime, until: datetime) -> list[Line]:
    async with open_replay(read_settings(), SystemClock()) as again:
        return [build_line(one) async for one in again(await again.list_alerts(since, until))]


async def _compare(name: str, text: str) -> tuple[ReplayFile, ReplayComparison]:
    before = read_replay_file(name, text.split("\n"))
    # as they were written, so that nothing differs by how it was kept
    now = json.loads(json.dumps(await _decide_again(before.since, before.until)))
    return before, compare_replays(before.lines, now)


def build_comparison_json(before: ReplayFile, found: ReplayComparison) -> dict[str, Any]:
    """Return the comparison as JSON values."""
    return {
        "before": before.version,
        "now": __version__,
        "since": before.since.isoformat(),
        "until": before.until.isoformat(),
        "compared": found.compared,
        "changed": len(found.changes),
        "kinds": {kind.value: count for kind, count in found.count_by_kind.items()},
        "not_compared": {"gone": found.gone, "added": found.added, "seen_anew": found.moved},
        "changes": [
            {**c.about, "kind": c.kind.value, "parts": [asdict(d) for d in c.differences]} for c in found.changes
        ],
    }


def format_comparison(before: ReplayFile, found: ReplayComparison, width: int) -> Iterator[str]:
    """Format the comparison for a terminal of this width: the number of each kind, then each brief, worst first."""
    width = min(max(width, 40), WIDEST)
    changed = len(found.changes)
    yield f"{changed} of {found.compared} briefs {'changes' if changed == 1 else 'change'}"
    yield f"{before.since:%Y-%m-%d} to {before.until:%Y-%m-%d}"
    yield f"before: version {before.version or '?'}, now: {__version__}"
    yield from (f"{count:5}  {kind.value}" for kind, count in found.count_by_kind.items())
    for count, why in (
        (found.gone, "no longer stored"),
        (found.added, "not in the file"),
        (found.moved, "seen anew since"),
    ):
        if count:
            yield f"{count:5}  not compared: {why}"
    last: ChangeKind | None = None
    for change in found.changes:
        if change.kind is not last:
            last = change.kind
            yield from ("", f"== {last.value} ({found.count_by_kind[last]})")
        yield from _format_change(change, width)


def _format_change(change: ChangedBrief, width: int) -> Iterator[str]:
    about = change.about
    yield ""
    named = (
        about["incident_id"],
        about["service"],
        about["title"],
        about["at"][:16].replace("T", " "),
        about["channel"],
    )
    yield textwrap.shorten(escape_terminal_text("  ".join(part for part in named if part)), width, placeholder=" …")
    if width < NARROW:
        for one in change.differences:
            yield f"  {one.part}"
            yield from _wrap("- ", one.before, width)
            yield from _wrap("+ ", one.now, width)
        return
    column = (width - LABEL - 5) // 2
    yield f"{'':{LABEL + 2}}{'before':{column}} | now"
    for one in change.differences:
        yield from _format_difference(one, column)


def _format_difference(one: BriefDifference, column: int) -> Iterator[str]:
    """Format both sides of one part, each in its own column."""
    sides = zip_longest(_split_lines(one.before, column), _split_lines(one.now, column), fillvalue="")
    for number, (left, right) in enumerate(sides):
        label = one.part if number == 0 else ""
        yield f"  {label:{LABEL}}{left:{column}} | {right}".rstrip()


def _wrap(mark: str, text: str, width: int) -> Iterator[str]:
    for number, line in enumerate(_split_lines(text, width - 6)):
        yield f"    {mark if number == 0 else '  '}{line}"


def _split_lines(text: str, width: int) -> list[str]:
    """Split the text into lines of at most this width, keeping its own line breaks and dropping control characters."""
    return [part for line in text.split("\n") for part in (textwrap.wrap(escape_terminal_text(line), width) or [""])]
