"""Files that are owed: drawn when they are sent, after the text that they belong to, once; a failure costs no more."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.adapters.store import Store, open_store
from bot.domain.delivery.kinds import Operation
from bot.domain.reports.digest_chart import DigestChart
from bot.ports.chat import Posting
from bot.ports.delivery.outbox import OutboxEntry, build_outbox_entry
from bot.ports.errors import (
    ChartUnavailable,
    ChatAuthRejected,
    ChatOutcomeUnknown,
    ChatRejected,
    ChatUnavailable,
    IncidentNotFound,
    RecordRejected,
)
from bot.ports.files import build_picture_upload, build_postmortem_upload, read_chart
from bot.ports.unit_of_work import Changes
from bot.workflows.delivery.deliver import Deliver
from tests.databases import fresh
from tests.fakes import FakeChat, FakeClock, FakeIds
from tests.workflows.delivery.deliver_support import drain

CHART = DigestChart("Week", "7 incidents", (), 0, (), "in words")


class ScriptedFiles:
    """Makes a file of its title, or fails as told."""

    def __init__(self) -> None:
        self.made: list[str] = []
        self.broken: Exception | None = None

    async def build_content(self, posting: Posting) -> bytes:
        if self.broken:
            raise self.broken
        self.made.append(posting.delivery_id)
        return str(posting.extra["title"]).encode()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def store(clock: FakeClock, tmp_path: Path) -> AsyncIterator[Store]:
    store = await open_store(fresh(tmp_path / "test.db"), clock, FakeIds())
    yield store
    await store.close()


def digest_rows() -> tuple[OutboxEntry, OutboxEntry]:
    text = Posting(Operation.POST, "C1", "digest/C1/1", "the text")
    picture = build_picture_upload("C1", "chart/C1/1", "digest.png", "Week", CHART)
    return build_outbox_entry(text, key="digest/C1"), build_outbox_entry(picture, key="digest/C1", target="digest/C1/1")


async def test_the_picture_goes_into_the_thread_of_its_text(store: Store, clock: FakeClock) -> None:
    chat, files = FakeChat(clock=clock.now), ScriptedFiles()
    await store.incidents.commit(Changes(deliveries=digest_rows()))
    await drain(Deliver(outbox=store.outbox, chat=chat, clock=clock, files=files, chance=lambda: 0.5), clock, 5)
    (_, text), (_, picture) = chat.posted
    assert (text.operation, picture.operation, picture.ts) == ("post", "upload", chat.there["digest/C1/1"])
    assert (picture.content, files.made) == (b"Week", ["chart/C1/1"])
    assert read_chart(picture.extra["chart"]) == CHART


@pytest.mark.parametrize(
    "problem",
    [
        None,
        ChartUnavailable("No fonts."),
        RecordRejected("chart", "is not kept any more"),
        IncidentNotFound("There is no incident INC-7."),
        ChatAuthRejected("The app lacks the scope files:write.", "missing_scope"),
        ChatRejected("too large", "http_413"),
    ],
)
async def test_whatever_becomes_of_the_picture_the_text_is_out_and_nothing_waits(
    store: Store, clock: FakeClock, problem: Exception | None
) -> None:
    chat, files = FakeChat(clock=clock.now), ScriptedFiles()
    files.broken = problem
    await store.incidents.commit(Changes(deliveries=digest_rows()))
    deliver = Deliver(outbox=store.outbox, chat=chat, clock=clock, files=files if problem else None, chance=lambda: 0.5)
    await drain(deliver, clock, 4)
    await store.incidents.commit(
        Changes(deliveries=(build_outbox_entry(Posting(Operation.POST, "C1", "next", "later"), key="digest/C1"),))
    )
    await drain(deliver, clock, 2)
    assert [p.delivery_id for _, p in chat.posted] == ["digest/C1/1", "next"]
    assert await store.outbox.count_rows() == {"slack.sent": 2, "slack.dead": 1}
    assert deliver.list_paused() == {}


async def test_after_an_unknown_outcome_it_looks_and_an_outage_is_waited_for(store: Store, clock: FakeClock) -> None:
    chat = FakeChat(clock=clock.now)
    rows = [build_postmortem_upload("C1", f"pm/{n}", "pm.md", "1.0", "INC-1", "U1") for n in (1, 2)]
    chat.lost = [ChatOutcomeUnknown("cut off")]
    chat.there["pm/1"] = "F1"
    await store.incidents.commit(Changes(deliveries=(build_outbox_entry(rows[0], key="a"),)))
    deliver = Deliver(outbox=store.outbox, chat=chat, clock=clock, files=ScriptedFiles(), chance=lambda: 0.0)
    await drain(deliver, clock, 4)
    assert ([p.content for _, p in chat.posted], chat.looked) == ([b"Post-mortem of INC-1"], 1)
    chat.problems = [ChatUnavailable("down")] * 3
    await store.incidents.commit(Changes(deliveries=(build_outbox_entry(rows[1], key="b"),)))
    await drain(deliver, clock, 6)
    assert await store.outbox.count_rows() == {"slack.sent": 2}


def test_a_chart_that_is_not_kept_any_more_is_refused() -> None:
    with pytest.raises(RecordRejected, match="not kept"):
        read_chart(None)
