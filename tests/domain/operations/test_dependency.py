"""Since when a dependency is as it is, and what it failed with last, in plain words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.domain.operations.dependency import Dependency, describe_dependency, format_duration, record_check

AT = datetime(2026, 11, 23, 8, 0, tzinfo=UTC)


def after(*problems: str | None) -> Dependency:
    """Looked at once a minute from AT on."""
    state: Dependency | None = None
    for minute, problem in enumerate(problems):
        state = record_check(state, "loki", problem, AT + timedelta(minutes=minute))
    assert state is not None
    return state


@pytest.mark.parametrize(
    ("problems", "minutes", "said"),
    [
        ((None,), 0, "for 0 s"),
        ((None, None, None), 30, "for 30 min"),
        ((None, "no answer", "HTTP 503"), 13, "down for 12 min: HTTP 503"),
        (("no answer", None, None), 181, "for 3 h, latest failure 08:00 UTC: no answer"),
        (("no answer", None), 60 * 24 * 3, "for 3 days, latest failure 2026-11-23 08:00 UTC: no answer"),
        (("x" * 500,), 1, f"down for 60 s: {'x' * 119}…"),
    ],
)
def test_it_is_told_in_plain_words(problems: tuple[str | None, ...], minutes: int, said: str) -> None:
    assert describe_dependency(after(*problems), AT + timedelta(minutes=minutes)) == said


def test_a_failure_is_remembered_after_it_is_mended_and_again_replaced() -> None:
    mended = after(None, "first", None, None)
    assert (mended.since, mended.problem, mended.failed_with) == (AT + timedelta(minutes=2), None, "first")
    again = after(None, "first", None, "second", "third")
    assert (again.since, again.failed_with, again.failed_at) == (
        AT + timedelta(minutes=3),
        "third",
        AT + timedelta(minutes=4),
    )


@pytest.mark.parametrize(
    ("seconds", "said"), [(-5, "0 s"), (89, "89 s"), (90, "2 min"), (5_400, "2 h"), (200_000, "2 days")]
)
def test_spans(seconds: float, said: str) -> None:
    assert format_duration(seconds) == said
