"""Whose eyes a preview has, and who gets one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from bot.bootstrap.wiring.channels import read_digest_time
from bot.domain.access.visibility import Viewer
from bot.domain.alerts.alert import Alert, AlertState
from bot.domain.alerts.suppression import ChannelPolicy
from bot.domain.brief.decide import decide
from bot.domain.recall.ranking import Recalled
from bot.ports.channel_history import HistoryPage
from bot.ports.chat import Channel
from bot.ports.errors import NotAllowedHere
from bot.settings import Settings
from bot.slack.listeners.interaction import Interaction
from bot.slack.listeners.preview import open_preview
from bot.workflows.channels.access import ChannelAccess
from bot.workflows.operations.preview import PreviewChannel
from tests.fakes import FakeClock

ALERT = Alert("grafana", AlertState.FIRING, "f", title="Disk")


async def test_a_preview_is_decided_with_the_eyes_of_its_channel() -> None:
    eyes: list[Viewer] = []

    async def between(*_: str) -> HistoryPage:
        return HistoryPage(({"ts": "1700000000.000001", "bot_id": "B1"},), "")

    async def brief(alert: Alert, viewer: Viewer, at: Any, *, incident: Any = None, history: Any = None) -> Any:
        eyes.append(viewer)
        return decide(alert, Recalled(), (), at, incident=incident)

    async def house(*_: Any) -> ChannelPolicy:
        return ChannelPolicy()

    async def incident_at(*_: str) -> None:
        return None

    reader = SimpleNamespace(read_alert=lambda _: ALERT, read_event=lambda *_: None, find_poster=lambda _: "x")
    parts: Any = {
        "history": SimpleNamespace(read_range=between),
        "reader": reader,
        "channels": SimpleNamespace(read_policy=house),
        "store": SimpleNamespace(find_incident=incident_at),
        "brief": brief,
        "clock": FakeClock(),
        "default": read_digest_time(Settings()),
    }
    for channel in (Channel("C1"), Channel("C2", is_private=True, pools=("C3",))):
        await PreviewChannel(**parts)(channel)
        assert eyes.pop() == channel.viewer
        assert eyes == []


async def test_who_is_not_in_a_private_channel_gets_no_preview_of_it() -> None:
    async def channel(channel_id: str, **_: Any) -> Channel:
        return Channel(channel_id, is_private=True)

    async def is_member(_channel: str, user: str) -> bool:
        return user == "U1"

    async def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("opened, or read, for somebody who may not see it")

    chat: Any = SimpleNamespace(read_channel=channel, is_member=is_member)
    deps: Any = SimpleNamespace(access=ChannelAccess(chat, chat), preview=never)
    client: Any = SimpleNamespace(views_open=never, views_update=never)
    body = {"channel": {"id": "C2"}, "user": {"id": "U2"}, "trigger_id": "t"}
    with pytest.raises(NotAllowedHere):
        await open_preview(deps, Interaction(body, client, never))
