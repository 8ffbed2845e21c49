"""Slow calls hold up nobody, least of all an answer to a person; edits wait for what is new."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.adapters.store import Store, open_store
from bot.domain.delivery.kinds import Operation
from bot.ports.chat import Posting
from bot.ports.delivery.outbox import Destination, OutboxEntry, OutboxRow
from bot.ports.unit_of_work import Changes
from bot.workflows.delivery.deliver import AT_ONCE, RESERVED_FOR_PEOPLE, Deliver
from bot.workflows.delivery.policy import schedule
from tests.databases import fresh
from tests.fakes import START, FakeChat, FakeClock, FakeIds


class SlowChat(FakeChat):
    """Posts whose id begins with "slow" wait until they are let go."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__(clock=clock.now)
        self.let_go, self.begun = asyncio.Event(), 0

    async def deliver(self, posting: Posting) -> str | None:
        if posting.delivery_id.startswith("slow"):
            self.begun += 1
            await self.let_go.wait()
        return await super().deliver(posting)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await open_store(fresh(tmp_path / "test.db"), FakeClock(), FakeIds())
    yield store
    await store.close()


def owed(
    delivery_id: str, channel: str = "C1", *, urgent: bool = False, operation: Operation = Operation.POST
) -> OutboxEntry:
    payload = {"operation": operation, "channel": channel, "delivery_id": delivery_id, "text": "t"}
    return OutboxEntry(Destination.SLACK, operation, delivery_id, delivery_id, payload, urgent=urgent)


async def test_an_answer_to_a_person_goes_out_while_slow_calls_take_all_other_places(store: Store) -> None:
    clock = FakeClock()
    chat = SlowChat(clock)
    deliver = Deliver(outbox=store.outbox, chat=chat, clock=clock)
    slow = [owed(f"slow{n}", f"C{n}") for n in range(AT_ONCE[Destination.SLACK] + 5)]
    await store.incidents.commit(Changes(deliveries=tuple(slow)))
    for _ in range(3):
        await deliver.drain(Destination.SLACK, patience_s=0.01)
    assert chat.begun == AT_ONCE[Destination.SLACK] - RESERVED_FOR_PEOPLE[Destination.SLACK]
    await store.incidents.commit(Changes(deliveries=(owed("brief", "C99"), owed("person", "C98", urgent=True))))
    await deliver.drain(Destination.SLACK, patience_s=0.01)
    await asyncio.sleep(0.05)
    assert [p.delivery_id for _, p in chat.posted] == ["person"]
    chat.let_go.set()
    while await deliver.drain_once() == 0.0:
        pass
    assert len(chat.posted) == len(slow) + 2
    assert await store.outbox.count_rows() == {"slack.sent": len(slow) + 2}


async def test_a_stop_waits_for_what_is_under_way_and_gives_the_rest_back(store: Store) -> None:
    clock = FakeClock()
    chat = SlowChat(clock)
    deliver = Deliver(outbox=store.outbox, chat=chat, clock=clock)
    await store.incidents.commit(Changes(deliveries=(owed("slow1"),)))
    await deliver.drain(Destination.SLACK, patience_s=0.01)
    asyncio.get_running_loop().call_later(0.05, chat.let_go.set)
    assert await deliver.release(5.0) == 0
    assert await store.outbox.count_rows() == {"slack.sent": 1}
    chat.let_go.clear()
    await store.incidents.commit(Changes(deliveries=(owed("slow2", "C2"),)))
    await deliver.drain(Destination.SLACK, patience_s=0.01)
    assert await deliver.release(0.01) == 1
    assert await store.outbox.count_rows() == {"slack.pending": 1, "slack.sent": 1}


def test_people_first_then_what_is_new_then_edits() -> None:
    def row(name: str, operation: Operation, *, urgent: bool = False) -> OutboxRow:
        return OutboxRow(1, owed(name, urgent=urgent, operation=operation), "lease", 1, uncertain=False)

    grown = replace(row("summary that grew", Operation.POST), own_result="1.1")
    rows = [
        row("edit", Operation.UPDATE),
        grown,
        row("brief", Operation.POST),
        row("answer", Operation.UPDATE, urgent=True),
    ]
    waits = schedule(rows, {}, START)
    assert [(r.entry.delivery_id, wait) for r, wait in waits] == [
        ("answer", 0.0), ("brief", 1.0), ("edit", 2.0), ("summary that grew", 3.0),
    ]  # fmt: skip
