"""The fix with the best record, and its rivals (design 6). Counts are counts of outages.

Must not rank precedents or render text other than the explanation.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Confidence(StrEnum):
    """How far to trust a recommendation."""

    HIGH = "HIGH"
    MEDIUM = "MEDIUM"
    LOW = "LOW"


@dataclass(frozen=True, slots=True)
class Recommendation:
    """One fix with its record over the strong precedents. `explanation` states the denominator and the ids."""

    fix: str
    successes: int
    partial: int
    failures: int
    outages: int
    confidence: Confidence
    explanation: str
    last_worked: datetime | None = None
    incidents: tuple[str, ...] = ()
    runbook_id: str | None = None


@dataclass(frozen=True, slots=True)
class DidNotWork:
    """A fix with failures and no success."""

    fix: str
    failures: int
    incidents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FixRecord:
    """Everything the strong precedents say about fixes."""

    recommendation: Recommendation | None = None
    alternatives: tuple[Recommendation, ...] = ()
    did_not_work: tuple[DidNotWork, ...] = ()
