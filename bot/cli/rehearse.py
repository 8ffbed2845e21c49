"""`precedent alerts test`: what the bot would answer to events in a file. Must not store, post or decide anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any

import typer

from bot.alerts import read
from bot.bootstrap.memory import open_memory
from bot.bootstrap.system import RandomIds, SystemClock
from bot.cli.alerts import inputs, names_of, with_roots
from bot.cli.run import REFUSED, read_input, run, settings
from bot.cli.show import message_text
from bot.domain.alert import Alert, Severity
from bot.domain.brief import Brief
from bot.domain.lifecycle import Happened, Life, advance, opens
from bot.domain.opening import posted_at, view_of
from bot.domain.query import OPERATOR
from bot.domain.vendors import Directory
from bot.slack.messages import SlackSurfaces
from bot.workflows.brief import PreviewBrief

QUIET = frozenset({Severity.WARNING, Severity.INFO})
SAYS = {
    Happened.REOPENED: "reopens {id}: its brief is updated",
    Happened.REPEATED: "fires again as {id}: its brief is updated, no second one",
    Happened.CLEARED: "clears {id}: its brief is updated",
    Happened.ACKNOWLEDGED: "acknowledges {id}: its brief is updated",
    Happened.ESCALATED: "escalates {id}: its brief is updated",
    Happened.UPDATED: "updates {id}: its brief is updated",
}


@dataclass(slots=True)
class Rehearsal:
    """The lives that the events of the file would make, on top of those that the store holds."""

    preview: PreviewBrief
    latest: Any
    lives: dict[str, Life] = field(default_factory=dict)
    opened: int = 0

    async def answer(self, alert: Alert, at: datetime) -> str:
        """What the bot would do with this alert, in words, and the brief as text where there would be one."""
        before = self.lives.get(alert.fingerprint) or await self.latest(alert.fingerprint, "public")
        new_id = f"a new incident ({self.opened + 1})" if opens(before, alert, at) else None
        self.opened += new_id is not None
        step = advance(before, alert, at, new_id=new_id)
        if step.life is None:
            return f"opens nothing: there is no incident that it could change, and {alert.state.value} opens none"
        self.lives[alert.fingerprint] = step.life
        if step.happened is not Happened.OPENED:
            return SAYS.get(step.happened, "changes nothing to show of {id}").format(id=step.life.incident_id)
        brief = await self.preview(alert, OPERATOR, at, incident=view_of(step.life))
        return f"opens {step.life.incident_id}\n{_shown(brief, alert)}"


def _shown(brief: Brief, alert: Alert) -> str:
    """The brief as the thread would show it, or that there would be a reaction only."""
    if brief.insufficient_memory and alert.severity in QUIET:
        return "answered by a reaction only: memory knows nothing alike, and the alert is no urgent one"
    message = SlackSurfaces().brief(brief)
    return "answered in its thread:\n\n" + message_text({"text": message.text, "blocks": message.blocks})


def _headline(alert: Alert) -> str:
    facts = {"severity": alert.severity, "service": alert.service, "vendor": alert.vendor, "region": alert.region}
    stated = ", ".join(f"{name} {getattr(value, 'value', value)}" for name, value in facts.items() if value)
    return f"an alert, read as {alert.tool}: {alert.title or 'without a name'} ({alert.state.value}{', ' + stated if stated else ''})"


async def _tested(events: list[tuple[int, Mapping[str, Any]]], names: Directory) -> None:
    clock = SystemClock()
    async with open_memory(settings(), clock, RandomIds()) as memory:
        rehearsal = Rehearsal(PreviewBrief(memory.recall, memory.index), memory.incidents.latest_life)
        for line, event in events:
            reading = read(event, names=names)
            if not isinstance(reading, Alert):
                typer.echo(f"line {line}: no alert ({reading.kind}): {reading.reason}. The bot says nothing.")
                continue
            at = posted_at(str(event.get("event_ts") or event.get("ts") or "")) or clock.now()
            typer.echo(f"line {line}: {_headline(reading)}\n{await rehearsal.answer(reading, at)}\n")


def _events(text: str) -> Iterator[tuple[int, Mapping[str, Any] | None, str]]:
    """One JSON document, else JSON Lines."""
    whole = tuple(inputs(text, lines=False))
    given = whole if whole[0].event is not None else tuple(inputs(text, lines=True))
    yield from ((one.line, one.event, one.problem) for one in with_roots(given))


def test(
    source: Annotated[
        str, typer.Argument(metavar="FILE", help="Slack message events, one or one a line; - for standard input")
    ],
) -> None:
    """Show what the bot would answer to the events in FILE, one after the other; nothing is stored or posted."""
    good, bad = [], []
    for line, event, problem in _events(read_input(source)):
        if event is None:
            bad.append(f"precedent alerts test: line {line}: {problem}")
        else:
            good.append((line, event))
    for sentence in bad:
        typer.echo(sentence, err=True)
    if good:
        run(_tested(good, names_of()))
    if bad or not good:
        raise typer.Exit(REFUSED)


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    family = typer.Typer(no_args_is_help=True, help="Try how alert posts are read and answered.")
    family.command("test")(test)
    app.add_typer(family, name="alerts")
