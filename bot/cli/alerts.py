"""`precedent alerts test`: what the bot would answer to events in a file. Must not post anything, or store it for good.

The answers are the bot's own: the same work on each event, with the real memory for recall, a store that is thrown away
for everything that would be kept, and no Slack.
"""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import typer

from bot.bootstrap.system import RandomIds, SystemClock
from bot.bootstrap.wiring.memory import Memory, open_memory
from bot.cli.parse import inputs, names_of, with_roots
from bot.cli.plain_text import message_text
from bot.cli.run import REFUSED, read_input, run, settings
from bot.domain.access.visibility import Viewer
from bot.domain.alerts.alert import Alert
from bot.domain.catalog.vendors import Directory
from bot.domain.recall.query import Query
from bot.domain.recall.ranking import Recalled
from bot.observability import tame
from bot.parsers import read
from bot.ports.chat import Channel, Posting, Said
from bot.ports.memory import Recall
from bot.ports.unit_of_work import Destination, Received
from bot.records.alert_json import stored_reading, write_alert
from bot.slack.views.surfaces import SlackSurfaces
from bot.workflows.alerts.answer import AnswerAlert

CHANNEL = "C0REHEARSAL"
PATIENCE = timedelta(minutes=1)
SAYS = {"post": "answered in its thread", "update": "its brief is changed", "react": "answered by a reaction only"}


class NoSlack:
    """A Slack of one public channel, in which nothing is posted."""

    async def deliver(self, posting: Posting) -> str | None:
        """Nothing is delivered."""
        return None

    async def find(self, posting: Posting) -> str | None:
        """Nothing is there."""
        return None

    async def channel(self, channel_id: str, *, within_s: float | None = None) -> Channel:
        """A public channel."""
        return Channel(channel_id)

    async def is_member(self, channel_id: str, user_id: str) -> bool:
        """Everybody is."""
        return True

    async def permalink(self, channel_id: str, ts: str) -> str | None:
        """There are no links."""
        return None

    async def thread(self, channel_id: str, root_ts: str) -> tuple[Said, ...]:
        """Nobody writes."""
        return ()

    async def said(self, channel_id: str, ts: str) -> Said | None:
        """Nobody wrote."""
        return None

    async def direct(self, user_id: str) -> str:
        """A conversation for each person."""
        return f"D{user_id}"


@dataclass(frozen=True, slots=True)
class AllOf:
    """The real memory, asked without leaving out an incident: the ids of a rehearsal are none of its own."""

    recall: Recall

    async def precedents(self, query: Query, viewer: Viewer) -> Recalled:
        """What the memory answers."""
        return await self.recall.precedents(replace(query, exclude=frozenset()), viewer)


@dataclass(slots=True)
class AheadClock:
    """A clock that is put ahead where the bot would wait before it changes a message."""

    ahead: timedelta = timedelta()

    def now(self) -> datetime:
        """The machine's time, and what it was put ahead."""
        return SystemClock().now() + self.ahead


@dataclass(slots=True)
class Rehearsal:
    """One run over the events of a file."""

    kept: Memory
    answer: AnswerAlert
    clock: AheadClock
    told: int = 0

    async def take(self, event: Mapping[str, Any], alert: Alert) -> Iterator[str]:
        """What the bot would do with this alert, in words."""
        self.told += 1
        placed = {"ts": f"{self.told}.000000", **event, "channel": CHANNEL, "alert": write_alert(alert)}
        before = await self.kept.incidents.latest_life(alert.fingerprint, "public")
        await self.kept.inbox.receive(Received(f"{self.told}", f"{self.told}", "message", {"event": placed}))
        for row in await self.kept.inbox.take(1):
            await self.answer(row)
        after = await self.kept.incidents.latest_life(alert.fingerprint, "public")
        return iter((_change(before, after), *[said async for said in self._owed(str(placed["ts"]))]))

    async def _owed(self, ts: str) -> AsyncIterator[str]:
        """What is owed to Slack now, as text; it counts as delivered."""
        self.clock.ahead += PATIENCE
        for row in await self.kept.outbox.claim(Destination.SLACK, 50):
            await self.kept.outbox.settle(row, ts)
            payload, said = row.owed.payload, SAYS.get(row.owed.operation, row.owed.operation)
            text = message_text(payload) if row.owed.operation == "post" else str(payload.get("text", ""))
            yield f"{said}:\n\n{text}\n" if text else said


def _change(before: Any, after: Any) -> str:
    if after is None:
        return "it opens nothing, and there is nothing that it could change"
    if before is None or before.incident_id != after.incident_id:
        return f"it opens an incident ({after.incident_id} of this rehearsal)"
    if before.state is not after.state:
        return f"{after.incident_id} is {after.state.value} now"
    return f"it belongs to {after.incident_id}, which stays {after.state.value}"


def _headline(alert: Alert) -> str:
    facts = {"severity": alert.severity, "service": alert.service, "vendor": alert.vendor, "region": alert.region}
    stated = [f"{name} {getattr(value, 'value', value)}" for name, value in facts.items() if value]
    about = ", ".join([alert.state.value, *stated])
    return f"an alert, read as {alert.tool}: {alert.title or 'without a name'} ({about})"


@asynccontextmanager
async def _rehearsal() -> AsyncIterator[Rehearsal]:
    clock, config = AheadClock(), settings()
    with tempfile.TemporaryDirectory(prefix="precedent-") as folder:
        thrown_away = config.model_copy(
            update={"database_url": f"sqlite+aiosqlite:///{Path(folder) / 'rehearsal.db'}", "hindsight_url": None}
        )
        async with (
            open_memory(config, clock, RandomIds()) as real,
            open_memory(thrown_away, clock, RandomIds()) as kept,
        ):
            recall = AllOf(real.recall)
            answer = AnswerAlert(kept.incidents, recall, real.index, NoSlack(), SlackSurfaces(), clock, stored_reading)
            yield Rehearsal(kept, answer, clock)


async def _tested(events: list[tuple[int, Mapping[str, Any]]], names: Directory) -> None:
    async with _rehearsal() as rehearsal:
        for line, event in events:
            reading = read(event, names=names)
            if not isinstance(reading, Alert):
                typer.echo(
                    tame(f"line {line}: no alert ({reading.kind}): {reading.reason}. The bot says nothing.") + "\n"
                )
                continue
            said = await rehearsal.take(event, reading)
            typer.echo("\n".join(map(tame, "\n".join((f"line {line}: {_headline(reading)}", *said)).split("\n"))))


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
        typer.echo(tame(sentence), err=True)
    if good:
        run(_tested(good, names_of()))
    if bad or not good:
        raise typer.Exit(REFUSED)


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    family = typer.Typer(no_args_is_help=True, help="Try how alert posts are read and answered.")
    family.command("test")(test)
    app.add_typer(family, name="alerts")
