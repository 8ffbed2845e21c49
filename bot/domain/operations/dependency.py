"""What the bot depends on: whether it answers, since when, and what it failed with last. Must not ask anything."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

MOST_SAID = 120


@dataclass(frozen=True, slots=True)
class Dependency:
    """One thing that the bot depends on. `since`: when it came to be as it is (or was looked at first); `problem`: why it
    cannot be used now, None if it can; `failed_with`, `failed_at`: the latest failure, which may be mended since."""

    name: str
    since: datetime
    problem: str | None = None
    failed_with: str | None = None
    failed_at: datetime | None = None


def record_check(before: Dependency | None, name: str, problem: str | None, at: datetime) -> Dependency:
    """How it is after a look at `at` that found this problem, or none."""
    turned = before is None or (before.problem is None) is not (problem is None)
    since = at if before is None or turned else before.since
    if problem is not None:
        return Dependency(name, since, problem, problem, at)
    latest = (before.failed_with, before.failed_at) if before else (None, None)
    return Dependency(name, since, None, *latest)


def describe_dependency(dependency: Dependency, now: datetime) -> str:
    """In plain words: "for 3 h, latest failure 08:05 UTC: no answer within 3 s", or "down for 12 min: ..."."""
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
    """How long, in the largest unit that says enough: "40 s", "12 min", "3 h", "5 days"."""
    if seconds < 90:
        return f"{max(0, round(seconds))} s"
    if seconds < 90 * 60:
        return f"{round(seconds / 60)} min"
    return f"{round(seconds / 3600)} h" if seconds < 48 * 3600 else f"{round(seconds / 86400)} days"


def format_moment(at: datetime, now: datetime) -> str:
    """A moment in UTC: the time alone where it was today."""
    same_day = at.astimezone(UTC).date() == now.astimezone(UTC).date()
    return f"{at.astimezone(UTC):%H:%M} UTC" if same_day else f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
