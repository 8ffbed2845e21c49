"""Wire what people record: resolutions, corrections, and the questions about what cleared unrecorded."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from bot.bootstrap.wiring.channels import build_stewards, read_digest_time
from bot.bootstrap.wiring.foundation import Foundation
from bot.bootstrap.wiring.memory import Memory
from bot.bootstrap.wiring.shadow import wrap_nudges
from bot.domain.access.roles import Permission, Verifiers
from bot.ports.chat import Chat
from bot.ports.clock import Clock
from bot.ports.surfaces import Surfaces
from bot.slack.listeners.context import CorrectionUseCases
from bot.workflows.alerts.recurrence import AnswerRecurrence
from bot.workflows.recall.preview_brief import PreviewBrief
from bot.workflows.resolutions.confirm_recovery import ConfirmRecovery
from bot.workflows.resolutions.correct import (
    EditRecord,
    PurgeRecord,
    RecordAccess,
    RecordGate,
    RetractRecord,
    allow_operator,
    confirm_operator,
)
from bot.workflows.resolutions.not_same_outage import RecordNotSameOutage
from bot.workflows.resolutions.nudge import PostNudges
from bot.workflows.resolutions.refresh_briefs import RefreshBriefs
from bot.workflows.resolutions.resolve import Resolve
from bot.workflows.resolutions.same_fix import GroupFixes


def build_confirmation_rules(base: Foundation) -> ConfirmRecovery:
    """Return who may confirm that a fix worked."""
    return ConfirmRecovery(base.people, Verifiers(base.settings.verifier_group))


def build_resolve(base: Foundation) -> Resolve:
    """Build what records a resolution."""
    return Resolve(
        store=base.memory.incidents,
        surfaces=base.surfaces,
        clock=base.clock,
        confirms=build_confirmation_rules(base),
        feedback=base.memory.store.feedback,
    )


def build_not_same_outage(base: Foundation) -> RecordNotSameOutage:
    """Build what records that two incidents are not one outage."""
    return RecordNotSameOutage(store=base.memory.incidents, surfaces=base.surfaces)


def build_answer_recurrence(base: Foundation) -> AnswerRecurrence:
    """Build what records the answer to the question about a recurrence."""
    return AnswerRecurrence(store=base.memory.incidents, surfaces=base.surfaces)


def build_correct(base: Foundation) -> CorrectionUseCases:
    """Build what authors and stewards correct in Slack."""
    gate = RecordGate(base.people, build_stewards(base.settings))
    return _build_corrections(base.memory, base.clock, gate, build_confirmation_rules(base))


def build_local_correct(memory: Memory, clock: Clock) -> CorrectionUseCases:
    """Build what the operator corrects on the command line: whoever has the database may."""
    return _build_corrections(memory, clock, allow_operator, confirm_operator)


def _build_corrections(
    memory: Memory, clock: Clock, may: RecordAccess, confirms: Callable[[str], Awaitable[Permission]]
) -> CorrectionUseCases:
    store = memory.incidents
    return CorrectionUseCases(
        edit=EditRecord(store=store, may=may, confirms=confirms, clock=clock),
        retract=RetractRecord(store, may),
        purge=PurgeRecord(store=store, purging=memory.store.purging, may=may),
        fixes=GroupFixes(store=store, feedback=memory.store.feedback, may=may, clock=clock),
    )


def build_refresh_briefs(memory: Memory, surfaces: Surfaces, clock: Clock, chat: Chat | None = None) -> RefreshBriefs:
    """Build what updates the threads whose brief used a corrected record."""
    return RefreshBriefs(
        store=memory.incidents,
        preview=PreviewBrief(memory.recall, memory.index),
        surfaces=surfaces,
        clock=clock,
        compact=memory.store.purging.compact,
        chat=chat,
    )


def build_post_nudges(base: Foundation) -> PostNudges | None:
    """Build what asks people about incidents that cleared with no recorded fix; None if the operator switched it off."""
    if base.settings.nudge == "off":
        return None
    return PostNudges(
        nudges=wrap_nudges(base.settings, base.chat, base.memory.store.nudges),
        store=base.memory.incidents,
        channels=base.memory.channels,
        people=base.people,
        chat=base.chat,
        surfaces=base.surfaces,
        clock=base.clock,
        default=read_digest_time(base.settings),
    )
