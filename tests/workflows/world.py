"""A world for use cases: the real store on SQLite and the real surfaces; Slack's facts and the clock are told.

The reader is told, too: an event carries its alert as a dict, so that these tests do not depend on any tool's format.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from bot.adapters.store.records.incidents import SqlIncidentStore
from bot.bootstrap.wiring.alerts import build_answer_alert
from bot.bootstrap.wiring.memory import Memory, open_memory
from bot.domain.alerts.alert import Alert, AlertState, NotAlert, PostDelivery, Severity
from bot.ports.delivery.inbox import InboxRow, ReceivedEvent
from bot.ports.delivery.outbox import Destination, OutboxRow
from bot.settings import Settings
from bot.slack.views.surfaces import SlackSurfaces
from bot.workflows.alerts.answer import AnswerAlert
from bot.workflows.recall.preview_brief import PreviewBrief
from bot.workflows.resolutions.resolve import Resolve
from tests.databases import fresh
from tests.fakes import FakeChat

START = datetime(2026, 11, 29, 3, 0, tzinfo=UTC)


class SettableClock:
    """A clock that stands until it is told to go on."""

    def __init__(self, at: datetime = START) -> None:
        self.at = at

    def now(self) -> datetime:
        return self.at

    def advance(self, **by: float) -> None:
        self.at += timedelta(**by)


class CountingIds:
    """Ids that count."""

    def __init__(self) -> None:
        self.last = 0

    def new(self) -> str:
        self.last += 1
        return f"id{self.last}"


def format_ts(at: datetime) -> str:
    return f"{int(at.timestamp())}.{at.microsecond:06d}"


def read_event(event: Mapping[str, Any]) -> Alert | NotAlert:
    said = event.get("alert")
    if said is None:
        return NotAlert("chatter", "a person talks")
    facts = {"tool": "test", "fingerprint": "payments/504", "title": "GatewayErrors", **said}
    facts["state"] = AlertState(facts.get("state", "firing"))
    facts["delivery"] = PostDelivery(facts.get("delivery", "post"))
    if facts.get("severity"):
        facts["severity"] = Severity(facts["severity"])
    return Alert(**facts)


@dataclass
class World:
    memory: Memory
    chat: FakeChat
    clock: SettableClock
    answer: AnswerAlert
    resolve: Resolve
    # Builds `answer` with other ports in place of its own.
    build_answer: Callable[..., AnswerAlert]
    posts: int = 0

    async def post(self, channel: str = "C1", *, ts: str | None = None, **alert: Any) -> str:
        """Post an alert now, work it off, and return its ts."""
        ts = ts or format_ts(self.clock.now())
        await self.answer(await self.row({"channel": channel, "ts": ts, "alert": alert}))
        return ts

    async def row(self, event: Mapping[str, Any]) -> InboxRow:
        """The event as the worker gets it."""
        self.posts += 1
        received = ReceivedEvent(f"Ev{self.posts}", f"T1/{self.posts}", "message", {"event": dict(event)})
        assert await self.memory.inbox.receive(received)
        (row,) = await self.memory.inbox.claim(10)
        return row

    async def drain_outbox(self) -> list[OutboxRow]:
        """Everything owed to Slack now, claimed and settled as delivered."""
        rows: list[OutboxRow] = []
        while claimed := await self.memory.outbox.claim(Destination.SLACK, 50):
            for row in claimed:
                await self.memory.outbox.acknowledge(row, format_ts(self.clock.now()))
            rows += claimed
        return rows


def fed(incidents: SqlIncidentStore) -> SqlIncidentStore:
    """The same store with a memory bank to feed."""
    return replace(incidents, writer=replace(incidents.writer, feeds_bank=True))


@asynccontextmanager
async def world(folder: Path) -> AsyncIterator[World]:
    clock, chat, surfaces = SettableClock(), FakeChat(), SlackSurfaces()
    settings = Settings(database_url=fresh(folder / "world.db"))
    async with open_memory(settings, clock, CountingIds()) as memory:
        build = partial(
            build_answer_alert,
            store=memory.incidents,
            preview=PreviewBrief(memory.recall, memory.index),
            chat=chat,
            surfaces=surfaces,
            clock=clock,
            read=read_event,
        )
        yield World(
            memory, chat, clock, build(), Resolve(store=memory.incidents, surfaces=surfaces, clock=clock), build
        )
