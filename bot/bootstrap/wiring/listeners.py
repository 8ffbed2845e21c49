"""What Slack's listeners are given: every use case that a person starts. Must not decide, listen or post."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bot.bootstrap.wiring.channels import build_channel_use_cases
from bot.bootstrap.wiring.corrections import build_confirmation_rules, build_correct, build_show_details
from bot.bootstrap.wiring.memory import Memory
from bot.bootstrap.wiring.preview import build_preview_channel
from bot.domain.alerts.alert import Reading
from bot.domain.catalog.vendors import STANDARD, Directory
from bot.ports.chat import BotIdentity
from bot.ports.clock import Clock
from bot.settings import Settings
from bot.slack.client.chat import SlackChat
from bot.slack.client.history import SlackHistory
from bot.slack.client.people import SlackPeople
from bot.slack.listeners.context import UseCases
from bot.slack.views.memo import SlackMemoSurfaces
from bot.slack.views.surfaces import SlackSurfaces
from bot.workflows.alerts.recurrence import AnswerRecurrence
from bot.workflows.assistant.analyze import ShowModelPayloads
from bot.workflows.assistant.converse import Converse
from bot.workflows.channels.access import ChannelAccess
from bot.workflows.delivery.queue_reply import PublishHome, QueueReply
from bot.workflows.operations.shadow import FindShadowed
from bot.workflows.operations.status import ReportStatus
from bot.workflows.recall.ask_memory import AskMemory
from bot.workflows.recall.recall import LookUpPrecedents
from bot.workflows.recall.share_answer import ShareAnswer
from bot.workflows.recall.vendor_profile import ProfileVendor
from bot.workflows.reports.digest import ComposeDigest
from bot.workflows.reports.open_incidents import ListOpenIncidents
from bot.workflows.reports.usefulness import ComposeUsefulnessReport
from bot.workflows.resolutions.find_incident import FindIncident, ReadIncidentThread, RequireOver
from bot.workflows.resolutions.memo_reaction import AnswerMemo, AskAboutMemo
from bot.workflows.resolutions.not_same_outage import RecordNotSameOutage
from bot.workflows.resolutions.postmortem import RequestPostmortem
from bot.workflows.resolutions.resolve import Resolve


@dataclass(frozen=True, slots=True)
class WorkspaceAccess:
    """The workspace that the bot is in: who it is there, who is who, what it may do and how it looks."""

    identity: BotIdentity
    people: SlackPeople
    chat: SlackChat
    surfaces: SlackSurfaces
    history: SlackHistory | None = None


def build_use_cases(
    settings: Settings,
    memory: Memory,
    clock: Clock,
    here: WorkspaceAccess,
    read: Callable[[Mapping[str, Any]], Reading],
    status: ReportStatus,
    converse: Converse | None = None,
    names: Directory = STANDARD,
) -> UseCases:
    """Build every use case that a listener may call."""
    store, feedback, chat, surfaces = memory.incidents, memory.store.feedback, here.chat, here.surfaces
    owes_bank = memory.bank is not None
    confirms = build_confirmation_rules(settings, here.people)
    resolve = Resolve(store, surfaces, clock, owes_bank, confirms, feedback)
    history = here.history
    preview = build_preview_channel(settings, memory, clock, history, here.identity, read) if history else None
    return UseCases(
        inbox=memory.inbox,
        access=ChannelAccess(chat, store),
        surfaces=surfaces,
        clock=clock,
        read=read,
        identity=here.identity,
        resolve=resolve,
        find_incident=FindIncident(store),
        read_thread=ReadIncidentThread(store, chat),
        require_over=RequireOver(store),
        request_postmortem=RequestPostmortem(store, clock),
        keep_apart=RecordNotSameOutage(store, surfaces),
        answer_recurrence=AnswerRecurrence(store, surfaces, owes_bank=owes_bank),
        ask_about_memo=AskAboutMemo(store, memory.inbox, chat, SlackMemoSurfaces()),
        answer_memo=AnswerMemo(chat, resolve),
        correct=build_correct(settings, memory, here.people, clock),
        ask_memory=AskMemory(LookUpPrecedents(memory.recall, memory.index), clock),
        profile_vendor=ProfileVendor(store, feedback, clock, names),
        share_answer=ShareAnswer(store),
        details=build_show_details(memory, clock),
        channels=build_channel_use_cases(
            settings, store, memory.channels, here.people, chat, surfaces, clock, feedback
        ),
        queue_reply=QueueReply(store, chat),
        publish_home=PublishHome(memory.inbox, chat),
        find_shadowed=FindShadowed(store),
        compose_digest=ComposeDigest(store, feedback),
        compose_report=ComposeUsefulnessReport(store, feedback),
        list_open_incidents=ListOpenIncidents(store),
        status=status,
        show_sent=ShowModelPayloads(memory.store.model_ledger),
        converse=converse,
        preview=preview,
    )
