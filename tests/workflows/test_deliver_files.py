"""Files that are owed: drawn when they are sent, after the text that they belong to, once; a failure costs no more."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import asdict
from pathlib import Path

import pytest

from bot.adapters.store import Store, open_store
from bot.domain.digest_chart import DigestChart
from bot.ports import ChartUnavailable, ChatAuthRejected, ChatOutcomeUnknown, ChatRejected, ChatUnavailable
from bot.ports.chat import Posting
from bot.ports.files import picture_file, text_file
from bot.ports.parts import owed
from bot.ports.store import Changes, Owed
from bot.workflows.deliver import Deliver
from tests.fakes import FakeChat, FakeClock, FakeIds
from tests.workflows.test_deliver import drain

CHART = DigestChart("Week", "7 incidents", (), 0, (), "in words")


class ToldCharts:
    """Draws its own name, or fails as told."""

    def __init__(self) -> None:
        self.drawn: list[DigestChart] = []
        self.broken = False

    async def png(self, chart: DigestChart) -> bytes:
        if self.broken:
            raise ChartUnavailable("No fonts.")
        self.drawn.append(chart)
        return b"png"


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def store(clock: FakeClock, tmp_path: Path) -> AsyncIterator[Store]:
    store = await open_store(f"sqlite+aiosqlite:///{tmp_path / 'test.db'}", clock, FakeIds())
    yield store
    await store.close()


def digest_rows() -> tuple[Owed, Owed]:
    text = Posting("post", "C1", "digest/C1/1", "the text")
    picture = picture_file("C1", "chart/C1/1", "digest.png", "Week", CHART)
    return owed(text, key="digest/C1"), owed(picture, key="digest/C1", target="digest/C1/1")


async def test_the_picture_goes_into_the_thread_of_its_text(store: Store, clock: FakeClock) -> None:
    chat, charts = FakeChat(clock.now), ToldCharts()
    await store.incidents.commit(Changes(owed=digest_rows()))
    await drain(Deliver(store.outbox, chat, clock, charts=charts, chance=lambda: 0.5), clock, 5)
    (_, text), (_, picture) = chat.posted
    assert (text.operation, picture.operation, picture.ts) == ("post", "upload", chat.there["digest/C1/1"])
    assert (picture.content, charts.drawn) == (b"png", [CHART])


@pytest.mark.parametrize("broken", ["drawing", "nobody draws", "scope", "refused", "purged"])
async def test_whatever_becomes_of_the_picture_the_text_is_out_and_nothing_waits(
    store: Store, clock: FakeClock, broken: str
) -> None:
    chat, charts = FakeChat(clock.now), ToldCharts()
    text, picture = digest_rows()
    if broken == "purged":
        picture = Owed(picture.destination, "upload", picture.key, picture.delivery_id, {"channel": "C1"})
        picture.payload.update({"delivery_id": "x", "operation": "upload"})  # type: ignore[attr-defined]  # a dict of ours
    await store.incidents.commit(Changes(owed=(text,)))
    deliver = Deliver(
        store.outbox, chat, clock, charts=None if broken == "nobody draws" else charts, chance=lambda: 0.5
    )
    await drain(deliver, clock, 2)
    charts.broken = broken == "drawing"
    problems: dict[str, list[Exception]] = {
        "scope": [ChatAuthRejected("The app lacks the scope files:write.", "missing_scope")],
        "refused": [ChatRejected("too large", "http_413")],
    }
    chat.problems = problems.get(broken, [])
    await store.incidents.commit(Changes(owed=(picture,)))
    await drain(deliver, clock, 2)
    await store.incidents.commit(Changes(owed=(owed(Posting("post", "C1", "next", "later"), key="other"),)))
    await drain(deliver, clock, 2)
    assert [p.delivery_id for _, p in chat.posted] == ["digest/C1/1", "next"]
    assert await store.outbox.counts() == {"slack.sent": 2, "slack.dead": 1}
    assert deliver.paused() == {}


async def test_after_an_unknown_outcome_it_looks_and_an_outage_is_waited_for(store: Store, clock: FakeClock) -> None:
    chat = FakeChat(clock.now)
    rows = [text_file("C1", f"pm/{n}", "pm.md", "# INC-1", thread_ts="1.0", incident_id="INC-1") for n in (1, 2)]
    chat.lost = [ChatOutcomeUnknown("cut off")]
    chat.there["pm/1"] = "F1"
    await store.incidents.commit(Changes(owed=(owed(rows[0], key="a"),)))
    deliver = Deliver(store.outbox, chat, clock, chance=lambda: 0.0)
    await drain(deliver, clock, 4)
    assert ([p.content for _, p in chat.posted], chat.looked) == ([b"# INC-1"], 1)
    chat.problems = [ChatUnavailable("down")] * 3
    await store.incidents.commit(Changes(owed=(owed(rows[1], key="b"),)))
    await drain(deliver, clock, 6)
    assert await store.outbox.counts() == {"slack.sent": 2}
    assert "content" not in asdict(rows[1])["extra"] or rows[1].content is None
