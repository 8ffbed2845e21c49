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
from bot.slack.client.history import SlackHistory
from bot.slack.client.people import SlackPeople
from bot.slack.client.policy_chat import PolicyChat
from bot.slack.listeners.context import UseCases
from bot.slack.views.surfaces import SlackSurfaces
from bot.workflows.alerts.recurrence import AnswerRecurrence
from bot.workflows.assistant.analyze import ShowModelPayloads
from bot.workflows.assistant.converse import Converse
from bot.workflows.operations.status import ReportStatus
from bot.workflows.recall.recall import LookUpPrecedents
from bot.workflows.reports.digest import ComposeDigest
from bot.workflows.resolutions.not_same_outage import RecordNotSameOutage
from bot.workflows.resolutions.resolve import Resolve


@dataclass(frozen=True, slots=True)
class WorkspaceAccess:
    """The workspace that the bot is in: who it is there, who is who, what it may do and how it looks."""

    identity: BotIdentity
    people: SlackPeople
    chat: PolicyChat
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
    """Everything that a listener may call."""
    history = here.history
    preview = build_preview_channel(settings, memory, clock, history, here.identity, read) if history else None
    return UseCases(
        inbox=memory.inbox,
        store=memory.incidents,
        resolve=Resolve(
            memory.incidents,
            here.surfaces,
            clock,
            build_confirmation_rules(settings, here.people),
            memory.store.feedback,
        ),
        keep_apart=RecordNotSameOutage(memory.incidents, here.surfaces),
        answer_again=AnswerRecurrence(memory.incidents, here.surfaces),
        lookup=LookUpPrecedents(memory.recall, memory.index),
        compose_digest=ComposeDigest(memory.incidents, memory.store.feedback),
        status=status,
        chat=here.chat,
        surfaces=here.surfaces,
        clock=clock,
        read=read,
        agreed=build_channel_use_cases(
            settings,
            memory.incidents,
            memory.channels,
            here.people,
            here.chat,
            here.surfaces,
            clock,
            memory.store.feedback,
        ),
        correct=build_correct(settings, memory, here.people, clock),
        details=build_show_details(memory, clock),
        show_sent=ShowModelPayloads(memory.store.model_ledger),
        identity=here.identity,
        names=names,
        converse=converse,
        preview=preview,
    )
