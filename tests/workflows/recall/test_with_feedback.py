from __future__ import annotations

from pathlib import Path

import pytest

from bot.adapters.store import open_store
from bot.domain.access.visibility import Viewer
from bot.domain.recall.query import Query
from bot.domain.recall.ranking import Recalled
from bot.ports.errors import StoreUnavailable
from bot.workflows.recall.with_feedback import UNREAD, RecallWithFeedback
from tests.databases import fresh
from tests.fakes import FakeClock, FakeIds


class Nothing:
    async def precedents(self, query: Query, viewer: Viewer) -> Recalled:
        return Recalled(known=7)


async def test_a_store_that_is_down_costs_only_what_was_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = await open_store(fresh(tmp_path / "a.db"), FakeClock(), FakeIds())
    recall = RecallWithFeedback(Nothing(), store.feedback)
    assert await recall.precedents(Query("x"), Viewer()) == Recalled(known=7)

    async def down(*_: object) -> None:
        raise StoreUnavailable("The database does not answer.")

    monkeypatch.setattr(type(store.feedback), "list_dismissed", down)
    assert await recall.precedents(Query("x"), Viewer()) == Recalled(known=7, missing=(UNREAD,))
    await store.close()
