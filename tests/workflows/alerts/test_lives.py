"""The life of an alert through the real store: whatever the order in which its posts arrive, it comes to the same."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

import pytest

from bot.domain.delivery.kinds import Operation
from bot.domain.incidents.alert_history import AlertHistory
from bot.domain.incidents.lifecycle import Lifecycle
from bot.domain.recall.query import OPERATOR
from bot.ports.delivery.inbox import ReceivedEvent
from bot.workflows.resolutions.resolve import FixOutcome, Resolution
from tests.workflows.world import START, World, format_ts, world

Event = dict[str, Any]


@pytest.fixture
async def w(tmp_path: Path) -> AsyncIterator[World]:
    async with world(tmp_path) as made:
        yield made


def post(minute: float, state: str, **alert: Any) -> Event:
    ts = format_ts(START + timedelta(minutes=minute))
    return {"channel": "C1", "ts": ts, "alert": {"state": state, **alert}}


def edit(of: Event, minute: float, state: str, **alert: Any) -> Event:
    when = format_ts(START + timedelta(minutes=minute))
    said = {"state": state, "delivery": "edit", **alert}
    return {
        "channel": "C1",
        "ts": when,
        "event_ts": when,
        "message": {"ts": of["ts"], "edited": {"ts": when}},
        "alert": said,
    }


def answer(to: Event, minute: float, state: str, delivery: str = "thread_reply", **alert: Any) -> Event:
    return {**post(minute, state, delivery=delivery, **alert), "thread_ts": to["ts"]}


FIRST = post(0, "firing", severity="warning", firing=3)
AGAIN = post(30, "firing", severity="high", firing=2)
SIX: tuple[Event, ...] = (
    FIRST,
    edit(FIRST, 4, "escalated", severity="critical"),
    answer(FIRST, 6, "acknowledged", labels={"acknowledged_by": "meera"}),
    post(20, "resolved"),
    AGAIN,
    edit(AGAIN, 50, "resolved"),
)


async def arrive(w: World, events: Sequence[Event], fingerprint: str) -> None:
    for event in events:
        told = {**event, "alert": {**event["alert"], "fingerprint": fingerprint}}
        w.posts += 1
        named = f"{fingerprint}/{w.posts}"
        assert await w.memory.inbox.receive(ReceivedEvent(named, named, "message", {"event": told}))
        for row in await w.memory.inbox.claim(10):
            await w.answer(row)


def came_to(life: Lifecycle) -> tuple[object, ...]:
    names = (
        "state", "fired", "opened_at", "last_seen_at", "cleared_at", "acknowledged_by", "severity", "firing", "members",
        "spells",
    )  # fmt: skip
    return tuple(getattr(life, name) for name in names)


async def ends_alike(w: World, orders: Sequence[Sequence[Event]], *, told_again: int = 0) -> None:
    """Each order, with so many of its posts told twice, comes to what the posts in order of their time come to."""
    await arrive(w, SIX, "in order")
    in_order = await w.memory.incidents.find_latest_lifecycle("in order", "public")
    assert in_order is not None
    assert came_to(in_order)[:2] == ("cleared", 3)
    random = Random(7)
    for number, order in enumerate(orders):
        fingerprint, channel = f"fp-{number}", f"C{number + 100}"
        events = [{**event, "channel": channel} for event in order]
        await arrive(w, [*events, *random.sample(events, told_again)], fingerprint)
        life = await w.memory.incidents.find_latest_lifecycle(fingerprint, "public")
        assert life is not None
        assert came_to(life) == came_to(in_order), [event["alert"]["state"] for event in order]
        briefs = await w.memory.incidents.list_briefs(life.incident_id)
        assert [b.brief.incident.state for b in briefs if b.brief.incident] == ["cleared"]
    every = await w.memory.incidents.list_lifecycles(START - timedelta(days=1), START + timedelta(days=1), OPERATOR)
    assert len(every) == 1 + len(orders)


ORDERS = tuple(permutations(SIX))


async def test_orders_of_a_life_of_six_posts_come_to_the_same_in_the_store(w: World) -> None:
    """Each post comes first, and each last, in some of these; all orders are told in the test below."""
    await ends_alike(w, ORDERS[::60], told_again=2)


@pytest.mark.integration
async def test_every_sixth_order_of_a_life_of_six_posts_comes_to_the_same_in_the_store(w: World) -> None:
    """All 720 are told in `tests/domain`. This is among the integration tests for its length, and needs no service."""
    await ends_alike(w, ORDERS[1::6])


async def test_a_resolve_that_comes_first_counts_when_its_firing_arrives(w: World) -> None:
    await arrive(w, [post(5, "resolved")], "fp")
    assert await w.drain_outbox() == []
    await arrive(w, [post(0, "firing")], "fp")
    (row,) = await w.drain_outbox()
    assert row.entry.operation == Operation.POST
    assert "Cleared" in repr(row.entry.payload)
    assert (await w.memory.incidents.read_lifecycle("INC-1")).cleared_at == START + timedelta(minutes=5)


async def test_an_edit_that_comes_before_its_original_is_of_the_same_incident_even_with_another_fingerprint(
    w: World,
) -> None:
    original = post(0, "firing")
    await arrive(w, [edit(original, 5, "resolved")], "as-edited")
    await arrive(w, [original], "as-posted")
    life = await w.memory.incidents.read_lifecycle("INC-1")
    assert (life.state, life.fingerprint, life.cleared_at) == ("cleared", "as-posted", START + timedelta(minutes=5))
    await arrive(w, [post(9, "firing")], "as-edited")
    assert (await w.memory.incidents.read_lifecycle("INC-2")).state == "open"


async def test_an_alert_that_turns_out_to_be_two_incidents_gets_the_second_brief_in_its_own_thread(w: World) -> None:
    later = post(3 * 24 * 60, "firing")
    await arrive(w, [post(0, "firing"), later], "fp")
    await w.drain_outbox()
    await arrive(w, [post(10, "resolved")], "fp")
    assert (await w.memory.incidents.read_lifecycle("INC-1")).state == "cleared"
    assert (await w.memory.incidents.read_lifecycle("INC-2")).opened_at == START + timedelta(days=3)
    posted = [r.entry.payload for r in await w.drain_outbox() if r.entry.operation == Operation.POST]
    assert [p["thread_ts"] for p in posted] == [later["ts"]]
    assert await w.memory.incidents.find_incident("C1", later["ts"]) == "INC-2"


async def test_a_part_resolved_group_keeps_the_incident_open_and_the_brief_says_so(w: World) -> None:
    await arrive(w, [post(0, "firing", firing=3), post(5, "firing", firing=1)], "fp")
    assert (await w.memory.incidents.read_lifecycle("INC-1")).state == "open"
    assert "2 of 3 cleared" in repr([row.entry.payload for row in await w.drain_outbox()][-1])


async def test_flapping_is_named_and_makes_no_noise(w: World) -> None:
    await arrive(w, [post(0, "firing", severity="critical")], "fp")
    await w.drain_outbox()
    for n in range(1, 6):
        w.clock.advance(minutes=8)
        await arrive(w, [post(8 * n - 4, "resolved"), post(8 * n, "firing", severity="critical")], "fp")
        edits = [row.entry for row in await w.drain_outbox()]
        assert [(o.operation, o.delivery_id) for o in edits] == [("update", "brief/INC-1/C1/edit")]
    assert "*flapping*: fired and cleared 5 times in 36 min" in repr(edits[-1].payload)


async def test_the_history_of_an_alert_stands_in_its_brief_from_day_one_with_nothing_ever_recorded(w: World) -> None:
    for day in range(14):
        start = day * 2 * 24 * 60.0
        await arrive(w, [post(start, "firing", severity="critical"), post(start + 5 + day % 3, "resolved")], "fp")
    said = Resolution(FixOutcome.RECOVERED, "INC-3", fix="restart the pod")
    await w.resolve(said, "U1", "view:1")
    await w.drain_outbox()
    await arrive(w, [post(28 * 24 * 60, "firing", severity="critical", service="other", title="Other")], "fp")
    (posted,) = await w.memory.incidents.list_briefs("INC-15")
    assert posted.brief.history == AlertHistory(30, times=14, unrecorded=13, median_minutes=6.0)
    assert "14× in 30 days, 13 cleared with no recorded fix, median 6 min" in repr(
        (await w.drain_outbox())[-1].entry.payload
    )


async def test_firings_within_one_incident_count_in_the_history_when_it_is_reopened(w: World) -> None:
    for n in range(3):
        await arrive(w, [post(60 * n, "firing", severity="critical"), post(60 * n + 6, "resolved")], "fp")
    await w.drain_outbox()
    w.clock.advance(minutes=200)
    await arrive(w, [post(200, "firing", severity="critical")], "fp")
    assert "3× in 30 days, 3 cleared with no recorded fix, median 6 min" in repr(
        [r.entry.payload for r in await w.drain_outbox()]
    )
    (posted,) = await w.memory.incidents.list_briefs("INC-1")
    assert posted.brief.insufficient_memory is not None


async def test_edits_of_one_brief_are_sent_together_every_few_seconds(w: World) -> None:
    await arrive(w, [post(0, "firing", severity="critical")], "fp")
    await w.drain_outbox()
    sent = []
    for second in range(10):
        await arrive(w, [post(1 + second / 60, "firing", severity="critical")], "fp")
        sent += [row.entry for row in await w.drain_outbox()]
        w.clock.advance(seconds=1)
    assert [o.delivery_id for o in sent] == ["brief/INC-1/C1/edit"] * 4
    assert "fired 11×" in repr(sent[-1].payload)
    await arrive(w, [post(2, "firing", severity="critical")], "fp")
    assert await w.drain_outbox() == []
    w.clock.advance(seconds=3)
    (last,) = await w.drain_outbox()
    assert "fired 12×" in repr(last.entry.payload)


async def test_what_a_person_records_is_not_held_up_by_an_edit_that_waits(w: World) -> None:
    await arrive(w, [post(0, "firing", severity="critical"), post(1, "firing")], "fp")
    await w.drain_outbox()
    await arrive(w, [post(2, "firing")], "fp")
    assert await w.drain_outbox() == []
    await w.resolve(Resolution(FixOutcome.RECOVERED, "INC-1", fix="restart"), "U1", "view:1")
    assert [row.entry.operation for row in await w.drain_outbox()] == ["update", "post"]


async def test_another_bots_note_in_the_thread_is_a_remark(w: World) -> None:
    first = post(0, "firing", severity="critical")
    note = answer(first, 3, "firing", tool="generic", fingerprint="note")
    await arrive(w, [first], "fp")
    await arrive(w, [{**note, "alert": {**note["alert"]}}], "note")
    assert (await w.memory.incidents.read_lifecycle("INC-1")).fired == 1
    assert await w.memory.incidents.find_incident("C1", note["ts"]) == "INC-1"
    lives = await w.memory.incidents.list_lifecycles(START - timedelta(days=1), START + timedelta(days=1), OPERATOR)
    assert len(lives) == 1


async def test_an_unknown_bots_post_that_links_to_an_alert_belongs_to_it(w: World) -> None:
    first = post(0, "firing", severity="critical")
    await arrive(w, [first], "fp")
    note = {**post(3, "firing", tool="generic"), "refers_to": [["C1", first["ts"]]]}
    await arrive(w, [note], "other")
    assert await w.memory.incidents.find_incident("C1", note["ts"]) == "INC-1"
    assert (await w.memory.incidents.read_lifecycle("INC-1")).fired == 1
    tool = {**post(4, "firing", tool="datadog"), "refers_to": [["C1", first["ts"]]]}
    await arrive(w, [tool], "monitor")
    assert await w.memory.incidents.find_incident("C1", tool["ts"]) == "INC-2"
