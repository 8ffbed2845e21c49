"""The checks that wasted time, as a person types them."""

from __future__ import annotations

import pytest

from bot.domain.incidents.record import FailedCheck
from bot.domain.resolutions.failed_checks import read_failed_checks
from bot.domain.text.problem import FieldProblem


@pytest.mark.parametrize(
    ("line", "check", "minutes"),
    [
        ("DB pool, 25", "DB pool", 25),
        ("DB pool 25m", "DB pool", 25),
        ("DB pool - 25 min", "DB pool", 25),
        ("• DB pool (25 min)", "DB pool", 25),
        ("DB pool: 1.5 h", "DB pool", 90),
        ("DB pool 2 hours.", "DB pool", 120),
        ("restart worker 3", "restart worker 3", None),
        ("p95 latency", "p95 latency", None),
        ("DNS", "DNS", None),
    ],
)
def test_minutes_need_a_unit_or_a_mark(line: str, check: str, minutes: float | None) -> None:
    assert read_failed_checks(line) == (FailedCheck(check, minutes),)


@pytest.mark.parametrize("text", ["\n".join(["check"] * 21), "x" * 201, "25", ", 5", "DNS\n-3", "(10 min)"])
def test_too_much_of_it_or_no_name_is_refused_at_its_field(text: str) -> None:
    problem = read_failed_checks(text)
    assert isinstance(problem, FieldProblem)
    assert problem.field == "failed_checks"
