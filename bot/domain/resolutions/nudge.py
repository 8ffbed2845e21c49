"""Decide when and whom to ask what fixed an incident that cleared.

Nobody is asked at the moment it clears: people work or sleep then.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

# Local time of the person who is asked.
HOUR = 10
UNTIL_HOUR = 17
WORKING_DAYS = 5
# Who clears at midnight is asked ten hours later; nobody sooner, wherever they are.
EARLIEST = timedelta(hours=HOUR)
# What cleared longer ago (the bot was off, or nudges were) is not asked about any more.
WAITS = timedelta(days=7)
SHOWN = 10
_USER_ID = re.compile(r"(?:<@)?([UW](?=[A-Z]*\d)[A-Z0-9]{2,20})(?:\|[^<>]*)?>?")


@dataclass(frozen=True, slots=True)
class NudgedIncident:
    """An incident that a person is asked about."""

    incident_id: str
    title: str
    channel: str  # where its brief is
    cleared_at: datetime
    url: str | None = None  # leads to its brief
    suggested: str | None = None  # the fix that the brief recommends


@dataclass(frozen=True, slots=True)
class Nudge:
    """One person's questions of one day."""

    person: str
    incidents: tuple[NudgedIncident, ...]


def may_be_due(cleared_at: datetime, now: datetime) -> bool:
    """Return whether somebody may be due to be asked by now, in any time zone."""
    return EARLIEST <= now - cleared_at <= WAITS


def is_due(cleared_at: datetime, now: datetime, zone: tzinfo) -> bool:
    """Return whether a person in this zone is asked now: from ten in the morning of the next working day.

    What was missed on that day is made up for on the following ones, in working hours.
    """
    local = now.astimezone(zone)
    in_hours = local.weekday() < WORKING_DAYS and HOUR <= local.hour < UNTIL_HOUR
    return in_hours and now - cleared_at <= WAITS and local.date() > cleared_at.astimezone(zone).date()


def read_user_id(named: str | None) -> str | None:
    """Return the user id in a tool's word for who acknowledged; None if it gives only a name."""
    found = _USER_ID.fullmatch(named.strip()) if named else None
    return found[1] if found else None


def choose_people(acknowledged_by: str | None, authors: Sequence[str]) -> tuple[str, ...]:
    """Return whom to ask, best first: who acknowledged, then who wrote most in the thread, most recently.

    `authors` are the authors of its messages, oldest first.
    """
    last = {author: place for place, author in enumerate(authors)}
    counts = Counter(authors)
    active = sorted(counts, key=lambda author: (-counts[author], -last[author]))
    first = read_user_id(acknowledged_by)
    return tuple(dict.fromkeys([*([first] if first else []), *active]))


def sort_nudges(incidents: Iterable[NudgedIncident]) -> tuple[NudgedIncident, ...]:
    """Return the incidents in the order of asking: the latest cleared first, because it is best remembered."""
    return tuple(sorted(incidents, key=lambda one: (one.cleared_at, one.incident_id), reverse=True))
