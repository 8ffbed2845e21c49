"""The state of something that the bot depends on: whether it answers, since when, and how it failed last."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

MOST_SAID = 120


@dataclass(frozen=True, slots=True)
class Dependency:
    """One thing that the bot depends on."""

    name: str
    since: datetime  # when the present state began, or was first seen
    problem: str | None = None  # why it cannot be used now; None if it can
    failed_with: str | None = None  # the latest failure, which may be over
    failed_at: datetime | None = None


def record_check(before: Dependency | None, name: str, problem: str | None, at: datetime) -> Dependency:
    """Return the state after a check at `at` that found this problem, or None."""
    turned = before is None or (before.problem is None) is not (problem is None)
    since = at if before is None or turned else before.since
    if problem is not None:
        return Dependency(name, since, problem, problem, at)
    latest = (before.failed_with, before.failed_at) if before else (None, None)
    return Dependency(name, since, None, *latest)


def describe_dependency(dependency: Dependency, now: datetime) -> str:
    """Describe the state: "for 3 h, latest failure 08:05 UTC: no answer within 3 s", or "down for 12 min: ..."."""
    lasted = format_duration((now - dependency.since).total_seconds())
    if dependency.problem is not None:
        return f"down for {lasted}: {_shorten(dependency.problem)}"
    if dependency.failed_with is None or dependency.failed_at is None:
        return f"for {lasted}"
    return (
        f"for {lasted}, latest failure {format_moment(dependency.failed_at, now)}: {_shorten(dependency.failed_with)}"
    )


def _shorten(text: str) -> str:
    return text if len(text) <= MOST_SAID else f"{text[: MOST_SAID - 1]}…"


def format_duration(seconds: float) -> str:
    """Format a duration in the largest unit that says enough: "40 s", "12 min", "3 h", "5 days"."""
    if seconds < 90:
        return f"{max(0, round(seconds))} s"
    if seconds < 90 * 60:
        return f"{round(seconds / 60)} min"
    return f"{round(seconds / 3600)} h" if seconds < 48 * 3600 else f"{round(seconds / 86400)} days"


def format_moment(at: datetime, now: datetime) -> str:
    """Format a moment in UTC; today's without the date."""
    same_day = at.astimezone(UTC).date() == now.astimezone(UTC).date()
    return f"{at.astimezone(UTC):%H:%M} UTC" if same_day else f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
