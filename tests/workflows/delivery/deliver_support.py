"""What tests of deliver share with other tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.adapters.store import Store, open_store
from bot.workflows.delivery.deliver import Deliver
from tests.databases import fresh
from tests.fakes import FakeChat, FakeClock, FakeIds


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def chat(clock: FakeClock) -> FakeChat:
    return FakeChat(clock=clock.now)


@pytest.fixture
async def store(clock: FakeClock, tmp_path: Path) -> AsyncIterator[Store]:
    store = await open_store(fresh(tmp_path / "test.db"), clock, FakeIds())
    yield store
    await store.close()


@pytest.fixture
def deliver(store: Store, chat: FakeChat, clock: FakeClock) -> Deliver:
    return Deliver(outbox=store.outbox, chat=chat, clock=clock, chance=lambda: 0.5)


async def drain(deliver: Deliver, clock: FakeClock, seconds: int) -> None:
    """Look four times a second as the bot does, or once where it is about long waits."""
    step_s = 0.25 if seconds < 30 else 1.0
    for _ in range(int(seconds / step_s)):
        while await deliver.drain_once() == 0.0:
            pass
        clock.move(step_s)
