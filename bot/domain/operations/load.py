"""Decide how much to do for each alert while many wait, by the inbox's length and age.

Work gives way before acknowledgments do.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum


class LoadShedding(StrEnum):
    """What is done for an alert: everything; a brief from memory without evidence or a model; or a line of the
    channel's summary without asking memory, except for critical alerts of a service without a brief."""

    FULL = "full"
    NO_EXTRAS = "no_extras"
    SUMMARY_ONLY = "summary_only"


@dataclass(frozen=True, slots=True)
class Backlog:
    """Rows that are ready and wait: how many, and for how long the oldest."""

    rows: int = 0
    oldest: timedelta = timedelta()


# The first row of which either limit is reached counts.
LIMITS: tuple[tuple[int, timedelta, LoadShedding], ...] = (
    (200, timedelta(seconds=60), LoadShedding.SUMMARY_ONLY),
    (50, timedelta(seconds=15), LoadShedding.NO_EXTRAS),
)


def choose_load_shedding(waiting: Backlog) -> LoadShedding:
    """Return what can be done while this much waits."""
    reached = (load for rows, age, load in LIMITS if waiting.rows >= rows or (waiting.rows and waiting.oldest >= age))
    return next(reached, LoadShedding.FULL)
