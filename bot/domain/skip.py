"""The checks that wasted time last time, and those to leave for later (design 6). Must not count fixes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Skip:
    """A failed check of strong precedents: not the cause in `count` of `of` outages; minutes only if any are known."""

    check: str
    count: int
    of: int
    minutes_median: float | None = None
    minutes_range: tuple[float, float] | None = None
    incidents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Later:
    """A failed check that was the cause (or the fix) in another precedent: do it later, do not skip it."""

    check: str
    reason: str
    incidents: tuple[str, ...] = ()
