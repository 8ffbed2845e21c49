"""The use cases that correct records, wired. Must not decide anything."""

from __future__ import annotations

from bot.bootstrap.wiring.memory import Memory
from bot.domain.access.roles import Stewards, Verifiers
from bot.ports.channels import PeopleDirectory
from bot.ports.chat import Chat
from bot.ports.clock import Clock
from bot.ports.surfaces import Surfaces
from bot.settings import Settings
from bot.slack.listeners.context import CorrectionUseCases
from bot.slack.views.resolve_modal import read_failed_checks
from bot.workflows.alerts.answer import PreviewBrief
from bot.workflows.recall.details import ShowDetails
from bot.workflows.resolutions.correct import (
    EditRecord,
    PurgeRecord,
    RecordGate,
    RetractRecord,
    allow_operator,
    confirm_operator,
)
from bot.workflows.resolutions.refresh_briefs import RefreshBriefs
from bot.workflows.resolutions.resolve import ConfirmRecovery
from bot.workflows.resolutions.same_fix import GroupFixes


def build_confirmation_rules(settings: Settings, people: PeopleDirectory) -> ConfirmRecovery:
    """Who confirms that a fix worked."""
    return ConfirmRecovery(people, Verifiers(settings.verifier_group))


def build_correct(settings: Settings, memory: Memory, people: PeopleDirectory, clock: Clock) -> CorrectionUseCases:
    """What authors and stewards do in Slack."""
    gate = RecordGate(people, Stewards(settings.steward_ids, settings.steward_group))
    store = memory.incidents
    return CorrectionUseCases(
        EditRecord(store, gate, build_confirmation_rules(settings, people), read_failed_checks, clock),
        RetractRecord(store, gate),
        PurgeRecord(store, memory.store.purging, gate),
        GroupFixes(store, memory.store.feedback, gate, clock),
    )


def build_local_correct(memory: Memory, clock: Clock) -> CorrectionUseCases:
    """What the operator does on the command line: who holds the database may."""
    store = memory.incidents
    return CorrectionUseCases(
        EditRecord(store, allow_operator, confirm_operator, read_failed_checks, clock),
        RetractRecord(store, allow_operator),
        PurgeRecord(store, memory.store.purging, allow_operator),
        GroupFixes(store, memory.store.feedback, allow_operator, clock),
    )


def build_show_details(memory: Memory, clock: Clock) -> ShowDetails:
    """What shows everything behind a brief."""
    preview = PreviewBrief(memory.recall, memory.index)
    return ShowDetails(memory.incidents, memory.recall, memory.index, preview, clock, memory.store.brief_timings)


def build_refresh_briefs(memory: Memory, surfaces: Surfaces, clock: Clock, chat: Chat | None = None) -> RefreshBriefs:
    """What tells the threads whose brief used a record that was corrected."""
    preview = PreviewBrief(memory.recall, memory.index)
    return RefreshBriefs(memory.incidents, preview, surfaces, clock, memory.store.purging.compact, chat)
