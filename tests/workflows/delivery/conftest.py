"""The outbox on a real store, with Slack and the clock faked."""

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
