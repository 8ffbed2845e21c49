"""The question of `/recall` as a person types it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.domain.recall.question import RecallQuestion, read_question, read_since, read_span
from bot.domain.text.problem import FieldProblem

NOW = datetime(2026, 11, 29, tzinfo=UTC)


def test_words_and_filters_are_taken_apart() -> None:
    question = read_question('payment 504 vendor:"acme pay" region:eu limit:3 since:2w', NOW)
    assert isinstance(question, RecallQuestion)
    assert (question.text, question.limit, question.since) == ("payment 504", 3, NOW - timedelta(weeks=2))
    assert (question.filters["vendor"], question.build_alert().region) == ("acme pay", "eu")
    assert question.wording.startswith("payment 504 vendor:acme pay")


def test_the_words_alone_are_decoded() -> None:
    question = read_question("a&amp;b vendor:x", NOW, lambda text: text.replace("&amp;", "&"))
    assert isinstance(question, RecallQuestion)
    assert question.text == "a&b"


@pytest.mark.parametrize(
    ("text", "field"),
    [("x limit:0", "limit"), ("x limit:11", "limit"), ("x limit:a", "limit"), ("x since:soon", "since")],
)
def test_a_filter_that_cannot_be_read_is_named(text: str, field: str) -> None:
    problem = read_question(text, NOW)
    assert isinstance(problem, FieldProblem)
    assert problem.field == field


def test_a_beginning_is_a_span_or_a_date() -> None:
    assert read_since("2026-01-31", NOW) == datetime(2026, 1, 31, tzinfo=UTC)
    assert read_since("12h", NOW) == NOW - timedelta(hours=12)
    assert read_span("a week") is None
