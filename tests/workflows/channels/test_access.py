"""What people in a channel may see and do there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.domain.access.visibility import Viewer
from bot.ports.chat import Channel, ChatMessage
from bot.ports.errors import ChatRejected, IncidentNotFound, NotAllowedHere, RecordRejected
from bot.workflows.channels.access import NOBODY, PUBLIC, ChannelAccess
from bot.workflows.recall.share_answer import ShareAnswer
from bot.workflows.reports.open_incidents import ListOpenIncidents
from bot.workflows.resolutions.find_incident import FindIncident, ReadIncidentThread, RequireOver
from tests.workflows.world import World, world


@pytest.fixture
async def w(tmp_path: Path) -> AsyncIterator[World]:
    async with world(tmp_path) as made:
        made.chat.channels |= {"G1": Channel("G1", is_private=True), "C9": Channel("C9", is_shared=True)}
        made.chat.members["G1"] = frozenset({"U1"})
        made.chat.gone.add("C0")
        yield made


def access_of(w: World) -> ChannelAccess:
    return ChannelAccess(w.chat, w.memory.incidents)


async def test_a_shared_channel_shows_nothing_and_an_unseen_one_what_is_public(w: World) -> None:
    access = access_of(w)
    assert await access.find_viewer("C0") == PUBLIC
    assert await access.find_viewer("C9") == NOBODY
    with pytest.raises(NotAllowedHere, match="shared with another organisation"):
        await access.require_viewer("C9")
    with pytest.raises(NotAllowedHere):
        await access.require_channel("C9")
    with pytest.raises(ChatRejected, match="Invite me"):
        await access.require_channel("C0")


async def test_what_is_private_is_for_members_there_and_does_not_exist_elsewhere(w: World) -> None:
    ts = await w.post("G1")
    incident_id = await FindIncident(w.memory.incidents)("G1", "9.9", ts) or ""
    access = access_of(w)
    assert (await access.require_reader(incident_id, "G1", "U1")).may_see("private:G1")
    with pytest.raises(NotAllowedHere):
        await access.require_reader(incident_id, "G1", "U2")
    for called in (incident_id, "INC-99"):
        with pytest.raises(IncidentNotFound, match="of this message"):
            await access.require_visible(called, "C1", "U1", called="of this message")
        with pytest.raises(IncidentNotFound, match="no record"):
            await access.require_record(called, "C1", "U1")
    assert (await access.require_record(incident_id, "G1", "U1")).incident_id == incident_id
    assert await access.find_purgeable(incident_id, "G1", "U1") is not None


async def test_open_incidents_are_listed_for_who_may_see_them(w: World) -> None:
    ts = await w.post("C1")
    listed = await ListOpenIncidents(w.memory.incidents)(Viewer())
    assert [one.title for one in listed] == ["GatewayErrors"]
    assert await ListOpenIncidents(w.memory.incidents)(NOBODY) == ()
    find = FindIncident(w.memory.incidents)
    assert await find("C1", ts, None) == await find("C1", "9.9", ts)
    assert await find("C1", "9.9", "9.9") is None


async def test_an_incident_that_is_open_is_not_over_and_its_thread_is_found(w: World) -> None:
    ts = await w.post("C1")
    store = w.memory.incidents
    incident_id = await store.find_incident("C1", ts) or ""
    with pytest.raises(RecordRejected, match="fires again"):
        await RequireOver(store)(incident_id)
    thread = ReadIncidentThread(store, w.chat)
    assert await thread.find_root(incident_id, "C1") == ts
    assert await thread(None, "C1", None) is None
    assert await thread(incident_id, "C2", None) == []


async def test_an_answer_is_shared_once_for_a_modal(w: World) -> None:
    for _ in range(2):
        await ShareAnswer(w.memory.incidents)(ChatMessage("hello"), "C1", "V1")
    assert [row.entry.delivery_id for row in await w.drain_outbox()] == ["share/V1"]
