"""People who are not in a private channel change nothing that is agreed in it, whatever they send."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from bot.domain.alerts.channel_settings import ChannelSettings
from bot.domain.alerts.suppression import Mute, MuteTarget
from bot.ports.chat import Channel
from bot.ports.unit_of_work import Changes
from bot.slack import ids
from bot.slack.client.chat import SlackChat
from bot.slack.payload import encode
from tests.slack.conftest import Desk
from tests.slack.listeners.listeners_support import BASE, dispatch

SECRET = "C0SECRET"
OUTSIDE: dict[str, Any] = BASE | {"user": {"id": "U0BOB"}}


async def test_a_mute_is_undone_by_members_alone(office: Desk) -> None:
    now = office.deps.clock.now()
    mute = Mute(SECRET, MuteTarget.CHANNEL, "", "this channel", now + timedelta(hours=1), "", "U0ALICE", now)
    await office.memory.channels.add_mute(mute, Changes())
    (held,) = (await office.memory.channels.read_policy(SECRET, now)).mutes
    action = {"type": "button", "action_id": ids.UNDO, "value": encode({"k": "mute", "n": held.number})}
    press = {"type": "block_actions", "channel": {"id": SECRET}, "actions": [action], "message": {"ts": "1.1"}}
    await dispatch(office, OUTSIDE | press)
    assert (await office.memory.channels.read_policy(SECRET, office.deps.clock.now())).mutes == (held,)
    await dispatch(office, BASE | press)
    assert (await office.memory.channels.read_policy(SECRET, office.deps.clock.now())).mutes == ()


async def test_settings_are_changed_by_members_alone_even_by_an_admin(office: Desk) -> None:
    office.slack.core.workspace.users["U0BOB"].is_admin = True
    said = {ids.QUIET: "22:00-07:00", ids.DIGEST_DAY: "fri", ids.DIGEST_HOUR: "16"}
    view = {
        "type": "modal",
        "callback_id": ids.CHANNEL_VIEW,
        "id": "V1",
        "private_metadata": json.dumps({"c": SECRET}),
        "state": {"values": {block: {ids.INPUT: {"value": value}} for block, value in said.items()}},
    }
    await dispatch(office, OUTSIDE | {"type": "view_submission", "view": view})
    assert await office.memory.channels.read_settings(SECRET) == ChannelSettings()
    await dispatch(office, BASE | {"type": "view_submission", "view": view})
    assert (await office.memory.channels.read_settings(SECRET)).digest_day == "fri"


@dataclass
class Pools:
    """What people agreed."""

    asked: list[str] = field(default_factory=list)

    async def list_pool(self, channel_id: str) -> tuple[str, ...]:
        self.asked.append(channel_id)
        return ("C0OTHER",)

    async def read_settings(self, _channel_id: str) -> ChannelSettings:
        return ChannelSettings()


@pytest.mark.parametrize(
    ("channel", "pools"),
    [
        (Channel(SECRET, is_private=True), ("C0OTHER",)),
        (Channel(SECRET), ()),
        (Channel(SECRET, is_private=True, is_shared=True), ()),
    ],
)
async def test_a_channel_that_others_read_has_no_pool_any_more(
    office: Desk, channel: Channel, pools: tuple[str, ...]
) -> None:
    chat = SlackChat(office.app.client, office.deps.clock, Pools())  # type: ignore[arg-type]  # only what is asked here
    chat._channels[SECRET] = (channel, office.deps.clock.now())
    assert (await chat.read_channel(SECRET)).pools == pools
