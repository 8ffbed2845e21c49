"""`precedent backfill`: read the past of channels once without posting, and list the threads worth recording."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import Annotated, Any

import typer

from bot.bootstrap.modes.backfill import open_backfill, open_backfill_report
from bot.bootstrap.system import SystemClock
from bot.cli.run import DOWN, print_json, read_settings, run
from bot.domain.brief.as_json import format_time
from bot.domain.operations.backfill import AlertFamily, ReadSpan, ThreadToRecord, find_unread
from bot.observability import escape_terminal_text
from bot.ports.alerts.backfill_progress import BackfillProgress
from bot.ports.errors import ChatRejected, ChatUnavailable, NotAllowedHere
from bot.workflows.operations.backfill_report import BackfillReport

STOPPED = 130
GOES_ON = "precedent: what was read by now is kept; the same command goes on from there.\n"
HOW = "open the link, then in the message menu: Record resolution"
SHOWN = 12


def register(app: typer.Typer) -> None:
    """Add this family's command."""
    app.command("backfill")(backfill)


def backfill(
    channels: Annotated[list[str], typer.Argument(help="Names ('#alerts') or ids of channels that the bot is in")],
    days: Annotated[int, typer.Option(min=1, max=730, help="How many days back")] = 90,
    list_only: Annotated[bool, typer.Option("--list", help="Print again what was read, without Slack")] = False,
    limit: Annotated[int, typer.Option(min=1, max=500, help="How many threads worth recording are shown")] = 20,
    a_minute: Annotated[
        float, typer.Option("--calls-a-minute", min=1, max=5000, help="How often Slack is asked, for each kind of call")
    ] = 45.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
) -> None:
    """Read what a channel's alerts did in the past, post nothing, and list the threads worth recording."""
    try:
        found, refused = run(_list_backfilled(channels, days) if list_only else _read(channels, days, a_minute))
    except SystemExit as ended:
        if ended.code in (DOWN, STOPPED) and not list_only:
            sys.stderr.write(GOES_ON)
        raise
    if as_json:
        print_json({"channels": [build_json(one, limit) for one in found]})
    elif found:
        typer.echo("\n\n".join("\n".join(format_report(one, limit)) for one in found))
    for sentence in refused:
        sys.stderr.write(f"precedent: {escape_terminal_text(sentence)}\n")
    if refused:
        raise SystemExit(1)


async def _list_backfilled(channels: Sequence[str], days: int) -> tuple[list[BackfillReport], list[str]]:
    until = SystemClock().now()
    async with open_backfill_report(read_settings()) as told:
        return [await told(channel, until - timedelta(days=days), until) for channel in channels], []


async def _read(channels: Sequence[str], days: int, a_minute: float) -> tuple[list[BackfillReport], list[str]]:
    """Read each channel; one that cannot be read does not stop the others."""
    until = SystemClock().now()
    since = until - timedelta(days=days)
    found: list[BackfillReport] = []
    refused: list[str] = []
    try:
        async with open_backfill(read_settings(), a_minute, _print_progress, _print_wait) as (read, told):
            for name in dict.fromkeys(channels):
                try:
                    channel = await read.find_channel(name)
                    await read(channel, since)
                    found.append(await told(channel, since, until))
                except (ChatRejected, NotAllowedHere) as problem:
                    refused.append(f"{name}: {problem}")
    except ChatRejected as problem:  # the bot itself is refused
        refused.append(str(problem))
    return found, refused


def _print_progress(progress: BackfillProgress, whole: ReadSpan) -> None:
    """Print one line of progress for each portion."""
    since, until = whole
    left = sum(((end - start) for start, end in find_unread(progress.done, since, until)), timedelta())
    part = 100 - round(100 * left / (until - since))
    day, tally = f"{progress.done[-1][1]:%Y-%m-%d}", progress.tally
    alerts = sum(tally.alerts.values())
    sys.stderr.write(
        f"#{_clean_name(progress.name)}: {part} %, up to {day}: {tally.messages} messages, {alerts} of alerts\n"
    )


def _print_wait(seconds: float, problem: ChatUnavailable) -> None:
    """Print a line for each wait: Slack named the time, or does not respond properly."""
    said = "Slack asks to wait" if problem.retry_after_s else f"{escape_terminal_text(str(problem))} Trying again in"
    sys.stderr.write(f"{said} {seconds:.0f} s\n")


def build_json(one: BackfillReport, limit: int) -> dict[str, Any]:
    """Return what was read of a channel as JSON values."""
    tally = asdict(one.progress.tally)
    return {
        "channel": one.progress.channel,
        "name": one.progress.name,
        "since": format_time(one.since),
        "read": [[format_time(start), format_time(end)] for start, end in one.progress.done],
        "messages": tally.pop("messages"),
        "not_read_as_alerts": tally.pop("unread"),
        **tally,
        "incidents": one.incidents,
        "open": one.open,
        "families": [asdict(family) for family in one.families],
        "worth_recording": [_build_thread_json(worth) for worth in one.worth[:limit]],
        "worth_recording_count": len(one.worth),
    }


def _build_thread_json(worth: ThreadToRecord) -> dict[str, Any]:
    plain = asdict(worth)
    talk = plain.pop("talk")
    return plain | {"at": format_time(worth.at), "people": talk["people"], "messages": talk["messages"], "do": HOW}


def format_report(one: BackfillReport, limit: int) -> list[str]:
    """Format what was read of a channel for people."""
    tally = one.progress.tally
    unread = sum(tally.unread.values())
    lines = [
        f"#{_clean_name(one.progress.name)} since {one.since:%Y-%m-%d}",
        f"  {format_count(tally.messages, 'message')}, {format_count(tally.replies, 'answer')} in threads of alerts; {tally.by_people} by people",
        f"  read as alerts: {_format_counts(tally.alerts) or 'none'}",
        f"  {format_count(one.incidents, 'incident')} of {format_count(len(one.families), 'alert')}; {one.open} still open",
        *(_format_family(family) for family in one.families[:SHOWN]),
    ]
    if len(one.families) > SHOWN:
        lines.append(f"    +{len(one.families) - SHOWN} more")
    if tally.ignored:
        lines.append(f"  {tally.ignored} are left out: ignored in the channel, or purged")
    if unread:
        lines.append(f"  posted by apps and not read as alerts: {_format_counts(tally.unread)}")
        lines.append("    If alerts are among them: precedent parse tells how one is read.")
    return [*lines, "", *_format_threads(one, limit)]


def _format_threads(one: BackfillReport, limit: int) -> list[str]:
    if not one.worth:
        return ["No thread is worth recording: nobody wrote under these alerts, or all is recorded."]
    lines = [f"Threads worth recording ({HOW}):"]
    for number, worth in enumerate(one.worth[:limit], start=1):
        lines += [
            f"{number:3}. {_clean_name(worth.title)}",
            f"     {_format_thread(worth)}",
            f"     {escape_terminal_text(worth.url or worth.incident_id)}",
        ]
    if len(one.worth) > limit:
        lines.append(f"     +{len(one.worth) - limit} more: --limit shows them")
    return lines


def _format_thread(worth: ThreadToRecord) -> str:
    people = "1 person" if worth.talk.people == 1 else f"{worth.talk.people} people"
    parts = (
        f"{worth.at:%Y-%m-%d}",
        worth.severity and _clean_name(worth.severity),
        f"fired {worth.fired}×",
        f"{people} wrote {format_count(worth.talk.messages, 'message')}",
        f"cleared after {worth.minutes} min" if worth.minutes is not None else "nobody saw it clear",
        f"{format_count(worth.more, 'other thread')} about it" if worth.more else None,
    )
    return ", ".join(part for part in parts if part)


def _format_family(family: AlertFamily) -> str:
    where = f" ({_clean_name(family.service)})" if family.service else ""
    return f"    {family.fired}× {_clean_name(family.title)}{where}, {_clean_name(family.tool)}, in {format_count(family.incidents, 'incident')}"


def format_count(number: int, what: str) -> str:
    """Format a count: 1 incident, 2 incidents."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _format_counts(counts: Any) -> str:
    """Format names with their counts, the largest first."""
    ordered = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    told = ", ".join(f"{_clean_name(name)} {count}" for name, count in ordered[:SHOWN])
    return f"{told}, +{len(ordered) - SHOWN} more" if len(ordered) > SHOWN else told


def _clean_name(text: str) -> str:
    """Clean a name from outside for one line of a terminal: no control characters, and not too long."""
    return " ".join(escape_terminal_text(text).split())[:100]
