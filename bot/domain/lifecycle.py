"""The life of an incident: open, cleared, resolved, dismissed.

Pure state and transitions. Must not store or post anything.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from bot.domain.alert import Alert, AlertState

REOPENS_WITHIN = timedelta(hours=24)
DISMISSAL_LASTS = timedelta(hours=24)


class IncidentState(StrEnum):
    """Where an incident stands."""

    OPEN = "open"
    CLEARED = "cleared"
    RESOLVED = "resolved"
    DISMISSED = "dismissed"


@dataclass(frozen=True, slots=True)
class Life:
    """How far one incident has come. `fired` counts firing notifications of new occurrences and repeats, escalations
    among them. `last_seen_at` is when it was last seen firing, `cleared_at` when it last cleared: by the time of the
    posts, not of their arrival. `severity` is the highest that any notification named."""

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
    """What a notification did to an incident."""

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
    """What happened, and the life after it (None: there is none). NOTHING is nothing to show; the life may still have
    counted a repeat that is to be saved (compare it with the one before)."""

    happened: Happened
    life: Life | None


_FIRES = frozenset({AlertState.FIRING, AlertState.NO_DATA, AlertState.ESCALATED})
_SEVERITIES = (None, "info", "warning", "high", "critical")
_ACKNOWLEDGED_BY = ("acknowledged_by", "acknowledged by", "acked_by", "acknowledger", "author", "by", "user")


def opens(life: Life | None, alert: Alert, at: datetime) -> bool:
    """Whether this notification, posted at `at`, begins a new incident. `life` is the latest of its fingerprint and
    visibility, None if there was none: then a new id is needed."""
    if alert.state not in _FIRES:
        return False
    if life is None:
        return True
    ended = {
        IncidentState.OPEN: None,
        IncidentState.CLEARED: _after(life.cleared_at, REOPENS_WITHIN),
        IncidentState.RESOLVED: life.resolved_at,
        IncidentState.DISMISSED: life.last_seen_at + DISMISSAL_LASTS,
    }[life.state]
    return ended is not None and at > ended


def _after(when: datetime | None, delay: timedelta) -> datetime | None:
    return when + delay if when else None


def _begin(alert: Alert, at: datetime, incident_id: str, visibility: str) -> Step:
    if not incident_id:
        raise ValueError("a new incident needs an id: ask `opens` first")
    severity = alert.severity.value if alert.severity else None
    life = Life(incident_id, alert.fingerprint, visibility, IncidentState.OPEN, at, at, severity=severity)
    return Step(Happened.OPENED, life)


def _higher(one: str | None, other: str | None) -> str | None:
    return max(one, other, key=lambda s: _SEVERITIES.index(s) if s in _SEVERITIES else 0)


def _fire(life: Life, alert: Alert, at: datetime) -> Step:
    """A firing notification of an incident that is known. One from before the clearing or the resolution, arriving
    late, is counted and changes no state."""
    seen = replace(
        life,
        fired=life.fired + 1,
        opened_at=min(life.opened_at, at),
        last_seen_at=max(life.last_seen_at, at),
        severity=_higher(life.severity, alert.severity.value if alert.severity else None),
    )
    if life.state in {IncidentState.RESOLVED, IncidentState.DISMISSED}:
        return Step(Happened.NOTHING, seen)
    if life.cleared_at is not None and at <= life.cleared_at:
        return Step(Happened.UPDATED, seen)
    if life.state is IncidentState.CLEARED:
        return Step(Happened.REOPENED, replace(seen, state=IncidentState.OPEN, cleared_at=None))
    escalated = alert.state is AlertState.ESCALATED
    return Step(Happened.ESCALATED if escalated else Happened.REPEATED, seen)


def _clear(life: Life, _alert: Alert, at: datetime) -> Step:
    """It cleared, unless it was seen firing since. Of several clearings the latest counts."""
    if at < life.last_seen_at or (life.cleared_at is not None and at <= life.cleared_at):
        return Step(Happened.NOTHING, life)
    again = life.state is IncidentState.CLEARED
    cleared = replace(life, state=IncidentState.CLEARED, cleared_at=at)
    return Step(Happened.UPDATED if again else Happened.CLEARED, cleared)


def acknowledger(alert: Alert) -> str:
    """Who acknowledged, as far as the post says; else the tool."""
    labels = {key.casefold(): value for key, value in alert.labels.items()}
    return next((labels[key] for key in _ACKNOWLEDGED_BY if labels.get(key)), f"someone in {alert.tool}")


def _acknowledge(life: Life, alert: Alert, _at: datetime) -> Step:
    return Step(Happened.ACKNOWLEDGED, replace(life, acknowledged_by=acknowledger(alert)))


def _update(life: Life, _alert: Alert, _at: datetime) -> Step:
    return Step(Happened.UPDATED, life)


# What an incident that is open or cleared does with a notification that is not firing; the rest is nothing.
_CHANGES: dict[AlertState, Callable[[Life, Alert, datetime], Step]] = {
    AlertState.RESOLVED: _clear,
    AlertState.ACKNOWLEDGED: _acknowledge,
    AlertState.UPDATE: _update,
}


def advance(
    life: Life | None, alert: Alert, at: datetime, *, new_id: str | None = None, visibility: str = "public"
) -> Step:
    """What one notification does. `life` is the latest of its fingerprint and visibility (None: there was none).

    `at` is when it was posted, not when it arrived: the result does not depend on the order of arrival. `new_id` is
    needed exactly if `opens(life, alert, at)`; raises ValueError where it is missing then.
    """
    if opens(life, alert, at):
        return _begin(alert, at, new_id or "", visibility)
    if life is None:
        return Step(Happened.NOTHING, None)
    if alert.state in _FIRES:
        return _fire(life, alert, at)
    if life.state not in {IncidentState.OPEN, IncidentState.CLEARED} or alert.state not in _CHANGES:
        return Step(Happened.NOTHING, life)
    return _CHANGES[alert.state](life, alert, at)


def resolve(life: Life, at: datetime) -> Life:
    """A person recorded how it ended. Recording more later does not move the end."""
    if life.state is IncidentState.RESOLVED:
        return life
    return replace(life, state=IncidentState.RESOLVED, resolved_at=at)


def dismiss(life: Life, at: datetime) -> Life:
    """A person said that it is no alert. It stays quiet while it goes on, and for `DISMISSAL_LASTS` after it was last
    seen or dismissed. What was resolved stays resolved."""
    if life.state is IncidentState.RESOLVED:
        return life
    return replace(life, state=IncidentState.DISMISSED, last_seen_at=max(life.last_seen_at, at))
