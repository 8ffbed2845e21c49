"""What is set in a channel: who may, what is refused, what is said of it in the audit log."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from bot.adapters.store.database.tables import audit
from bot.domain.access.roles import Person, Stewards
from bot.domain.alerts.alert import Severity
from bot.domain.alerts.channel_settings import ChannelSettings
from bot.ports.audit import read_detail
from bot.ports.channels import AlertSource
from bot.ports.chat import Channel
from bot.ports.errors import ChatAuthRejected, NotAllowedHere, RecordRejected
from bot.ports.unit_of_work import Changes
from bot.workflows.channels.settings import ChangeChannel, ShowChannel, build_default_time
from tests.fakes import FakeChat
from tests.workflows.world import World, world

STEWARDS = Stewards(frozenset({"U1"}))
DEFAULT = build_default_time("mon", 9, "Europe/Berlin")


@dataclass
class WorldPeople:
    """Slack's facts about people and apps, as told."""

    names: dict[str, str] = field(default_factory=dict)

    async def read_person(self, user_id: str) -> Person:
        return Person(user_id)

    async def list_groups(self) -> tuple[Any, ...]:
        return ()

    async def read_app_names(self, sources: Any) -> dict[str, str]:
        return self.names


@pytest.fixture
async def w(tmp_path: Path) -> AsyncIterator[World]:
    async with world(tmp_path) as made:
        for channel in ("G1", "G2"):
            made.chat.channels[channel] = Channel(channel, is_private=True)
        made.chat.channels["G3"] = Channel("G3", is_private=True, is_shared=True)
        yield made


def change(w: World, chat: FakeChat | None = None) -> ChangeChannel:
    return ChangeChannel(
        channels=w.memory.channels, people=WorldPeople(), chat=chat or w.chat, stewards=STEWARDS, default=DEFAULT
    )


async def told(w: World) -> list[str]:
    async with w.memory.store.database.read() as connection:
        return list((await connection.execute(sa.select(audit.c.detail).order_by(audit.c.id))).scalars())


async def test_the_audit_log_says_what_was_changed(w: World) -> None:
    await change(w)("G1", "U1", ChannelSettings(minimum=Severity.HIGH, sources=frozenset({"B2", "B1"})), ("G2", "G1"))
    await change(w)("G1", "U1", ChannelSettings(), ())
    await change(w)("G1", "U1", ChannelSettings(zone="Europe/Berlin", digest_day="mon", digest_hour=9))
    nothing: dict[str, object] = {"sources": [], "minimum": None, "pool": []}
    set_to = {"sources": ["B1", "B2"], "minimum": "high", "pool": ["G2"]}
    said = [read_detail(detail) for detail in await told(w)]
    assert said == [("", nothing, set_to), ("", set_to, nothing), ("", {}, {})]


@pytest.mark.parametrize(
    ("channel", "pool", "why"),
    [
        ("C1", ("G1",), "Pools are for private channels"),
        ("G3", ("G1",), "Pools are for private channels"),
        ("G1", ("C1",), "Only private channels"),
        ("G1", ("G3",), "Only private channels"),
        ("G1", ("C9",), "Invite me there"),
    ],
)
async def test_pools_that_would_let_others_read_along_are_refused(
    w: World, channel: str, pool: tuple[str, ...], why: str
) -> None:
    w.chat.gone.add("C9")
    with pytest.raises(RecordRejected, match=why) as refused:
        await change(w)(channel, "U1", ChannelSettings(), pool)
    assert refused.value.field == "pool"
    assert await w.memory.channels.list_pool(channel) == ()


@pytest.mark.parametrize("not_in", ["G1", "G2"])
async def test_whoever_is_not_in_both_pools_nothing_and_may_end_a_pool(w: World, not_in: str) -> None:
    await change(w)("G1", "U1", ChannelSettings(), ("G2",))
    w.chat.members[not_in] = frozenset({"U2"})
    await change(w)("G1", "U1", ChannelSettings(), ("G2",))  # nothing new
    await change(w)("G1", "U1", ChannelSettings(), ())
    with pytest.raises(RecordRejected, match="member of"):
        await change(w)("G1", "U1", ChannelSettings(), ("G2",))
    assert await w.memory.channels.list_pool("G2") == ()


async def test_a_token_that_is_refused_is_no_missing_channel(w: World) -> None:
    class Refused(FakeChat):
        async def read_channel(self, channel_id: str, *, within_s: float | None = None) -> Channel:
            if channel_id == "G2":
                raise ChatAuthRejected("The token is revoked.", "token_revoked")
            return await super().read_channel(channel_id)

    with pytest.raises(ChatAuthRejected):
        await change(w, Refused(channels=w.chat.channels))("G1", "U1", ChannelSettings(), ("G2",))


async def test_only_a_steward_sets_anything_and_only_shared_channels_are_allowed(w: World) -> None:
    with pytest.raises(NotAllowedHere, match="Workspace admins and owners and the stewards whom the operator listed"):
        await change(w)("C1", "U2", ChannelSettings(nudges=False))
    with pytest.raises(RecordRejected, match="not shared"):
        await change(w)("C1", "U1", ChannelSettings(shared=True))
    with pytest.raises(RecordRejected, match="No such time zone"):
        await change(w)("C1", "U1", ChannelSettings(zone="Mars/Olympus"))
    assert await w.memory.channels.read_settings("C1") == ChannelSettings()
    assert (await change(w)("G3", "U1", ChannelSettings(shared=True))).shared


async def test_apps_are_shown_by_what_people_call_them(w: World) -> None:
    seen = (("B1", "grafana"), ("B1", "generic"), ("B2", "datadog"), ("B3", "sentry"))
    for number, (source, tool) in enumerate(seen):
        await w.memory.channels.note_source("C1", f"f{number}", AlertSource(source, tool))
    await w.memory.channels.save_settings("C1", ChannelSettings(sources=frozenset({"B9"})), (), Changes())
    people = WorldPeople({"B1": "Our Grafana", "B2": "Datadog", "B9": "Silent app"})
    shown = await ShowChannel(
        channels=w.memory.channels, people=people, chat=w.chat, stewards=STEWARDS, default=DEFAULT
    )("C1", "U2")
    assert shown.sources == (
        ("B1", "Our Grafana (generic, grafana)"),
        ("B2", "Datadog"),
        ("B3", "sentry (B3)"),
        ("B9", "Silent app"),
    )
    assert (shown.may.allowed, shown.digest) == (False, DEFAULT)
