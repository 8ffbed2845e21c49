"""The use cases that correct records, wired. Must not decide anything."""

from __future__ import annotations

from bot.bootstrap.wiring.memory import Memory
from bot.domain.access.roles import Stewards, Verifiers
from bot.ports.channels import People
from bot.ports.chat import Chat, Surfaces
from bot.ports.clock import Clock
from bot.settings import Settings
from bot.slack.listeners.context import Correct
from bot.slack.views.resolve_modal import failed_checks
from bot.workflows.alerts.answer import PreviewBrief
from bot.workflows.recall.details import ShowDetails
from bot.workflows.resolutions.correct import (
    EditRecord,
    PurgeRecord,
    RecordGate,
    RetractRecord,
    operator_confirms,
    operator_may,
)
from bot.workflows.resolutions.refresh_briefs import TellThreads
from bot.workflows.resolutions.resolve import Confirming
from bot.workflows.resolutions.same_fix import SayFixes


def confirming(settings: Settings, people: People) -> Confirming:
    """Who confirms that a fix worked."""
    return Confirming(people, Verifiers(settings.verifier_group))


def correcting(settings: Settings, memory: Memory, people: People, clock: Clock) -> Correct:
    """What authors and stewards do in Slack."""
    gate = RecordGate(people, Stewards(settings.steward_ids, settings.steward_group))
    owes, store = memory.bank is not None, memory.incidents
    return Correct(
        EditRecord(store, gate, confirming(settings, people), failed_checks, clock, owes),
        RetractRecord(store, gate, owes),
        PurgeRecord(store, memory.store.purging, gate, owes),
        SayFixes(store, memory.store.said, gate, clock),
    )


def correcting_here(memory: Memory, clock: Clock) -> Correct:
    """What the operator does on the command line: who holds the database may."""
    owes, store = memory.bank is not None, memory.incidents
    return Correct(
        EditRecord(store, operator_may, operator_confirms, failed_checks, clock, owes),
        RetractRecord(store, operator_may, owes),
        PurgeRecord(store, memory.store.purging, operator_may, owes),
        SayFixes(store, memory.store.said, operator_may, clock),
    )


def detailing(memory: Memory, clock: Clock) -> ShowDetails:
    """What shows everything behind a brief."""
    preview = PreviewBrief(memory.recall, memory.index)
    return ShowDetails(memory.incidents, memory.recall, memory.index, preview, clock, memory.store.traces)


def telling(memory: Memory, surfaces: Surfaces, clock: Clock, chat: Chat | None = None) -> TellThreads:
    """What tells the threads whose brief used a record that was corrected."""
    preview = PreviewBrief(memory.recall, memory.index)
    return TellThreads(memory.incidents, preview, surfaces, clock, memory.store.purging.compact, chat)
