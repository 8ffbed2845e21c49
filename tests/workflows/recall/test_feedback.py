"""What persons say of precedents and fixes: who is shown what, whom it concerns, and what may be taken back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.domain.access.roles import Act
from bot.domain.access.visibility import Viewer
from bot.domain.fixes.grouping import FixPair, Wording
from bot.domain.incidents.record import Incident, Source
from bot.domain.recall.dismissed import DismissalReason
from bot.domain.recall.query import OPERATOR, Query
from bot.ports.chat import Channel
from bot.ports.errors import NotAllowedHere, RecordRejected
from bot.ports.unit_of_work import Changes
from bot.workflows.recall.wrong_precedent import DismissPrecedent, PrecedentDismissal
from bot.workflows.resolutions.same_fix import GroupFixes
from tests.builders import an_incident, on_day, tried
from tests.workflows.world import World, world

PUBLIC, IN_G1 = Viewer(), Viewer(frozenset({"public", "private:G1"}))
PRIVATE = Source("slack", visibility="private:G1")
ASKED = Query("GatewayErrors", fingerprint="payments/504", title="GatewayErrors", service="pay")


def old(n: int, fix: str = "Fail over", source: Source | None = None) -> Incident:
    announced = an_incident(
        f"OLD-{n}", started_at=on_day(n), attempts=(tried(fix),), title="GatewayErrors", service="pay"
    )
    return replace(announced, source=source or Source())


async def keeps(w: World, *records: Incident) -> None:
    await w.memory.incidents.commit(Changes(records=records, recallable=frozenset(r.incident_id for r in records)))


@pytest.fixture
async def w(tmp_path: Path) -> AsyncIterator[World]:
    async with world(tmp_path) as made:
        made.chat.channels["G1"] = Channel("G1", is_private=True)
        await keeps(made, old(1), old(2))
        for channel in ("C1", "G1"):
            await made.post(channel, title="GatewayErrors", service="pay", severity="critical")
        yield made


async def anybody(_user: str, _act: Act) -> None:
    """May."""


def wrong(w: World) -> DismissPrecedent:
    return DismissPrecedent(store=w.memory.incidents, feedback=w.memory.store.feedback, require=anybody, clock=w.clock)


async def incident(w: World, channel: str) -> str:
    (life,) = [
        life
        for life in await w.memory.incidents.list_open_lifecycles(OPERATOR)
        if ("G1" in life.visibility) == (channel == "G1")
    ]
    return life.incident_id


async def heeded(w: World, viewer: Viewer) -> list[str]:
    found = await w.memory.recall.precedents(ASKED, viewer)
    return [aside.incident_id for aside in found.set_aside]


async def test_what_is_said_in_a_private_channel_concerns_nobody_else(w: World) -> None:
    said = await wrong(w)(
        await incident(w, "G1"), "G1", IN_G1, "U1", PrecedentDismissal("OLD-1", DismissalReason.CAUSE), "v1"
    )
    assert said.visibility == "private:G1"
    assert (await heeded(w, PUBLIC), await heeded(w, IN_G1)) == ([], ["OLD-1"])


async def test_only_what_the_asker_may_see_by_now_can_be_set_aside(w: World) -> None:
    there = await incident(w, "C1")
    before = await wrong(w).open_form(there, "C1", PUBLIC)
    assert {"OLD-1", "OLD-2"} <= {line.incident_id for line in before.lines}
    await keeps(w, old(1, source=PRIVATE))
    after = await wrong(w).open_form(there, "C1", PUBLIC)
    assert "OLD-1" not in {line.incident_id for line in after.lines}
    with pytest.raises(RecordRejected):
        await wrong(w)(there, "C1", PUBLIC, "U1", PrecedentDismissal("OLD-1", DismissalReason.CAUSE), "v1")


async def test_taking_one_back_leaves_the_others(w: World) -> None:
    there = await incident(w, "C1")
    first, second = [
        await wrong(w)(there, "C1", PUBLIC, "U1", PrecedentDismissal(f"OLD-{n}", DismissalReason.CAUSE), f"v{n}")
        for n in (1, 2)
    ]
    await wrong(w).take_back(second.number, "C1", "U2")
    assert [aside.number for aside in await wrong(w).list_dismissed("C1")] == [first.number]
    await wrong(w).take_back(first.number, "G1", "U2")
    assert [aside.number for aside in await wrong(w).list_dismissed("C1")] == [first.number]


async def test_fixes_of_incidents_that_the_asker_may_not_see_are_not_shown(w: World) -> None:
    async def may(_user: str, _act: Act, _record: Incident | None) -> None:
        return None

    await keeps(w, old(1, "Flush the ledger cache"), old(2, "Empty the ledger cache", PRIVATE))
    say = GroupFixes(store=w.memory.incidents, feedback=w.memory.store.feedback, may=may, clock=w.clock)
    assert await say.list_pairs(("OLD-1", "OLD-2"), PUBLIC, "U1") == ()
    assert len(await say.list_pairs(("OLD-1", "OLD-2"), IN_G1, "U1")) == 1


async def test_who_may_not_say_it_has_said_nothing_and_takes_nothing_back(w: World) -> None:
    async def may(user: str, _act: Act, record: Incident | None) -> None:
        if user != "UAUTHOR" or record is None or record.incident_id != "OLD-2":
            raise NotAllowedHere("Only its author.")

    say = GroupFixes(store=w.memory.incidents, feedback=w.memory.store.feedback, may=may, clock=w.clock)
    pair = FixPair(Wording("Flush the ledger cache", "OLD-1"), Wording("Empty the ledger cache", "OLD-2"), same=True)
    with pytest.raises(NotAllowedHere):
        await say(pair, "U1", "p1")
    assert await say.list_equivalences() == ()
    said = await say(pair, "UAUTHOR", "p2")
    with pytest.raises(NotAllowedHere):
        await say.take_back(said.number, "U1")
    assert [each.number for each in await say.list_equivalences()] == [said.number]
    assert await say.take_back(said.number, "UAUTHOR")
    assert not await say.take_back(said.number, "UAUTHOR")
