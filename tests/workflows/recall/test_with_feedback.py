from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from bot.adapters.store import open_store
from bot.domain.access.visibility import Viewer
from bot.domain.recall.query import Query
from bot.domain.recall.ranking import Recalled
from bot.ports.errors import StoreUnavailable
from bot.ports.feedback import FeedbackStore
from bot.workflows.recall.with_feedback import UNREAD, RecallWithFeedback
from tests.databases import fresh
from tests.fakes import FakeClock, FakeIds


class Nothing:
    async def precedents(self, query: Query, viewer: Viewer) -> Recalled:
        return Recalled(known=7)


async def test_a_store_that_is_down_costs_only_what_was_said(tmp_path: Path) -> None:
    store = await open_store(fresh(tmp_path / "a.db"), FakeClock(), FakeIds())
    recall = RecallWithFeedback(Nothing(), store.feedback)
    assert await recall.precedents(Query("x"), Viewer()) == Recalled(known=7)

    class Down:
        """A feedback store that cannot be read."""

        async def list_dismissed(self, *_: object) -> None:
            raise StoreUnavailable("The database does not answer.")

    down: FeedbackStore = Down()  # type: ignore[assignment] # nothing else is asked of it
    assert await replace(recall, feedback=down).precedents(Query("x"), Viewer()) == Recalled(known=7, missing=(UNREAD,))
    await store.close()
