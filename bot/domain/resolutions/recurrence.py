"""Question a fix that was seen to work when its alert fires again soon after, and apply the answer to the attempt."""

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
    """An answer about a fix after which the alert fired again."""

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
    """The attempt in question."""

    incident_id: str
    number: int  # its position in the record, from 1
    fix: str
    minutes: int = 0  # how long after the resolution the alert fired again; 0 if that no longer matters

    @property
    def key(self) -> str:
        """The name of the question: one for each attempt, however often the alert fires again."""
        return build_recurrence_key(self.incident_id, self.number)


def is_soon_after(life: Lifecycle, at: datetime) -> bool:
    """Return whether a firing at `at` comes soon after the incident was resolved."""
    resolved = life.resolved_at if life.state is IncidentState.RESOLVED else None
    return resolved is not None and timedelta(0) < at - resolved < SOON


def find_fix_to_question(life: Lifecycle, record: Incident, at: datetime) -> QuestionedFix | None:
    """Return the attempt to ask about when the alert fires again at `at`: the last one, if it was VERIFIED."""
    if not is_soon_after(life, at) or life.resolved_at is None or not record.attempts:
        return None
    last = record.attempts[-1]
    if last.status is not VerificationStatus.VERIFIED:
        return None
    minutes = int((at - life.resolved_at).total_seconds() // 60)
    return QuestionedFix(record.incident_id, len(record.attempts), last.fix, minutes)


def find_open_question(record: Incident, number: int) -> QuestionedFix | None:
    """Return the question about an attempt that still waits for its answer; None if it was answered."""
    attempt = record.attempts[number - 1] if 0 < number <= len(record.attempts) else None
    if attempt is None or attempt.status is not VerificationStatus.PARTIAL or not (attempt.how or "").endswith(ASKED):
        return None
    return QuestionedFix(record.incident_id, number, attempt.fix)


def question_attempt(record: Incident, number: int) -> Incident:
    """Return the record with that attempt PARTIAL until somebody answers."""
    attempt = record.attempts[number - 1]
    asked = replace(attempt, status=VerificationStatus.PARTIAL, how=f"{attempt.how or ''}{ASKED}")
    return replace(record, attempts=(*record.attempts[: number - 1], asked, *record.attempts[number:]))


def apply_answer(record: Incident, number: int, answer: RecurrenceAnswer) -> Incident:
    """Return the record with a person's answer about that attempt; its author and time stay."""
    attempt = record.attempts[number - 1]
    how = (attempt.how or "").removesuffix(ASKED) or None
    answered = replace(attempt, status=STATUS_OF[answer], how=how)
    return replace(record, attempts=(*record.attempts[: number - 1], answered, *record.attempts[number:]))
