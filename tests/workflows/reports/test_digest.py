"""Digests owed to channels, each at its own time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.domain.alerts.channel_settings import NO_DIGEST, ChannelSettings
from bot.domain.fixes.grouping import FixEquivalence
from bot.domain.recall.query import OPERATOR
from bot.domain.reports.schedule import DigestTime
from bot.ports.chat import Channel
from bot.ports.unit_of_work import Changes
from bot.slack.views.surfaces import SlackSurfaces
from bot.workflows.channels.settings import build_default_time
from bot.workflows.reports.digest import ComposeDigest, PostDigests
from tests.builders import an_incident, tried
from tests.workflows.world import World, world

MONDAY = build_default_time("mon", 9, "Europe/Berlin")
DUE = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)


@pytest.fixture
async def w(tmp_path: Path) -> AsyncIterator[World]:
    async with world(tmp_path) as made:
        for channel in ("C1", "C2"):
            await made.post(channel)
        await made.drain_outbox()
        yield made


def digests(w: World, default: DigestTime = MONDAY) -> PostDigests:
    chat = replace(w.chat, policies=w.memory.channels)
    memory, said = w.memory, w.memory.store.feedback
    return PostDigests(
        store=memory.incidents,
        feedback=said,
        channels=memory.channels,
        claims=memory.claims,
        chat=chat,
        surfaces=SlackSurfaces(),
        clock=w.clock,
        default=default,
    )


async def ids(w: World) -> list[str]:
    return [r.entry.delivery_id for r in await w.drain_outbox() if r.entry.delivery_id.startswith("digest/")]


async def sets(w: World, channel: str, settings: ChannelSettings) -> None:
    await w.memory.channels.save_settings(channel, settings, (), Changes())


async def test_a_channel_that_is_shared_by_now_gets_no_digest_unless_it_is_allowed(w: World) -> None:
    w.chat.channels["C2"] = Channel("C2", is_shared=True)
    w.clock.at = DUE
    assert await digests(w)() == 1
    assert await ids(w) == ["digest/C1/2026-11-30"]
    await sets(w, "C2", ChannelSettings(shared=True))
    await digests(w)()
    assert await ids(w) == ["digest/C2/2026-11-30"]


async def test_each_channel_has_its_own_day_hour_and_zone(w: World) -> None:
    await sets(w, "C1", ChannelSettings(zone="Asia/Kolkata", digest_day="tue", digest_hour=9))
    posted: dict[str, datetime] = {}
    job = digests(w)
    for quarter in range(4 * 60):
        w.clock.at = datetime(2026, 11, 30, 0, 0, tzinfo=UTC) + timedelta(minutes=15 * quarter)
        await job()
        posted |= dict.fromkeys(await ids(w), w.clock.at)
    assert posted == {
        "digest/C2/2026-11-30": DUE,
        "digest/C1/2026-12-01": datetime(2026, 12, 1, 3, 30, tzinfo=UTC),
    }


async def test_none_where_none_is_wanted(w: World) -> None:
    await sets(w, "C1", ChannelSettings(digest_day=NO_DIGEST))
    w.clock.at = DUE
    await digests(w)()
    assert await ids(w) == ["digest/C2/2026-11-30"]


async def test_moving_the_hour_or_the_zone_gives_no_second_digest_for_a_period(w: World) -> None:
    w.clock.at = DUE
    await digests(w)()
    assert len(await ids(w)) == 2
    for settings in (ChannelSettings(digest_hour=11), ChannelSettings(digest_hour=6, zone="America/New_York")):
        await sets(w, "C1", settings)
        w.clock.advance(hours=4)
        await digests(w)()
    assert await ids(w) == []


async def test_what_was_claimed_is_not_composed_again(w: World) -> None:
    job = digests(w)
    w.clock.at = DUE
    assert await job() == 2
    w.chat.gone.update({"C1", "C2"})
    w.clock.advance(minutes=15)
    assert await job() == 0
    assert len(await ids(w)) == 2


async def test_the_digest_of_a_channel_holds_what_its_pool_may_be_told(w: World) -> None:
    for channel in ("G1", "G2"):
        w.chat.channels[channel] = Channel(channel, is_private=True)
    for hours in (0, 30, 60):
        w.clock.at = DUE - timedelta(hours=100 - hours)
        await w.post("G2", fingerprint=f"p/{hours}", title="A private problem", service="vault", severity="critical")
        await w.post("G1", fingerprint=f"q/{hours}", title="Another problem", service="shop", severity="critical")
        await w.drain_outbox()
    w.clock.at = DUE
    await w.memory.channels.save_settings("G1", ChannelSettings(), ("G2",), Changes())
    await digests(w)()
    said = {
        r.entry.payload["channel"]: repr(r.entry.payload)
        for r in await w.drain_outbox()
        if "digest/" in r.entry.delivery_id
    }
    assert "A private problem" in said["G1"]
    assert "Another problem" in said["G2"]
    assert "problem" not in said["C1"]


async def test_fixes_are_counted_as_persons_filed_them(w: World) -> None:
    now = w.clock.now()
    said = FixEquivalence(True, "Drain the queue", "Empty it", "INC-1", "INC-2", "U1", now)
    await w.memory.store.feedback.add_fix_equivalence(said, Changes())
    for n, fix in ((1, "Drain the queue"), (2, "Empty it")):
        old = an_incident(
            f"OLD-{n}", title="T", service="s", started_at=now - timedelta(days=n), attempts=(tried(fix),)
        )
        await w.memory.incidents.commit(Changes(records=(old,), recallable=frozenset({old.incident_id})))
    compose = ComposeDigest(w.memory.incidents, w.memory.store.feedback)
    found = await compose(now - timedelta(days=3), now, OPERATOR, "these days")
    assert [f.workaround_times for f in found.families] == [2]


async def test_a_digest_says_for_how_many_alerts_memory_had_no_answer(w: World) -> None:
    compose = ComposeDigest(w.memory.incidents, w.memory.store.feedback)
    now = w.clock.now()
    found = await compose(now - timedelta(days=1), now + timedelta(days=1), OPERATOR, "today")
    assert (found.incidents, found.briefs, found.abstained) == (1, 1, 1)
