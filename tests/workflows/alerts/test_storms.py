"""Storms through the real store: five briefs, one summary that grows, lives that count each as ever."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.domain.alerts.suppression import Disposition, SuppressionDecision
from bot.domain.delivery.kinds import Operation
from bot.domain.incidents.lifecycle import IncidentState
from bot.domain.operations.load import Backlog, LoadShedding
from bot.domain.operations.storms import ALIKE_MOST, OVER_AFTER
from bot.domain.recall.query import OPERATOR
from bot.ports.delivery.inbox import ReceivedEvent
from bot.ports.errors import StoreConflict
from bot.ports.unit_of_work import Changes
from bot.slack.views.surfaces import SlackSurfaces
from bot.workflows.alerts.answer import AnswerAlert
from bot.workflows.alerts.storms import GroupStorms, PostStormSummaries
from bot.workflows.operations.watch_load import WatchLoad
from bot.workflows.resolutions.resolve import FixOutcome as Ended
from bot.workflows.resolutions.resolve import Resolution
from tests.workflows.world import START, World, format_ts, world


class StormWorld:
    """A world in which storms are looked for. `load` is told."""

    def __init__(self, w: World) -> None:
        self.w, self.load = w, LoadShedding.FULL
        storms = w.memory.store.storms
        w.answer = w.build_answer(group=GroupStorms(storms, lambda: self.load))
        self.tell = PostStormSummaries(storms, SlackSurfaces(), w.clock)

    async def fire(self, number: int, **alert: Any) -> str:
        """An alert of its own fingerprint, a second after the one before."""
        self.w.clock.advance(seconds=1)
        facts = {
            "fingerprint": f"fp{number}",
            "title": f"Alert {number}",
            "service": "payments-api",
            "severity": "high",
        }
        return await self.w.post(**(facts | alert))

    async def told(self) -> list[tuple[str, str, str]]:
        """What is owed after the summaries were looked at: (delivery id, thread, text)."""
        await self.tell()
        rows = await self.w.drain_outbox()
        payloads = [row.entry.payload for row in rows if row.entry.operation == Operation.POST]
        return [(p["delivery_id"], p["thread_ts"], p["text"]) for p in payloads]


@pytest.fixture
async def s(tmp_path: Path) -> AsyncIterator[StormWorld]:
    async with world(tmp_path) as made:
        yield StormWorld(made)


async def test_five_briefs_then_one_summary_in_the_thread_of_the_first(s: StormWorld) -> None:
    roots = [await s.fire(n) for n in range(1, 10)]
    told = await s.told()
    assert [name for name, _, _ in told] == [f"brief/INC-{n}/C1" for n in range(1, 6)] + [
        "storm/C1/service:payments-api/INC-1"
    ]
    assert told[-1][1:] == (roots[0], "Alert storm: 9 alerts of payments-api, 0 cleared")
    lives = await s.w.memory.incidents.list_lifecycles(START, START + timedelta(hours=1), OPERATOR)
    assert len(lives) == 9
    assert await s.told() == [], "nothing changed, nothing is said"


async def test_the_summary_is_edited_as_it_grows_and_clears_and_ends_when_nobody_joins_any_more(s: StormWorld) -> None:
    for n in range(1, 8):
        await s.fire(n)
    await s.told()
    await s.fire(8)
    await s.fire(2, state="resolved")
    await s.fire(7, state="resolved")
    s.w.clock.advance(seconds=5)
    ((name, _, text),) = await s.told()
    assert (name, text) == (
        "storm/C1/service:payments-api/INC-1",
        "Alert storm: 8 alerts of payments-api, 2 cleared",
    )
    s.w.clock.advance(seconds=OVER_AFTER.total_seconds() + 5)
    ((_, _, text),) = await s.told()
    assert text == "Storm over: 8 alerts of payments-api, 2 cleared"
    life = await s.w.memory.incidents.read_lifecycle("INC-8")
    await s.w.resolve(Resolution(Ended.RECOVERED, "INC-8", fix="restarted"), by="maya", once="s1")
    assert (await s.w.memory.incidents.read_lifecycle("INC-8")).state is IncidentState.RESOLVED
    assert life.state is IncidentState.OPEN
    s.w.clock.advance(seconds=5)
    assert [text for name, _, text in await s.told() if name.startswith("storm/")] == [
        "Storm over: 8 alerts of payments-api, 3 cleared"
    ]
    s.w.clock.advance(hours=25)
    await s.told()
    assert await s.w.memory.store.storms.list_watched() == ()


async def test_a_repeat_of_who_joined_says_nothing_new(s: StormWorld) -> None:
    for n in range(1, 8):
        await s.fire(n)
    await s.told()
    await s.fire(7)
    s.w.clock.advance(hours=5)
    await s.fire(7)
    assert [name for name, _, _ in await s.told() if name.startswith("brief/")] == []
    assert (await s.w.memory.incidents.read_lifecycle("INC-7")).fired == 3


async def test_after_the_storm_who_cleared_and_fires_anew_has_a_brief(s: StormWorld) -> None:
    for n in range(1, 8):
        await s.fire(n)
    await s.fire(7, state="resolved")
    await s.told()
    s.w.clock.advance(hours=2)
    root = await s.fire(7)
    told = await s.told()
    assert ("brief/INC-7/C1", root) in [(name, thread) for name, thread, _ in told]


async def test_the_strongest_precedent_is_repeated(s: StormWorld) -> None:
    await s.fire(0, title="GatewayErrors", vendor="Razorpay")
    await s.w.resolve(Resolution(Ended.RECOVERED, "INC-1", fix="switched to the other gateway"), by="maya", once="s1")
    await s.told()
    s.w.clock.advance(days=30)
    for n in range(1, 6):
        await s.fire(n, service="search", title=f"SearchSlow {n}")
    await s.fire(0, title="GatewayErrors", vendor="Razorpay", service="search")
    await s.tell()
    (row,) = [r for r in await s.w.drain_outbox() if r.entry.payload["delivery_id"].startswith("storm/")]
    assert "MOST TELLING" in str(row.entry.payload["blocks"])
    assert "INC-1" in str(row.entry.payload["blocks"])


async def test_what_is_only_counted_takes_no_part(s: StormWorld) -> None:
    async def count_only(*_: object) -> SuppressionDecision:
        return SuppressionDecision(Disposition.COUNT_ONLY, "muted")

    s.w.answer = replace(s.w.answer, admit=count_only)
    for n in range(1, 10):
        await s.fire(n)
    assert await s.told() == []
    assert (await s.w.memory.store.storms.read_openings("C1", START, START + timedelta(hours=1), ""))[0] == ()


async def test_reactions_make_no_storm(s: StormWorld) -> None:
    for n in range(1, 10):
        await s.fire(n, severity="warning")
    assert await s.told() == []


async def test_workers_that_open_at_once_post_no_brief_too_many(s: StormWorld) -> None:
    """Each takes a row again until nobody else came in between, as the worker does."""
    inbox = s.w.memory.inbox
    for n in range(1, 13):
        alert = {"fingerprint": f"fp{n}", "service": "payments-api", "severity": "high"}
        event = {"channel": "C1", "ts": format_ts(START + timedelta(seconds=n)), "alert": alert}
        assert await inbox.receive(ReceivedEvent(f"Ev{n}", f"T1/{n}", "message", {"event": event}))

    async def work(answer: AnswerAlert) -> int:
        conflicts = 0
        while rows := await inbox.claim(1):
            try:
                await answer(rows[0])
            except StoreConflict:
                conflicts += 1
                await inbox.retry_later(rows[0], 0.0, "again")
        return conflicts

    conflicts = await asyncio.gather(*(work(s.w.answer) for _ in range(4)))
    briefs = [name for name, _, _ in await s.told() if name.startswith("brief/")]
    assert len(briefs) == ALIKE_MOST, f"{sum(conflicts)} conflicts"
    (storm,) = await s.w.memory.store.storms.list_watched()
    assert len(await s.w.memory.store.storms.list_members(storm.name)) == 12


async def test_under_load_only_the_summary_is_written_and_a_critical_alert_still_has_its_brief(s: StormWorld) -> None:
    s.load = LoadShedding.SUMMARY_ONLY
    await s.fire(1)
    await s.fire(2, severity="critical", service="checkout")
    await s.fire(3, severity="critical", service="checkout")
    told = {name: text for name, _, text in await s.told()}
    assert set(told) == {"brief/INC-2/C1", "storm/C1/any/INC-1"}
    assert told["storm/C1/any/INC-1"] == "Alert storm: 3 alerts, 0 cleared"


async def test_a_summary_that_another_replica_wrote_meanwhile_is_not_written_again(s: StormWorld) -> None:
    for n in range(1, 7):
        await s.fire(n)
    storms = s.w.memory.store.storms
    (storm,) = await storms.list_watched()
    await s.told()
    assert not await storms.save_summary(storm, "older", Changes(), watched=False)
    assert len(await storms.list_watched()) == 1


async def test_the_load_is_read_from_the_inbox(s: StormWorld) -> None:
    pressure = WatchLoad(s.w.memory.store.inbox)
    assert pressure.read_load() is LoadShedding.FULL
    for n in range(50):
        assert await s.w.memory.inbox.receive(ReceivedEvent(f"E{n}", f"k{n}", "message", {"event": {}}))
    assert await pressure() > 0
    assert pressure.read_load() is LoadShedding.NO_EXTRAS
    s.w.clock.advance(seconds=61)
    await pressure()
    assert pressure.read_load() is LoadShedding.SUMMARY_ONLY
    for row in await s.w.memory.inbox.claim(50):
        await s.w.memory.inbox.retry_later(row, 60, "Slack is down")
    assert await s.w.memory.store.inbox.read_backlog() == Backlog()
    await pressure()
    assert pressure.read_load() is LoadShedding.FULL
