"""Wires the reading back of what was missed: Slack's history, the inbox, the connection. Must not decide what is read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Any

from bot.adapters.store import Store
from bot.domain.alerts.alert import Reading
from bot.ports.chat import BotIdentity
from bot.ports.clock import Clock
from bot.ports.delivery.inbox import ReceivedEvent
from bot.slack.client.chat import SlackChat
from bot.slack.client.history import SlackHistory
from bot.slack.inbound.events import OwnIdentity, read_back
from bot.workflows.alerts.catch_up import CatchUpChannels, WatchConnection

Reader = Callable[[Mapping[str, Any]], Reading]


def build_stay_connected(
    slack: SlackChat,
    store: Store,
    clock: Clock,
    identity: BotIdentity,
    reading: Reader,
    is_connected: Callable[[], Awaitable[bool]],
    connections: list[datetime],
) -> WatchConnection:
    """What follows each of these `connections` with a look at what was missed before it."""
    own = OwnIdentity(identity.bot_id, identity.user_id)
    read = partial(_read_back, identity.team_id, reading, own)
    catch_up = CatchUpChannels(
        history=SlackHistory(slack), inbox=store.inbox, backlog=store.inbox, clock=clock, read=read
    )
    return WatchConnection(
        heard=store.watermark, catch_up=catch_up, clock=clock, is_connected=is_connected, connections=connections
    )


def _read_back(
    team_id: str, reading: Reader, own: OwnIdentity, channel: str, message: Mapping[str, Any]
) -> ReceivedEvent | None:
    return read_back(channel, message, team_id, reading, own)
