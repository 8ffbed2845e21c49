"""A fix in question: when it is asked about, and what each answer makes of it."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from bot.domain.incidents.lifecycle import IncidentState, Lifecycle
from bot.domain.resolutions.recurrence import (
    QuestionedFix,
    RecurrenceAnswer,
    apply_answer,
    find_fix_to_question,
    find_open_question,
    question_attempt,
)
from tests.builders import an_incident, on_day, tried

RESOLVED = on_day(3)
RECORD = an_incident("INC-7", attempts=(tried("in vain", "FAILED"), tried("restart", by="U1", how="modal")))


def life(state: IncidentState = IncidentState.RESOLVED, at: datetime | None = RESOLVED) -> Lifecycle:
    return Lifecycle("INC-7", "fp", "public", state, on_day(2), on_day(2), resolved_at=at)


@pytest.mark.parametrize(("minutes", "asks"), [(-1, False), (0, False), (1, True), (59, True), (60, False)])
def test_within_an_hour_of_the_resolution_the_fix_is_asked_about(minutes: int, asks: bool) -> None:
    found = find_fix_to_question(life(), RECORD, RESOLVED + timedelta(minutes=minutes))
    assert found == (QuestionedFix("INC-7", 2, "restart", minutes) if asks else None)


@pytest.mark.parametrize(
    ("was", "record"),
    [
        (life(IncidentState.CLEARED), RECORD),
        (life(at=None), RECORD),
        (life(), an_incident("INC-7")),
        (life(), an_incident("INC-7", attempts=(tried("x"), tried("y", "PARTIAL")))),
    ],
)
def test_what_was_not_resolved_by_a_fix_seen_to_work_is_not_asked_about(was: Lifecycle, record) -> None:
    assert find_fix_to_question(was, record, RESOLVED + timedelta(minutes=5)) is None


def test_a_fix_in_question_counts_as_partly_and_nothing_else_changes() -> None:
    asked = question_attempt(RECORD, 2)
    assert [a.status for a in asked.attempts] == ["FAILED", "PARTIAL"]
    assert find_open_question(asked, 2) == QuestionedFix("INC-7", 2, "restart")
    assert apply_answer(asked, 2, RecurrenceAnswer.UNRELATED) == RECORD


@pytest.mark.parametrize(
    ("answer", "status"), [(RecurrenceAnswer.PARTLY, "PARTIAL"), (RecurrenceAnswer.FAILED, "FAILED")]
)
def test_an_answer_ends_the_question(answer: RecurrenceAnswer, status: str) -> None:
    said = apply_answer(question_attempt(RECORD, 2), 2, answer)
    assert (said.attempts[1].status, said.attempts[1].how, said.attempts[1].by) == (status, "modal", "U1")
    assert find_open_question(said, 2) is None


def test_what_is_not_in_question_asks_nothing() -> None:
    assert find_open_question(RECORD, 2) is None
    assert find_open_question(an_incident(attempts=(tried("x", "PARTIAL", how="modal"),)), 1) is None
    assert find_open_question(RECORD, 0) is None
    assert find_open_question(RECORD, 3) is None


def test_an_attempt_without_a_way_gets_none_back() -> None:
    record = an_incident(attempts=(tried("x"),))
    assert apply_answer(question_attempt(record, 1), 1, RecurrenceAnswer.UNRELATED) == record


@pytest.mark.parametrize("number", [-1, 0, 3, 4])
def test_there_is_no_open_question_about_an_attempt_that_the_record_does_not_have(number: int) -> None:
    assert find_open_question(question_attempt(RECORD, 2), number) is None


def test_an_open_question_no_longer_knows_the_minutes() -> None:
    assert find_open_question(question_attempt(RECORD, 2), 2) == QuestionedFix("INC-7", 2, "restart", 0)
