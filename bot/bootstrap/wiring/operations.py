"""Wire what operators and curious people ask for: the status, and the preview of a channel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bot import __version__
from bot.bootstrap.wiring.assistant import format_model_name
from bot.bootstrap.wiring.channels import read_digest_time
from bot.bootstrap.wiring.foundation import Foundation
from bot.bootstrap.wiring.shadow import (
    build_shadow_state,
)
from bot.domain.alerts.alert import Reading
from bot.slack.client.history import PastReader
from bot.slack.inbound.events import OwnIdentity
from bot.workflows.delivery.deliver import Deliver
from bot.workflows.operations.preview import PreviewChannel
from bot.workflows.operations.status import ReportStatus
from bot.workflows.operations.watch_dependencies import WatchDependencies
from bot.workflows.recall.preview_brief import PreviewBrief


def build_status(
    base: Foundation, *, deliver: Deliver, watch: WatchDependencies, sources: tuple[str, ...]
) -> ReportStatus:
    """Build what reports how the bot is doing."""
    memory = base.memory
    return ReportStatus(
        health=memory.health,
        outbox=memory.outbox,
        index=memory.index,
        clock=base.clock,
        memory=memory.name,
        model=format_model_name(base.settings),
        version=__version__,
        bank=memory.remote,
        events=memory.store.inbox_admin,
        paused=deliver.list_paused,
        watched=watch.list_states,
        traces=memory.store.brief_timings,
        sources=sources,
        shadow=build_shadow_state(base.settings, base.chat),
    )


def build_preview_channel(base: Foundation, *, read: Callable[[Mapping[str, Any]], Reading]) -> PreviewChannel:
    """Build the preview of what the bot would have said in a channel, by the real memory."""
    own = OwnIdentity(base.identity.bot_id, base.identity.user_id)
    return PreviewChannel(
        history=base.history,
        reader=PastReader(own, base.identity.team_id, read),
        channels=base.memory.channels,
        store=base.memory.incidents,
        brief=PreviewBrief(base.memory.recall, base.memory.index),
        clock=base.clock,
        default=read_digest_time(base.settings),
    )
