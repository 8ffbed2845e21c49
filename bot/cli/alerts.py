"""`precedent alerts test`: what the bot would answer to the events in a file. Nothing is posted or stored for good.

The answers are the bot's own: each event takes the usual way, with the real memory for recall, a throw-away store for
everything that is written, and no Slack.
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
from bot.bootstrap.wiring.alerts import build_answer_alert
from bot.bootstrap.wiring.memory import Memory, open_memory
from bot.cli.parse import attach_roots, iterate_inputs, read_names
from bot.cli.plain_text import format_message
from bot.cli.run import REFUSED, read_input, read_settings, run
from bot.domain.access.visibility import Viewer
from bot.domain.alerts.alert import Alert
from bot.domain.catalog.vendors import Directory
from bot.domain.delivery.kinds import Operation
from bot.domain.recall.query import Query
from bot.domain.recall.ranking import Recalled
from bot.observability import escape_terminal_text
from bot.parsers import read
from bot.ports.chat import Channel, Posting, ThreadMessage
from bot.ports.delivery.inbox import ReceivedEvent
from bot.ports.delivery.outbox import Destination
from bot.ports.memory import Recall
from bot.records.alert_json import read_stored_alert, write_alert
from bot.slack.views.surfaces import SlackSurfaces
from bot.workflows.alerts.answer import AnswerAlert
from bot.workflows.recall.preview_brief import PreviewBrief

CHANNEL = "C0REHEARSAL"
PATIENCE = timedelta(minutes=1)
SAYS = {
    Operation.POST: "answered in its thread",
    Operation.UPDATE: "its brief is changed",
    Operation.REACT: "answered by a reaction only",
}


class NoSlack:
    """A Slack of one public channel in which nothing is posted."""

    async def deliver(self, posting: Posting) -> str | None:
        """Deliver nothing."""
        return None

    async def find_delivered(self, posting: Posting) -> str | None:
        """Find nothing."""
        return None

    async def read_channel(self, channel_id: str, *, within_s: float | None = None) -> Channel:
        """Return a public channel."""
        return Channel(channel_id)

    async def is_member(self, channel_id: str, user_id: str) -> bool:
        """Return True for everybody."""
        return True

    async def get_permalink(self, channel_id: str, ts: str) -> str | None:
        """Return no link."""
        return None

    async def read_thread(self, channel_id: str, root_ts: str) -> tuple[ThreadMessage, ...]:
        """Return an empty thread."""
        return ()

    async def read_message(self, channel_id: str, ts: str) -> ThreadMessage | None:
        """Return no message."""
        return None

    async def open_direct_message(self, user_id: str) -> str:
        """Return a conversation for each person."""
        return f"D{user_id}"


@dataclass(frozen=True, slots=True)
class UnfilteredRecall:
    """Asks the real memory without excluding an incident: the ids of a test run mean nothing there."""

    recall: Recall

    async def precedents(self, query: Query, viewer: Viewer) -> Recalled:
        """Return what the memory returns."""
        return await self.recall.precedents(replace(query, exclude=frozenset()), viewer)


@dataclass(slots=True)
class AdvancingClock:
    """A clock that is advanced where the bot would wait before it edits a message."""

    ahead: timedelta = timedelta()

    def now(self) -> datetime:
        """Return the machine's time plus the advance."""
        return SystemClock().now() + self.ahead


@dataclass(slots=True)
class Rehearsal:
    """One run over the events of a file."""

    kept: Memory
    answer: AnswerAlert
    clock: AdvancingClock
    told: int = 0

    async def take(self, event: Mapping[str, Any], alert: Alert) -> Iterator[str]:
        """Yield what the bot would do with this alert, as text."""
        self.told += 1
        placed = {"ts": f"{self.told}.000000", **event, "channel": CHANNEL, "alert": write_alert(alert)}
        before = await self.kept.incidents.find_latest_lifecycle(alert.fingerprint, "public")
        await self.kept.inbox.receive(ReceivedEvent(f"{self.told}", f"{self.told}", "message", {"event": placed}))
        for row in await self.kept.inbox.claim(1):
            await self.answer(row)
        after = await self.kept.incidents.find_latest_lifecycle(alert.fingerprint, "public")
        return iter((_format_change(before, after), *[said async for said in self._read_outbox(str(placed["ts"]))]))

    async def _read_outbox(self, ts: str) -> AsyncIterator[str]:
        """Yield what is queued for Slack now, as text, and mark it delivered."""
        self.clock.ahead += PATIENCE
        for row in await self.kept.outbox.claim(Destination.SLACK, 50):
            await self.kept.outbox.acknowledge(row, ts)
            payload, said = row.entry.payload, SAYS.get(row.entry.operation, row.entry.operation)
            text = format_message(payload) if row.entry.operation == Operation.POST else str(payload.get("text", ""))
            yield f"{said}:\n\n{text}\n" if text else said


def _format_change(before: Any, after: Any) -> str:
    if after is None:
        return "it opens nothing, and there is nothing that it could change"
    if before is None or before.incident_id != after.incident_id:
        return f"it opens an incident ({after.incident_id} of this rehearsal)"
    if before.state is not after.state:
        return f"{after.incident_id} is {after.state.value} now"
    return f"it belongs to {after.incident_id}, which stays {after.state.value}"


def _format_headline(alert: Alert) -> str:
    facts = {"severity": alert.severity, "service": alert.service, "vendor": alert.vendor, "region": alert.region}
    stated = [f"{name} {getattr(value, 'value', value)}" for name, value in facts.items() if value]
    about = ", ".join([alert.state.value, *stated])
    return f"an alert, read as {alert.tool}: {alert.title or 'without a name'} ({about})"


@asynccontextmanager
async def _open_rehearsal() -> AsyncIterator[Rehearsal]:
    clock, config = AdvancingClock(), read_settings()
    with tempfile.TemporaryDirectory(prefix="precedent-") as folder:
        thrown_away = config.model_copy(
            update={"database_url": f"sqlite+aiosqlite:///{Path(folder) / 'rehearsal.db'}", "hindsight_url": None}
        )
        async with (
            open_memory(config, clock, RandomIds()) as real,
            open_memory(thrown_away, clock, RandomIds()) as kept,
        ):
            recall = UnfilteredRecall(real.recall)
            answer = build_answer_alert(
                store=kept.incidents,
                preview=PreviewBrief(recall, real.index),
                chat=NoSlack(),
                surfaces=SlackSurfaces(),
                clock=clock,
                read=read_stored_alert,
            )
            yield Rehearsal(kept, answer, clock)


async def _run_test(events: list[tuple[int, Mapping[str, Any]]], names: Directory) -> None:
    async with _open_rehearsal() as rehearsal:
        for line, event in events:
            reading = read(event, names=names)
            if not isinstance(reading, Alert):
                typer.echo(
                    escape_terminal_text(
                        f"line {line}: no alert ({reading.kind}): {reading.reason}. The bot says nothing."
                    )
                    + "\n"
                )
                continue
            said = await rehearsal.take(event, reading)
            typer.echo(
                "\n".join(
                    map(
                        escape_terminal_text,
                        "\n".join((f"line {line}: {_format_headline(reading)}", *said)).split("\n"),
                    )
                )
            )


def _parse_events(text: str) -> Iterator[tuple[int, Mapping[str, Any] | None, str]]:
    """Read one JSON document, or else JSON Lines."""
    whole = tuple(iterate_inputs(text, lines=False))
    given = whole if whole[0].event is not None else tuple(iterate_inputs(text, lines=True))
    yield from ((one.line, one.event, one.problem) for one in attach_roots(given))


def test(
    source: Annotated[
        str, typer.Argument(metavar="FILE", help="Slack message events, one or one a line; - for standard input")
    ],
) -> None:
    """Show what the bot would answer to the events in FILE, one after the other; nothing is stored or posted."""
    good, bad = [], []
    for line, event, problem in _parse_events(read_input(source)):
        if event is None:
            bad.append(f"precedent alerts test: line {line}: {problem}")
        else:
            good.append((line, event))
    for sentence in bad:
        typer.echo(escape_terminal_text(sentence), err=True)
    if good:
        run(_run_test(good, read_names()))
    if bad or not good:
        raise typer.Exit(REFUSED)


def register(app: typer.Typer) -> None:
    """Add this family's commands."""
    family = typer.Typer(no_args_is_help=True, help="Try how alert posts are read and answered.")
    family.command("test")(test)
    app.add_typer(family, name="alerts")
