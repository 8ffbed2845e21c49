"""People asked what ended the incidents that cleared: whom, when, and once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bot.domain.access.roles import Person, Stewards
from bot.domain.alerts.channel_settings import ChannelSettings
from bot.ports.chat import Channel, ThreadMessage
from bot.ports.errors import ChatRejected, ChatUnavailable, NotAllowedHere
from bot.ports.unit_of_work import Changes
from bot.slack.views.surfaces import SlackSurfaces
from bot.workflows.channels.settings import build_default_time
from bot.workflows.channels.silences import PermissionGate
from bot.workflows.resolutions.nudge import PostNudges, StopNudges
from bot.workflows.resolutions.resolve import FixOutcome, Resolution
from tests.workflows.world import World, world

CLEARED = datetime(2026, 11, 24, 15, 0, tzinfo=UTC)  # a Tuesday
TEN = datetime(2026, 11, 25, 9, 0, tzinfo=UTC)  # in Berlin
KNOWN = {"U1": Person("U1", zone="Europe/Berlin"), "U2": Person("U2"), "U9": Person("U9", is_bot=True)}


@dataclass
class WorldPeople:
    """Slack's facts of people, as told."""

    known: dict[str, Person] = field(default_factory=lambda: dict(KNOWN))

    async def read_person(self, user_id: str) -> Person:
        if user_id not in self.known:
            raise ChatRejected("There is no such user.", "user_not_found")
        return self.known[user_id]

    async def list_groups(self) -> tuple[Any, ...]:
        return ()

    async def read_app_names(self, sources: Sequence[str]) -> dict[str, str]:
        return {}


@pytest.fixture
async def w(tmp_path: Path) -> AsyncIterator[World]:
    async with world(tmp_path) as made:
        made.clock.at = CLEARED
        yield made


def job(w: World, people: WorldPeople | None = None, zone: str = "Europe/Berlin") -> PostNudges:
    memory, default = w.memory, build_default_time("mon", 9, zone)
    people = people or WorldPeople()
    return PostNudges(
        nudges=memory.store.nudges,
        store=memory.incidents,
        channels=memory.channels,
        people=people,
        chat=w.chat,
        surfaces=SlackSurfaces(),
        clock=w.clock,
        default=default,
    )


async def cleared(w: World, *authors: str, name: str = "a", by: str | None = None, channel: str = "C1") -> str:
    """An incident that cleared, with what people wrote in its thread; its id."""
    w.clock.advance(seconds=1)
    ts = await w.post(channel, fingerprint=name, title=f"Alert {name}", severity="critical")
    if by:
        w.clock.advance(seconds=1)
        await w.post(channel, fingerprint=name, state="acknowledged", labels={"acknowledged_by": by})
    w.clock.advance(seconds=1)
    await w.post(channel, fingerprint=name, state="resolved")
    w.chat.threads[channel, ts] = tuple(ThreadMessage(who, f"{n}.1", "x", ts) for n, who in enumerate(authors))
    await w.drain_outbox()
    return await w.memory.incidents.find_incident(channel, ts) or ""


async def asked(w: World) -> dict[str, str]:
    """What is owed to people, by the conversation."""
    rows = [r.entry for r in await w.drain_outbox() if r.entry.delivery_id.startswith("nudge/")]
    return {str(row.payload["channel"]): repr(row.payload) for row in rows}


async def test_one_message_at_ten_for_all_of_a_person_and_never_again(w: World) -> None:
    for name, people in (("a", ("U2", "U1", "U1")), ("b", ("U1", "U9", "U9", "U9")), ("c", ())):
        await cleared(w, *people, name=name)
    first, second = job(w), job(w)
    for hour in (4, 8):
        w.clock.at = TEN.replace(hour=hour)
        assert await first() == 0
    w.clock.at = TEN
    assert sum(await asyncio.gather(first(), second(), first())) == 1
    said = await asked(w)
    assert list(said) == ["DU1"]
    assert all(name in said["DU1"] for name in ("Alert a", "Alert b"))
    assert "Alert c" not in said["DU1"]
    assert "{'of_channels': ['C1']}" in said["DU1"]  # by which it is known who else may read it
    assert await w.memory.store.nudges.list_unasked(CLEARED) == ()
    for days in (1, 1, 5):
        w.clock.advance(days=days)
        assert await job(w)() == 0


async def test_who_acknowledged_is_asked_in_their_own_zone_without_reading_the_thread(w: World) -> None:
    await cleared(w, "U1", name="a", by="<@U22>")
    people = WorldPeople({"U22": Person("U22", zone="Asia/Kolkata")})
    w.clock.at = datetime(2026, 11, 25, 4, 30, tzinfo=UTC)
    assert await job(w, people)() == 1
    assert list(await asked(w)) == ["DU22"]


async def test_what_people_did_meanwhile_counts(w: World) -> None:
    resolved, again, late = [await cleared(w, "U1", name=name) for name in ("a", "b", "c")]
    posting = job(w)
    w.clock.at = TEN.replace(hour=7)
    assert await posting() == 0
    await w.resolve(Resolution(FixOutcome.RECOVERED, resolved, fix="x"), "U1", "v1")
    await w.post(fingerprint="b", title="Alert b", severity="critical")
    (brief,) = await w.memory.incidents.list_briefs(late)
    w.chat.threads["C1", brief.root_ts] = (
        ThreadMessage("U2", "5.1", "x"),
        ThreadMessage("U2", "5.2", "x"),
        ThreadMessage("U1", "5.3", "x"),
    )
    w.clock.at = TEN
    assert await posting() == 1
    said = await asked(w)
    assert list(said) == ["DU2"]
    assert late in said["DU2"]
    assert again not in said["DU2"]


@pytest.mark.parametrize("why", ["nudges off", "stopped", "shared", "gone", "left", "deactivated"])
async def test_nobody_is_asked_where_that_is_not_wanted_or_not_theirs(w: World, why: str) -> None:
    w.chat.channels["C1"] = Channel("C1", is_private=True)
    incident_id = await cleared(w, "U1")
    people, gate = WorldPeople(), PermissionGate(WorldPeople(), Stewards())
    stop = StopNudges(store=w.memory.incidents, channels=w.memory.channels, require=gate.require, clock=w.clock)
    if why == "nudges off":
        await w.memory.channels.save_settings("C1", ChannelSettings(nudges=False), (), Changes())
    elif why == "stopped":
        await stop(incident_id, "C1", "U1")
    elif why == "shared":
        w.chat.channels["C1"] = Channel("C1", is_private=True, is_shared=True)
    elif why == "gone":
        w.chat.gone.add("C1")
    elif why == "left":
        w.chat.members["C1"] = frozenset({"U2"})
    else:
        people.known["U1"] = Person("U1", is_gone=True)
    w.clock.at = TEN
    assert await job(w, people)() == 0
    assert await asked(w) == {}


async def test_what_was_stopped_is_listed_and_can_be_undone_and_mutes_nothing(w: World) -> None:
    incident_id = await cleared(w, "U1")
    gate = PermissionGate(WorldPeople(), Stewards())
    stop = StopNudges(store=w.memory.incidents, channels=w.memory.channels, require=gate.require, clock=w.clock)
    await stop(incident_id, "C1", "U1")
    await stop(incident_id, "C1", "U2")
    (mute,) = (await w.memory.channels.read_policy("C1", w.clock.now())).mutes
    assert (mute.shown, mute.by) == ("Alert a", "U2")
    assert await w.memory.channels.undo_silence(mute, "U1", Changes())
    w.clock.at = TEN
    assert await job(w)() == 1
    guests = PermissionGate(WorldPeople({"U7": Person("U7", is_guest=True)}), Stewards())
    stop = StopNudges(store=w.memory.incidents, channels=w.memory.channels, require=guests.require, clock=w.clock)
    with pytest.raises(NotAllowedHere, match="Guests may not"):
        await stop(incident_id, "C1", "U7")


async def test_somebody_whom_slack_lets_nobody_write_to_is_asked_neither_now_nor_later(w: World) -> None:
    await cleared(w, "U1")
    w.clock.at = TEN
    w.chat.open_direct_message = refuses(ChatRejected("no", "cannot_dm_bot"))  # type: ignore[method-assign]  # this Slack refuses
    assert await job(w)() == 0
    assert await w.memory.store.nudges.list_unasked(CLEARED) == ()


async def test_while_slack_does_not_answer_nothing_is_settled(w: World) -> None:
    await cleared(w, "U1")
    w.clock.at = TEN
    w.chat.read_thread = refuses(ChatUnavailable("Slack asks to wait."))  # type: ignore[method-assign]  # this Slack is slow
    with pytest.raises(ChatUnavailable):
        await job(w)()
    assert len(await w.memory.store.nudges.list_unasked(CLEARED)) == 1


def refuses(error: Exception) -> Any:
    async def fail(*_: object) -> Any:
        raise error

    return fail
