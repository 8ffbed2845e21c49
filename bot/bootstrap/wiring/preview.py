"""The preview of a channel, wired. Must not decide anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bot.bootstrap.wiring.channels import read_digest_time
from bot.bootstrap.wiring.memory import Memory
from bot.domain.alerts.alert import Reading
from bot.ports.chat import BotIdentity
from bot.ports.clock import Clock
from bot.settings import Settings
from bot.slack.client.history import PastReader, SlackHistory
from bot.slack.inbound.events import OwnIdentity
from bot.workflows.operations.preview import PreviewChannel
from bot.workflows.recall.preview_brief import PreviewBrief


def build_preview_channel(
    settings: Settings,
    memory: Memory,
    clock: Clock,
    history: SlackHistory,
    identity: BotIdentity,
    read: Callable[[Mapping[str, Any]], Reading],
) -> PreviewChannel:
    """What the bot would have said, asked of the real memory."""
    return PreviewChannel(
        history=history,
        reader=PastReader(OwnIdentity(identity.bot_id, identity.user_id), identity.team_id, read),
        channels=memory.channels,
        store=memory.incidents,
        brief=PreviewBrief(memory.recall, memory.index),
        clock=clock,
        default=read_digest_time(settings),
    )
