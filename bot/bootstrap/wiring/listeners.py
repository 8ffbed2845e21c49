"""Wire the listeners: every use case that a person starts in Slack."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bot.bootstrap.wiring.assistant import build_show_model_payloads
from bot.bootstrap.wiring.channels import build_channel_use_cases
from bot.bootstrap.wiring.foundation import Foundation
from bot.bootstrap.wiring.operations import build_preview_channel
from bot.bootstrap.wiring.recall import build_look_up, build_show_details
from bot.bootstrap.wiring.reports import build_compose_digest
from bot.bootstrap.wiring.resolutions import (
    build_answer_recurrence,
    build_correct,
    build_not_same_outage,
    build_resolve,
)
from bot.domain.alerts.alert import Reading
from bot.slack.listeners.context import UseCases
from bot.workflows.assistant.converse import Converse
from bot.workflows.operations.status import ReportStatus


def build_use_cases(
    base: Foundation,
    *,
    read: Callable[[Mapping[str, Any]], Reading],
    status: ReportStatus,
    converse: Converse | None,
) -> UseCases:
    """Build everything that a listener may call."""
    return UseCases(
        inbox=base.memory.inbox,
        store=base.memory.incidents,
        resolve=build_resolve(base),
        keep_apart=build_not_same_outage(base),
        answer_again=build_answer_recurrence(base),
        lookup=build_look_up(base),
        compose_digest=build_compose_digest(base),
        status=status,
        chat=base.chat,
        surfaces=base.surfaces,
        clock=base.clock,
        read=read,
        agreed=build_channel_use_cases(base),
        correct=build_correct(base),
        details=build_show_details(base.memory, base.clock),
        show_sent=build_show_model_payloads(base.memory),
        identity=base.identity,
        names=base.names,
        converse=converse,
        preview=build_preview_channel(base, read=read),
    )
