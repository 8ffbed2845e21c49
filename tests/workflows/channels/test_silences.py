"""Silencing by people, where somebody else is faster or nothing is known; and what an event says of its source."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.domain.access.roles import Person, Stewards
from bot.domain.alerts.suppression import MuteTarget, RuleScope
from bot.domain.delivery.kinds import Operation
from bot.domain.incidents.lifecycle import IncidentState
from bot.ports.chat import read_source
from bot.ports.delivery.outbox import Destination
from bot.ports.errors import IncidentNotFound, NotAllowedHere, RecordRejected, StoreConflict
from bot.ports.unit_of_work import Changes
from bot.slack.views.surfaces import SlackSurfaces
from bot.workflows.channels.settings import AdmitAlert, build_default_time
from bot.workflows.channels.silences import DismissAlert, FindAnsweredAlert, MuteAlerts, PermissionGate, UndoSilence
from tests.workflows.world import World, world


@dataclass
class WorldPeople:
    """Slack's facts about people, as told; everybody else is a member."""

    outsiders: set[str] = field(default_factory=set)

    async def read_person(self, user_id: str) -> Person:
        return Person(user_id, is_outsider=user_id in self.outsiders)

    async def list_groups(self) -> tuple[Any, ...]:
        return ()

    async def read_app_names(self, sources: Any) -> dict[str, str]:
        return {}


@dataclass
class Outrun:
    """A store in which somebody else changes the life first, the next `times` it is asked for."""

    inner: Any
    times: int

    async def read_lifecycle(self, incident_id: str) -> Any:
        life = await self.inner.read_lifecycle(incident_id)
        if self.times:
            self.times -= 1
            await self.inner.commit(Changes(lifecycles=(replace(life, fired=life.fired + 1),)))
        return life

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


@pytest.fixture
async def w(tmp_path: Path) -> AsyncIterator[World]:
    async with world(tmp_path) as made:
        admit = AdmitAlert(made.memory.channels, build_default_time("mon", 9, "UTC"))
        made.answer = replace(made.answer, admit=admit)
        yield made


async def fire(w: World, bot_id: str | None = "B1", **alert: Any) -> str:
    """Post an alert as an app, and work it off; its incident."""
    event: dict[str, Any] = {"channel": "C1", "ts": f"{int(w.clock.at.timestamp())}.000100", "alert": alert}
    await w.answer(await w.row(event | ({"bot_id": bot_id} if bot_id else {})))
    return await w.memory.incidents.find_incident("C1", event["ts"]) or ""


def parts(w: World, store: Any = None, people: Any = None) -> tuple[FindAnsweredAlert, DismissAlert, UndoSilence]:
    people, store = people or WorldPeople(), store or w.memory.incidents
    gate = PermissionGate(people, Stewards())
    return (
        FindAnsweredAlert(w.memory.incidents, w.memory.channels, people),
        DismissAlert(store=store, channels=w.memory.channels, gate=gate, clock=w.clock),
        UndoSilence(store=store, channels=w.memory.channels, gate=gate, clock=w.clock),
    )


@pytest.mark.parametrize(
    ("event", "source"),
    [
        ({"bot_id": "B1", "app_id": "A1", "user": "U1"}, "B1"),
        ({"app_id": "A1", "user": "U1"}, "A1"),
        ({"user": "U1"}, "U1"),
        ({"message": {"bot_id": "B2"}, "user": "U1"}, "B2"),
        ({}, ""),
    ],
)
def test_who_posted_it(event: dict[str, Any], source: str) -> None:
    assert read_source(event) == source


async def test_an_alert_that_fires_meanwhile_does_not_undo_the_dismissal(w: World) -> None:
    incident_id = await fire(w, severity="critical")
    find, dismiss, _ = parts(w, Outrun(w.memory.incidents, 3))
    rule = await dismiss(await find(incident_id, "C1"), "C1", "U1", RuleScope.TITLE)
    assert rule is not None
    life = await w.memory.incidents.read_lifecycle(incident_id)
    assert (life.state, life.fired) == (IncidentState.DISMISSED, 4)


async def test_somebody_who_is_always_faster_is_told_of(w: World) -> None:
    incident_id = await fire(w, severity="critical")
    find, dismiss, _ = parts(w, Outrun(w.memory.incidents, 99))
    with pytest.raises(StoreConflict):
        await dismiss(await find(incident_id, "C1"), "C1", "U1", RuleScope.TITLE)
    assert (await w.memory.channels.read_policy("C1", w.clock.now())).rules == ()


async def test_undoing_over_a_conflict(w: World) -> None:
    incident_id = await fire(w, severity="critical")
    find, dismiss, _ = parts(w)
    rule = await dismiss(await find(incident_id, "C1"), "C1", "U1", RuleScope.TITLE)
    assert rule is not None
    w.clock.advance(minutes=1)
    _, _, undo = parts(w, Outrun(w.memory.incidents, 2))
    assert (await undo("rule", rule.number, "C1", "U1")).rules == ()
    again = await dismiss(await find(incident_id, "C1"), "C1", "U1", RuleScope.TITLE)
    assert again is not None
    _, _, hopeless = parts(w, Outrun(w.memory.incidents, 99))
    with pytest.raises(StoreConflict):
        await hopeless("rule", again.number, "C1", "U1")


async def test_a_rule_of_an_incident_that_is_gone_is_undone(w: World) -> None:
    incident_id = await fire(w, severity="critical")
    find, dismiss, undo = parts(w)
    said = await find(incident_id, "C1")
    rule = await dismiss(said, "C1", "U1", RuleScope.TITLE)
    assert rule is not None
    number = await w.memory.channels.add_rule(replace(rule, title="other", incident_id="INC-99"), Changes())
    w.clock.advance(minutes=1)
    assert [r.number for r in (await undo("rule", number, "C1", "U1")).rules] == [rule.number]


async def test_a_post_of_nobody_teaches_nothing(w: World) -> None:
    incident_id = await fire(w, bot_id=None, severity="critical")
    find, dismiss, _ = parts(w)
    said = await find(incident_id, "C1")
    assert said.source == ""
    assert await dismiss(said, "C1", "U1", RuleScope.TITLE) is None
    assert (await w.memory.incidents.read_lifecycle(incident_id)).state is IncidentState.DISMISSED


async def test_every_message_of_a_superseded_brief_goes(w: World) -> None:
    incident_id = await fire(w, severity="critical")
    (posted,) = await w.memory.incidents.list_briefs(incident_id)
    newer = replace(posted, delivery_id=f"{posted.delivery_id}+2+5")
    await w.memory.incidents.commit(Changes(briefs=(newer,)))
    find, dismiss, _ = parts(w)
    await dismiss(await find(incident_id, "C1"), "C1", "U1", None)
    rows = []
    while claimed := await w.memory.outbox.claim(Destination.SLACK, 50):
        for row in claimed:
            await w.memory.outbox.acknowledge(row, "1.2")
        rows += [r.entry.payload["target"] for r in claimed if r.entry.operation == Operation.DELETE]
    name = posted.delivery_id
    assert rows == [name, f"{name}+2", f"{name}+2+5"]


async def test_without_a_brief_in_the_channel_there_is_nothing_to_silence(w: World) -> None:
    incident_id = await fire(w, severity="critical")
    find, _, _ = parts(w)
    with pytest.raises(IncidentNotFound):
        await find(incident_id, "C2")


async def test_who_may_not_silence_is_told_who_may(w: World) -> None:
    incident_id = await fire(w, severity="critical")
    people = WorldPeople({"U9"})
    find, dismiss, undo = parts(w, people=people)
    said = await find(incident_id, "C1")
    for refused in (dismiss(said, "C1", "U9", RuleScope.TITLE), undo("rule", 1, "C1", "U9")):
        with pytest.raises(NotAllowedHere, match="Only members of this workspace"):
            await refused


async def test_a_mute_of_a_service_needs_one_and_a_lost_brief_is_no_obstacle(w: World) -> None:
    incident_id = await fire(w, severity="critical")
    find, _, _ = parts(w)
    gate = PermissionGate(WorldPeople(), Stewards())
    mute = MuteAlerts(
        store=w.memory.incidents, channels=w.memory.channels, surfaces=SlackSurfaces(), gate=gate, clock=w.clock
    )
    said, until = await find(incident_id, "C1"), w.clock.now() + timedelta(hours=1)
    with pytest.raises(RecordRejected, match="names no service"):
        await mute(said, "C1", "U1", MuteTarget.SERVICE, until, "", "V1")
    with pytest.raises(RecordRejected, match="over already"):
        await mute(said, "C1", "U1", MuteTarget.CHANNEL, w.clock.now(), "", "V1")
    await w.drain_outbox()
    elsewhere = await mute(said, "C2", "U1", MuteTarget.CHANNEL, until, "a\x00b", "V2")
    assert elsewhere.reason == "ab"
    assert await w.drain_outbox() == []
    assert (await mute(said, "C1", "U1", MuteTarget.CHANNEL, until, "", "V3")).number > 0
    (told,) = await w.drain_outbox()
    assert told.entry.payload["thread_ts"]
