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
from bot.slack.views.memo import SlackMemoSurfaces
from bot.workflows.assistant.converse import Converse
from bot.workflows.channels.access import ChannelAccess
from bot.workflows.delivery.queue_reply import PublishHome, QueueReply
from bot.workflows.operations.shadow import FindShadowed
from bot.workflows.operations.status import ReportStatus
from bot.workflows.recall.ask_memory import AskMemory
from bot.workflows.recall.share_answer import ShareAnswer
from bot.workflows.recall.vendor_profile import ProfileVendor
from bot.workflows.reports.open_incidents import ListOpenIncidents
from bot.workflows.reports.usefulness import ComposeUsefulnessReport
from bot.workflows.resolutions.find_incident import FindIncident, ReadIncidentThread, RequireOver
from bot.workflows.resolutions.memo_reaction import AnswerMemo, AskAboutMemo
from bot.workflows.resolutions.postmortem import RequestPostmortem


def build_use_cases(
    base: Foundation,
    *,
    read: Callable[[Mapping[str, Any]], Reading],
    status: ReportStatus,
    converse: Converse | None,
) -> UseCases:
    """Build everything that a listener may call."""
    store, inbox, feedback, chat, clock = (
        base.memory.incidents,
        base.memory.inbox,
        base.memory.store.feedback,
        base.chat,
        base.clock,
    )
    resolve = build_resolve(base)
    return UseCases(
        inbox=inbox,
        access=ChannelAccess(chat, store),
        surfaces=base.surfaces,
        clock=clock,
        read=read,
        identity=base.identity,
        resolve=resolve,
        find_incident=FindIncident(store),
        read_thread=ReadIncidentThread(store, chat),
        require_over=RequireOver(store),
        request_postmortem=RequestPostmortem(store, clock),
        keep_apart=build_not_same_outage(base),
        answer_recurrence=build_answer_recurrence(base),
        ask_about_memo=AskAboutMemo(store, inbox, chat, SlackMemoSurfaces()),
        answer_memo=AnswerMemo(chat, resolve),
        correct=build_correct(base),
        ask_memory=AskMemory(build_look_up(base), clock),
        profile_vendor=ProfileVendor(store, feedback, clock, base.names),
        share_answer=ShareAnswer(store),
        details=build_show_details(base.memory, clock),
        channels=build_channel_use_cases(base),
        queue_reply=QueueReply(store, chat),
        publish_home=PublishHome(inbox, chat),
        find_shadowed=FindShadowed(store),
        compose_digest=build_compose_digest(base),
        compose_report=ComposeUsefulnessReport(store, feedback),
        list_open_incidents=ListOpenIncidents(store),
        status=status,
        show_sent=build_show_model_payloads(base.memory),
        converse=converse,
        preview=build_preview_channel(base, read=read),
    )
