"""What is said and measured about owed work: once each, and never a number of yesterday."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from prometheus_client import generate_latest

from bot.adapters.store import Store, open_store
from bot.domain.delivery.kinds import Operation
from bot.observability import REGISTRY, configure_logging
from bot.ports.chat import Posting
from bot.ports.delivery.inbox import ReceivedEvent
from bot.ports.delivery.outbox import Destination, build_outbox_entry
from bot.ports.unit_of_work import Changes
from bot.workflows.delivery.watch_outbox import WatchOutbox
from bot.workflows.operations.status import ReportStatus, StatusLine
from tests.databases import fresh
from tests.fakes import FakeClock, FakeIds


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def store(clock: FakeClock, tmp_path: Path) -> AsyncIterator[Store]:
    store = await open_store(fresh(tmp_path / "test.db"), clock, FakeIds())
    yield store
    await store.close()


async def owe(store: Store, *names: str) -> None:
    rows = tuple(build_outbox_entry(Posting(Operation.POST, "C1", name, "text"), key=name) for name in names)
    await store.incidents.commit(Changes(deliveries=rows))


def gauge(line: str) -> str:
    found = [row for row in generate_latest(REGISTRY).decode().splitlines() if row.startswith(line + " ")]
    return found[0].split()[-1] if found else "none"


async def test_gauges_follow_the_rows_down_to_nothing(store: Store, clock: FakeClock) -> None:
    watch = WatchOutbox(store.outbox, store.inbox_admin, clock)
    await owe(store, "a", "b")
    await store.inbox.receive(ReceivedEvent("Ev1", "k", "message", {}))
    clock.move(60)
    await watch()
    assert gauge('precedent_outbox_rows{state="slack.pending"}') == "2.0"
    assert gauge("precedent_outbox_oldest_pending_seconds") == "60.0"
    assert gauge('precedent_inbox_rows{state="pending"}') == "1.0"
    for row in await store.outbox.claim(Destination.SLACK, 5):
        await store.outbox.acknowledge(row, None)
    await watch()
    assert gauge('precedent_outbox_rows{state="slack.pending"}') == "0.0"
    assert gauge('precedent_outbox_rows{state="slack.sent"}') == "2.0"
    assert gauge("precedent_outbox_oldest_pending_seconds") == "0.0"


async def test_lateness_is_said_once_for_each_time_that_it_begins(
    store: Store, clock: FakeClock, capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logging("WARNING")
    watch = WatchOutbox(store.outbox, store.inbox_admin, clock)
    await owe(store, "a")
    said = []
    for minutes in (14, 1, 5, 60):
        clock.move(minutes * 60)
        await watch()
        said.append("deliveries are late" in capsys.readouterr().err)
    assert said == [False, True, False, False]
    (row,) = await store.outbox.claim(Destination.SLACK, 5)
    await store.outbox.acknowledge(row, None)
    await watch()
    assert "no delivery is late any more" in capsys.readouterr().err
    await owe(store, "b")
    clock.move(15 * 60)
    await watch()
    assert "deliveries are late" in capsys.readouterr().err


async def test_status_says_what_waits_what_was_given_up_and_what_is_paused(store: Store, clock: FakeClock) -> None:
    paused: dict[str, str] = {}
    status = ReportStatus(
        health=store.health,
        outbox=store.outbox,
        index=store.index,
        clock=clock,
        memory="embedded",
        model="off",
        version="1",
        events=store.inbox_admin,
        paused=lambda: paused,
    )

    async def line(name: str) -> StatusLine | None:
        return next((line for line in await status() if line.name == name), None)

    assert await line("Outbox") == StatusLine("Outbox", True, "0 waiting")
    assert await line("Inbox") == StatusLine("Inbox", True, "0 waiting")
    assert await line("Delivery to bank") is None
    await owe(store, "a", "b")
    dead, _ = await store.outbox.claim(Destination.SLACK, 2)
    await store.outbox.dead_letter(dead, "refused")
    for number in (1, 2):
        await store.inbox.receive(ReceivedEvent(f"Ev{number}", str(number), "message", {}))
    event, _ = await store.inbox.claim(2)
    await store.inbox.give_up(event, "bug")
    paused["bank"] = "The key is refused."
    clock.move(60)
    said = "1 waiting, oldest 1 min, 1 refused: see `precedent outbox list`"
    assert await line("Outbox") == StatusLine("Outbox", False, said)
    assert await line("Inbox") == StatusLine("Inbox", False, "1 waiting, 1 given up: see `precedent inbox list`")
    told = await line("Delivery to bank")
    assert told == StatusLine("Delivery to bank", False, "paused, tried again every minute: The key is refused.")
