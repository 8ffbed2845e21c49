"""A fix that was seen to work, and its alert fired again soon: what is asked, and what each answer makes of the attempt.

Must not know who asks or where.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from bot.domain.delivery.ids import build_recurrence_key
from bot.domain.incidents.lifecycle import IncidentState, Lifecycle
from bot.domain.incidents.record import Incident, VerificationStatus

SOON = timedelta(minutes=60)
# Marks an attempt that is asked about; the answer takes the mark away.
ASKED = ", asked again"


class RecurrenceAnswer(StrEnum):
    """What people say of a fix after which the alert fired again."""

    PARTLY = "partly"
    FAILED = "did not work"
    UNRELATED = "unrelated"


STATUS_OF = {
    RecurrenceAnswer.PARTLY: VerificationStatus.PARTIAL,
    RecurrenceAnswer.FAILED: VerificationStatus.FAILED,
    RecurrenceAnswer.UNRELATED: VerificationStatus.VERIFIED,
}


@dataclass(frozen=True, slots=True)
class QuestionedFix:
    """The attempt that is asked about: the `number`-th of an incident's record (from 1), and how many minutes after it was
    resolved the alert came back (0 where that does not matter any more)."""

    incident_id: str
    number: int
    fix: str
    minutes: int = 0

    @property
    def key(self) -> str:
        """The name of this question: one for each attempt, however often the alert comes back."""
        return build_recurrence_key(self.incident_id, self.number)


def is_soon_after(life: Lifecycle, at: datetime) -> bool:
    """Whether an alert that fires at `at` comes back soon after its incident was resolved."""
    resolved = life.resolved_at if life.state is IncidentState.RESOLVED else None
    return resolved is not None and timedelta(0) < at - resolved < SOON


def find_fix_to_question(life: Lifecycle, record: Incident, at: datetime) -> QuestionedFix | None:
    """The fix to ask about when the alert fires again at `at`: the record's last attempt, if it was seen to work."""
    if not is_soon_after(life, at) or life.resolved_at is None or not record.attempts:
        return None
    last = record.attempts[-1]
    if last.status is not VerificationStatus.VERIFIED:
        return None
    minutes = int((at - life.resolved_at).total_seconds() // 60)
    return QuestionedFix(record.incident_id, len(record.attempts), last.fix, minutes)


def find_open_question(record: Incident, number: int) -> QuestionedFix | None:
    """The question about a record's `number`-th attempt that still waits for its answer."""
    attempt = record.attempts[number - 1] if 0 < number <= len(record.attempts) else None
    if attempt is None or attempt.status is not VerificationStatus.PARTIAL or not (attempt.how or "").endswith(ASKED):
        return None
    return QuestionedFix(record.incident_id, number, attempt.fix)


def question_attempt(record: Incident, number: int) -> Incident:
    """The record with its `number`-th attempt counted as partly, until somebody answers."""
    attempt = record.attempts[number - 1]
    asked = replace(attempt, status=VerificationStatus.PARTIAL, how=f"{attempt.how or ''}{ASKED}")
    return replace(record, attempts=(*record.attempts[: number - 1], asked, *record.attempts[number:]))


def apply_answer(record: Incident, number: int, answer: RecurrenceAnswer) -> Incident:
    """The record with what a person said of its `number`-th attempt. Who made the attempt, and when, stays."""
    attempt = record.attempts[number - 1]
    how = (attempt.how or "").removesuffix(ASKED) or None
    said = replace(attempt, status=STATUS_OF[answer], how=how)
    return replace(record, attempts=(*record.attempts[: number - 1], said, *record.attempts[number:]))
