"""`precedent alerts test`: what the bot would answer to events in a file. Must not store, post or decide anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
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
from bot.domain.lifecycle import Happened, happened
from bot.domain.notice import Notice, notice_of
from bot.domain.opening import posted_at, view_of
from bot.domain.query import OPERATOR
from bot.domain.replay import Chapter, replay
from bot.domain.vendors import Directory
from bot.ports.store import IncidentStore, Kept
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
    store: IncidentStore
    kept: dict[str, Kept] = field(default_factory=dict)
    opened: int = 0

    async def answer(self, alert: Alert, at: datetime, ts: str, root_ts: str) -> str:
        """What the bot would do with this alert, in words, and the brief as text where there would be one."""
        notice = notice_of(alert, at, "public", "C0", ts, root_ts)
        kept = self.kept.get(alert.fingerprint) or await self.store.kept(notice)
        told = replay((*kept.notices, notice), kept.lives)
        chapters = tuple(self._named(chapter) for chapter in told.chapters)
        notices = tuple(n for chapter in chapters for n in chapter.notices)
        self.kept[alert.fingerprint] = Kept(tuple(chapter.life for chapter in chapters), (*notices, *told.early))
        chapter = next((c for c in chapters if any(n.key == notice.key for n in c.notices)), None)
        if chapter is None:
            return f"opens nothing: there is no incident that it could change, and {alert.state.value} opens none"
        before = next((life for life in kept.lives if life.incident_id == chapter.life.incident_id), None)
        did = happened(before, chapter.life, notice)
        if did is not Happened.OPENED:
            return SAYS.get(did, "changes nothing to show of {id}").format(id=chapter.life.incident_id)
        brief = await self.preview(alert, OPERATOR, at, incident=view_of(chapter.life))
        return f"opens {chapter.life.incident_id}\n{_shown(brief, alert)}"

    def _named(self, chapter: Chapter) -> Chapter:
        """The chapter; where it is new, with a name for its incident."""
        if chapter.life.incident_id:
            return chapter
        self.opened += 1
        name = f"a new incident ({self.opened})"
        notices: tuple[Notice, ...] = tuple(replace(n, incident_id=name) for n in chapter.notices)
        return replace(chapter, life=replace(chapter.life, incident_id=name), notices=notices)


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
        rehearsal = Rehearsal(PreviewBrief(memory.recall, memory.index), memory.incidents)
        for line, event in events:
            reading = read(event, names=names)
            if not isinstance(reading, Alert):
                typer.echo(f"line {line}: no alert ({reading.kind}): {reading.reason}. The bot says nothing.")
                continue
            at = posted_at(str(event.get("event_ts") or event.get("ts") or "")) or clock.now()
            ts = str(event.get("ts") or line)
            answer = await rehearsal.answer(reading, at, ts, str(event.get("thread_ts") or ts))
            typer.echo(f"line {line}: {_headline(reading)}\n{answer}\n")


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
