"""When the digest is due, over restarts and clock changes; and the wall clock's scheduler for real."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
import time_machine

from bot.adapters.schedule import JobSchedule
from bot.bootstrap.jobs import ScheduledJobs
from bot.domain.delivery.kinds import Operation
from bot.domain.reports.schedule import DigestTime
from bot.ports.audit import AuditLine
from bot.ports.chat import Channel
from bot.ports.delivery.outbox import Destination, OutboxEntry
from bot.ports.unit_of_work import Changes
from bot.slack.views.surfaces import SlackSurfaces
from bot.workflows.reports.digest import PostDigests
from tests.workflows.world import START, World, world

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.fixture
async def w(tmp_path: Path) -> AsyncIterator[World]:
    async with world(tmp_path) as made:
        await made.post(severity="critical")
        await made.drain_outbox()
        yield made


def jobs(w: World, *, zone: ZoneInfo = BERLIN, day: str = "mon", hour: int = 9) -> ScheduledJobs:
    memory, time = w.memory, DigestTime(day, hour, zone)
    said = memory.store.feedback
    posting = PostDigests(
        store=memory.incidents,
        feedback=said,
        channels=memory.channels,
        claims=memory.claims,
        chat=w.chat,
        surfaces=SlackSurfaces(),
        clock=w.clock,
        default=time,
    )
    return ScheduledJobs(posting, memory.inbox, memory.store.retention, w.clock, zone)


async def digests(w: World) -> list[str]:
    return [r.entry.delivery_id for r in await w.drain_outbox() if r.entry.delivery_id.startswith("digest/")]


async def test_one_digest_for_each_channel_and_period_whoever_asks(w: World) -> None:
    w.clock.at = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)
    first, second = jobs(w), jobs(w)
    await asyncio.gather(first.digest(), second.digest(), first.digest())
    assert await digests(w) == ["digest/C1/2026-11-30"]
    w.clock.advance(days=2)
    await first.digest()
    assert await digests(w) == []
    w.clock.advance(days=5)
    await first.digest()
    assert await digests(w) == ["digest/C1/2026-12-07"]


@pytest.mark.parametrize(("hours_late", "posted"), [(23, 1), (25, 0)])
async def test_a_missed_digest_is_made_up_for_within_a_day(w: World, hours_late: int, posted: int) -> None:
    w.clock.at = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)
    w.clock.advance(hours=hours_late)
    await jobs(w).digest()
    assert len(await digests(w)) == posted


async def test_the_hour_that_comes_twice_gives_one_digest(w: World) -> None:
    sunday = jobs(w, day="sun", hour=2)
    for hour in (0, 1):
        w.clock.at = datetime(2026, 10, 25, hour, 30, tzinfo=UTC)
        await w.post(fingerprint=f"f{hour}", severity="critical")
        await sunday.digest()
    assert await digests(w) == ["digest/C1/2026-10-25"]


@pytest.mark.parametrize("hour", [2, 3])
@pytest.mark.parametrize("change", [datetime(2026, 3, 29, tzinfo=UTC), datetime(2026, 10, 25, tzinfo=UTC)])
async def test_around_a_clock_change_three_replicas_and_a_restart_each_quarter_give_one_digest(
    w: World, change: datetime, hour: int
) -> None:
    w.clock.at = change - timedelta(days=3)
    await w.post(fingerprint="spring", severity="critical")
    await w.drain_outbox()
    posted: list[tuple[str, datetime]] = []
    for quarter in range(4 * 9):
        w.clock.at = change - timedelta(hours=1) + timedelta(minutes=15 * quarter)
        replicas = [jobs(w, day="sun", hour=hour) for _ in range(3)]
        await asyncio.gather(*(replica.digest() for replica in replicas))
        posted += [(r.entry.delivery_id, w.clock.at) for r in await w.drain_outbox()]
    day = f"C1/{change:%Y-%m-%d}"
    assert [delivery for delivery, _ in posted] == [f"digest/{day}", f"chart/{day}"]
    local = posted[0][1].astimezone(BERLIN)
    # in spring there is no two o'clock; in autumn there are two, and the first one counts
    assert (local.hour, local.minute, local.fold) == (3 if change.month == 3 else hour, 0, 0)


async def test_what_is_old_is_forgotten(w: World) -> None:
    w.clock.advance(hours=25)
    await jobs(w).forget()
    assert await w.memory.inbox.delete_settled(w.clock.now()) == 0
    row = OutboxEntry(Destination.SLACK, Operation.REACT, "k", "r1", {})
    await w.memory.incidents.commit(
        Changes(deliveries=(row,), once="key", audit=(AuditLine("U1", "resolve", "INC-1", "x"),))
    )
    await w.drain_outbox()
    for days, sent in ((29, 2), (2, 1)):
        w.clock.advance(days=days)
        await jobs(w).forget()
        # the brief's own row stays: by it its message is found
        assert (await w.memory.outbox.count_rows())["slack.sent"] == sent
    assert await w.memory.incidents.commit(Changes(once="key"))
    gone = await w.memory.store.retention.delete_expired(before=START, audit_before=w.clock.now() + timedelta(days=1))
    assert gone.audit == 1
    await w.memory.incidents.commit(Changes(audit=(AuditLine("U1", "resolve", "INC-1", "x"),)))
    w.clock.advance(days=401)
    await jobs(w).forget()
    gone = await w.memory.store.retention.delete_expired(before=START, audit_before=w.clock.now())
    assert gone.audit == 0


async def test_the_scheduler_calls_at_the_local_hour() -> None:
    called = asyncio.Event()

    async def work() -> None:
        called.set()

    with time_machine.travel(datetime(2026, 11, 30, 7, 59, 59, 500_000, tzinfo=UTC), tick=True):
        schedule = JobSchedule(BERLIN)
        schedule.add_job("test", work, day="mon", hour=9)
        schedule.start()
        await asyncio.wait_for(called.wait(), 5)
        schedule.stop()
        schedule.stop()


async def test_the_table_schedules_the_digest_and_the_forgetting(w: World) -> None:
    schedule = jobs(w).schedule()
    schedule.start()
    schedule.stop()


async def test_a_digest_shows_only_what_its_channel_may_see(w: World) -> None:
    w.chat.channels["G1"] = Channel("G1", is_private=True)
    for hours in (0, 30, 60):
        w.clock.at = START - timedelta(hours=100 - hours)
        await w.post(
            "G1", fingerprint=f"private/{hours}", title="A private problem", service="vault", severity="critical"
        )
        await w.post("C1", fingerprint=f"public/{hours}", title="A public problem", service="shop", severity="critical")
        await w.drain_outbox()
    w.clock.at = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)
    await jobs(w).digest()
    said = {
        r.entry.payload["channel"]: repr(r.entry.payload)
        for r in await w.drain_outbox()
        if "digest/" in r.entry.delivery_id
    }
    assert set(said) == {"C1", "G1"}
    assert "private problem" not in said["C1"]
    assert "private problem" in said["G1"]
    assert "public problem" in said["C1"]


async def test_a_channel_that_is_gone_costs_no_other_its_digest(w: World) -> None:
    await w.post("C2", fingerprint="other", severity="critical")
    await w.drain_outbox()
    w.chat.gone.add("C1")
    w.clock.at = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)
    await jobs(w).digest()
    assert await digests(w) == ["digest/C2/2026-11-30"]
