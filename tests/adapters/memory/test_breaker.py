"""The circuit breaker: a dead bank costs the first alerts their wait, and one probe from time to time."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta

import pytest

from bot.adapters.memory.breaker import Circuit, GuardedBank, admit_call, note_failure
from bot.domain.access.visibility import Viewer
from bot.domain.incidents.record import Incident
from bot.domain.recall.query import OPERATOR, Query
from bot.ports.errors import MemoryRejected, MemoryUnavailable
from bot.ports.memory import BankHit
from tests.fakes import START, FakeClock, FakeMemoryBank

ASKED = Query("gateway")
RECORD = Incident("INC-1", "Gateway timeouts")


@dataclass
class Counted(FakeMemoryBank):
    """Counts its calls; `slow` ones never answer, `refusing` ones refuse."""

    calls: int = 0
    slow: bool = False
    refusing: bool = False

    async def recall(self, query: Query, limit: int, viewer: Viewer = OPERATOR) -> tuple[BankHit, ...]:
        self.calls += 1
        if self.slow:
            await asyncio.sleep(60)
        if self.refusing:
            raise MemoryRejected("Hindsight refuses this (HTTP 422).")
        return await FakeMemoryBank.recall(self, query, limit, viewer)

    async def retain(self, incident: Incident) -> None:
        self.calls += 1
        if self.refusing:
            raise MemoryRejected("Hindsight refuses this (HTTP 422).")
        await FakeMemoryBank.retain(self, incident)


async def fails(guarded: GuardedBank) -> str:
    with pytest.raises(MemoryUnavailable) as caught:
        await guarded.recall(ASKED, 5)
    return str(caught.value)


def test_closed_open_half_open() -> None:
    closed = Circuit()
    assert admit_call(closed, START, 3) is closed
    once = note_failure(closed, START, "down")
    assert admit_call(once, START, 3) is once
    opened = note_failure(once, START, "down")
    assert admit_call(opened, START + timedelta(seconds=4.9), 3) is None
    probing = admit_call(opened, START + timedelta(seconds=5), 3)
    assert probing is not None
    assert admit_call(probing, START + timedelta(seconds=7), 3) is None
    assert admit_call(probing, START + timedelta(seconds=8), 3) is not None


def test_each_failed_probe_doubles_the_wait_up_to_a_minute() -> None:
    circuit, waits = Circuit(), []
    for _ in range(8):
        circuit = note_failure(circuit, START, "down")
        waits.append((circuit.open_until - START).total_seconds() if circuit.open_until else None)
    assert waits == [None, 5, 10, 20, 40, 60, 60, 60]


async def test_a_dead_bank_costs_only_the_first_calls_and_comes_back() -> None:
    bank, clock = Counted(down=True), FakeClock()
    guarded = GuardedBank(bank, clock)
    said = [await fails(guarded) for _ in range(20)]
    assert bank.calls == 2
    assert said[0] == "The memory bank cannot be reached; start it."
    assert said[-1] == "The memory bank cannot be reached; start it. It is not asked again for a while."
    clock.move(5)
    await fails(guarded)
    await fails(guarded)
    assert bank.calls == 3
    bank.down = False
    clock.move(10)
    assert await guarded.recall(ASKED, 5) == ()
    assert guarded.reading == Circuit()
    await guarded.recall(ASKED, 5)
    assert bank.calls == 5


async def test_a_slow_bank_is_cut_off_and_one_probe_goes_at_a_time() -> None:
    bank, clock = Counted(slow=True), FakeClock()
    guarded = GuardedBank(bank, clock, recall_s=0.02)
    assert "did not answer within 0.02 s" in await fails(guarded)
    await fails(guarded)
    clock.move(5)
    await asyncio.gather(*(fails(guarded) for _ in range(10)))
    assert bank.calls == 3


async def test_a_probe_that_was_given_up_blocks_nobody_for_long() -> None:
    bank, clock = Counted(down=True), FakeClock()
    guarded = GuardedBank(bank, clock, recall_s=3)
    await fails(guarded)
    await fails(guarded)
    clock.move(5)
    bank.down, bank.slow = False, True
    probe = asyncio.ensure_future(guarded.recall(ASKED, 5))
    await asyncio.sleep(0.01)
    probe.cancel()
    bank.slow = False
    await fails(guarded)
    clock.move(3)
    assert await guarded.recall(ASKED, 5) == ()


async def test_a_refusal_is_an_answer() -> None:
    bank = Counted(refusing=True)
    guarded = GuardedBank(bank, FakeClock())
    for _ in range(5):
        with pytest.raises(MemoryRejected):
            await guarded.recall(ASKED, 5)
        with pytest.raises(MemoryRejected):
            await guarded.retain(RECORD)
    assert bank.calls == 10


async def test_writes_have_a_circuit_of_their_own() -> None:
    bank, clock = Counted(down=True), FakeClock()
    guarded = GuardedBank(bank, clock)
    for _ in range(5):
        with pytest.raises(MemoryUnavailable):
            await guarded.retain(RECORD)
    assert bank.calls == 2
    with pytest.raises(MemoryUnavailable):
        await guarded.retract("INC-1")
    bank.down = False
    assert await guarded.recall(ASKED, 5) == ()
    clock.move(5)
    await guarded.retain(RECORD)
    await guarded.retract("INC-1")
    assert bank.kept == {}
