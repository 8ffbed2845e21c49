"""`precedent brief`: the brief that an alert would get. Nothing is stored."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from bot.bootstrap.config.file import read_optional_configuration
from bot.bootstrap.system import RandomIds, StoppedClock, SystemClock
from bot.bootstrap.wiring.evidence import build_gather_evidence
from bot.bootstrap.wiring.memory import open_memory
from bot.cli.parse import read_names
from bot.cli.plain_text import print_message
from bot.cli.run import REFUSED, USAGE, fail, print_json, read_input, read_settings, run
from bot.domain.alerts.alert import Alert, AlertState
from bot.domain.brief.as_json import build_brief_json
from bot.domain.brief.decide import Brief
from bot.domain.incidents.opening import parse_ts
from bot.domain.recall.query import OPERATOR
from bot.parsers import read
from bot.parsers.masking import mask_alert
from bot.parsers.shape import build_shape
from bot.parsers.text.markup import clean
from bot.ports.clock import Clock
from bot.ports.errors import RecordRejected
from bot.ports.evidence import attach_evidence
from bot.records.incident_json import read_value
from bot.slack.views.surfaces import SlackSurfaces
from bot.workflows.recall.preview_brief import PreviewBrief


def register(app: typer.Typer) -> None:
    """Add this command."""
    app.command("brief")(brief)


def brief(
    file: Annotated[str | None, typer.Argument(help="A Slack message event as JSON, or - for standard input")] = None,
    text: Annotated[str | None, typer.Option(help="The alert's text, instead of a file")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the brief as JSON")] = False,
    no_memory: Annotated[bool, typer.Option("--no-memory", help="Decide without asking memory")] = False,
    at: Annotated[str | None, typer.Option(help="The time to decide for (ISO 8601); default: the event's own")] = None,
    evidence: Annotated[bool, typer.Option("--evidence", help="Ask metrics, logs and deploys, as configured")] = False,
) -> None:
    """Print the brief that an alert would get; nothing is stored."""
    if (file is None) == (text is None):
        fail("give one of FILE (or -) and --text.", USAGE)
    if text is not None and not text.strip():
        fail("--text is empty: give the alert's text.", USAGE)
    event = {"text": text} if text is not None else parse_event(read_input(file or "-"))
    alert = read_alert(event)
    now = parse_time(at) or parse_ts(str(event.get("ts", ""))) or SystemClock().now()
    decided = run(_decide_brief(alert, now, use_memory=not no_memory, look=_build_clock(at) if evidence else None))
    if as_json:
        print_json(build_brief_json(decided, build_shape))
    else:
        print_message(SlackSurfaces().render_brief(decided))


def _build_clock(at: str | None) -> Clock:
    """Return a clock at the requested time, or else the machine's, whatever the alert's time is."""
    asked = parse_time(at)
    return StoppedClock(asked) if asked else SystemClock()


async def _decide_brief(alert: Alert, now: datetime, *, use_memory: bool, look: Clock | None) -> Brief:
    """Decide the brief. With a clock `look`, sources of evidence are asked at its time, and all answers are awaited."""
    async with open_memory(read_settings(), SystemClock(), RandomIds()) as memory:
        configuration = read_optional_configuration(read_settings().precedent_config)
        asked = None
        if look:
            gather = build_gather_evidence(
                settings=read_settings(), configuration=configuration, clock=look, memory=memory
            )
            asked = gather.ask(alert, "preview")
        brief = await PreviewBrief(memory.recall, memory.index)(alert, OPERATOR, now, use_memory=use_memory)
        return attach_evidence(brief, await asked.wait_for_all()) if asked else brief


def parse_event(text: str) -> Mapping[str, Any]:
    """Return the Slack message event in a file: the event itself, or one in an Events API envelope."""
    try:
        found = read_value(text)
    except RecordRejected as bad:
        fail(f"this {bad.reason}. Give one Slack message event as JSON, or use --text.", REFUSED)
    event = found.get("event", found) if isinstance(found, dict) else None
    if not isinstance(event, dict):
        fail("this is JSON, but no Slack message event (an object with text, blocks or attachments).", REFUSED)
    return event


def read_alert(event: Mapping[str, Any]) -> Alert:
    """Return the alert in an event; bare text is treated as an alert. Exits with 1 if the event is not one."""
    bare = set(event) == {"text"}
    posted = {"type": "message", "subtype": "bot_message", "bot_id": "B0TEXT", **event} if bare else event
    reading = read(posted, names=read_names())
    if isinstance(reading, Alert):
        return reading
    if not bare:
        fail(f"this is no alert ({reading.kind}: {reading.reason}), so it gets no brief.", REFUSED)
    text = clean(str(event["text"]))
    line = text.strip().splitlines()
    return mask_alert(Alert("generic", AlertState.FIRING, "text", title=line[0][:200] if line else None, text=text))


def parse_time(text: str | None) -> datetime | None:
    """Parse an ISO 8601 time, in UTC without an offset. Exits with 2 on anything else."""
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        fail(f"--at {text} is no time; write it like 2026-11-29T03:00:00Z.", USAGE)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
