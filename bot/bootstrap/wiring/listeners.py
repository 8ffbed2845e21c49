"""What Slack's listeners are given: every use case that a person starts. Must not decide, listen or post."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bot.bootstrap.wiring.channels import agreed_in_channels
from bot.bootstrap.wiring.corrections import confirming, correcting, detailing
from bot.bootstrap.wiring.memory import Memory
from bot.bootstrap.wiring.preview import previewing
from bot.domain.alerts.alert import Reading
from bot.domain.catalog.vendors import STANDARD, Directory
from bot.ports.chat import Identity
from bot.ports.clock import Clock
from bot.settings import Settings
from bot.slack.client.history import SlackHistory
from bot.slack.client.people import SlackPeople
from bot.slack.client.policy_chat import AgreedChat
from bot.slack.listeners.context import Listening
from bot.slack.views.surfaces import SlackSurfaces
from bot.workflows.alerts.recurrence import AnswerAgain
from bot.workflows.assistant.analyse import ShowSent
from bot.workflows.assistant.converse import Converse
from bot.workflows.operations.status import ReportStatus
from bot.workflows.recall.recall import LookUp
from bot.workflows.reports.digest import ComposeDigest
from bot.workflows.resolutions.not_same_outage import KeepApart
from bot.workflows.resolutions.resolve import Resolve


@dataclass(frozen=True, slots=True)
class Here:
    """The workspace that the bot is in: who it is there, who is who, what it may do and how it looks."""

    identity: Identity
    people: SlackPeople
    chat: AgreedChat
    surfaces: SlackSurfaces
    history: SlackHistory | None = None


def listening(
    settings: Settings,
    memory: Memory,
    clock: Clock,
    here: Here,
    read: Callable[[Mapping[str, Any]], Reading],
    status: ReportStatus,
    converse: Converse | None = None,
    names: Directory = STANDARD,
) -> Listening:
    """Everything that a listener may call."""
    history = here.history
    preview = previewing(settings, memory, clock, history, here.identity, read) if history else None
    return Listening(
        inbox=memory.inbox,
        store=memory.incidents,
        resolve=Resolve(
            memory.incidents,
            here.surfaces,
            clock,
            memory.bank is not None,
            confirming(settings, here.people),
            memory.store.said,
        ),
        keep_apart=KeepApart(memory.incidents, here.surfaces),
        answer_again=AnswerAgain(memory.incidents, here.surfaces, owes_bank=memory.bank is not None),
        lookup=LookUp(memory.recall, memory.index),
        compose_digest=ComposeDigest(memory.incidents, memory.store.said),
        status=status,
        chat=here.chat,
        surfaces=here.surfaces,
        clock=clock,
        read=read,
        agreed=agreed_in_channels(
            settings, memory.incidents, memory.channels, here.people, here.chat, here.surfaces, clock, memory.store.said
        ),
        correct=correcting(settings, memory, here.people, clock),
        details=detailing(memory, clock),
        show_sent=ShowSent(memory.store.model_ledger),
        identity=here.identity,
        names=names,
        converse=converse,
        preview=preview,
    )
