"""The life of an incident: open, cleared, resolved, dismissed.

Pure state and transitions (design 7). Must not store or post anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.domain.alert import Alert


class IncidentState(StrEnum):
    """Where an incident stands."""

    OPEN = "open"
    CLEARED = "cleared"
    RESOLVED = "resolved"
    DISMISSED = "dismissed"


@dataclass(frozen=True, slots=True)
class Life:
    """How far one incident has come. `fired` counts firing notifications of new occurrences and repeats;
    `thread_ts` and `message_ts` are set per channel (one thread and brief for each channel)."""

    incident_id: str
    fingerprint: str
    visibility: str
    state: IncidentState
    opened_at: datetime
    last_seen_at: datetime
    fired: int = 1
    cleared_at: datetime | None = None
    resolved_at: datetime | None = None
    acknowledged_by: str | None = None
    severity: str | None = None
    version: int = 0


class Happened(StrEnum):
    """What an alert did to an incident."""

    OPENED = "opened"
    REOPENED = "reopened"
    REPEATED = "repeated"
    CLEARED = "cleared"
    ACKNOWLEDGED = "acknowledged"
    ESCALATED = "escalated"
    UPDATED = "updated"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Step:
    """What happened, and the life afterwards (None: there is still no incident)."""

    happened: Happened
    life: Life | None


def advance(life: Life | None, alert: Alert, at: datetime, new_id: str, visibility: str) -> Step:
    """The next state of an incident."""
    raise NotImplementedError


def resolve(life: Life, at: datetime) -> Life:
    """The life after a person recorded what happened."""
    raise NotImplementedError
