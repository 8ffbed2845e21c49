"""The lifecycle of an incident: open, cleared, resolved, dismissed.

Pure state, and how one notification changes it. `bot.domain.incidents.reconstruction` decides which notifications
belong to one incident.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from bot.domain.alerts.alert import AlertState, Severity
from bot.domain.alerts.notification import Notification

REOPENS_WITHIN = timedelta(hours=24)
DISMISSAL_LASTS = timedelta(hours=24)
# A past alert that nobody saw clear counts as over this long after it was last seen firing.
LAPSES_AFTER = timedelta(hours=24)
PERIODS_KEPT = 200
# An alert that fires and clears this often within this time is flapping.
FLAPS = 3
FLAPS_WITHIN = timedelta(hours=1)


class IncidentState(StrEnum):
    """The state of an incident. PAST: it was over before the bot looked, and nobody works on it."""

    OPEN = "open"
    CLEARED = "cleared"
    RESOLVED = "resolved"
    DISMISSED = "dismissed"
    PAST = "past"


@dataclass(frozen=True, slots=True)
class FiringPeriod:
    """One period of firing; it goes on while `end` is None."""

    start: datetime
    end: datetime | None = None


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """How far one incident has come. All times are those of the posts, not of their arrival."""

    incident_id: str
    fingerprint: str
    visibility: str
    state: IncidentState
    opened_at: datetime
    last_seen_at: datetime  # last seen firing
    fired: int = 1  # firing notifications: new occurrences, repeats and escalations
    cleared_at: datetime | None = None  # last cleared
    resolved_at: datetime | None = None
    acknowledged_by: str | None = None
    severity: Severity | None = None  # the highest that any notification named
    version: int = 0
    firing: int | None = None  # of `members` alerts of the group, so many fire now
    members: int | None = None
    no_data: bool = False  # it fires because no data arrives
    spells: tuple[FiringPeriod, ...] = ()  # the last firing periods
    dismissed_at: datetime | None = None
    taken_back_at: datetime | None = None
    acknowledged_at: datetime | None = None
    base: Lifecycle | None = None  # the lifecycle before the oldest stored notification; None if all are stored
    past: bool = False  # the latest notification was read long after it was posted


class Transition(StrEnum):
    """What a notification did to an incident."""

    OPENED = "opened"
    REOPENED = "reopened"
    REPEATED = "repeated"
    CLEARED = "cleared"
    ACKNOWLEDGED = "acknowledged"
    ESCALATED = "escalated"
    UPDATED = "updated"
    NOTHING = "nothing"


# From the mildest; a notification that names none is below them all.
_SEVERITIES = (None, Severity.INFO, Severity.WARNING, Severity.HIGH, Severity.CRITICAL)


def begin(notification: Notification, incident_id: str = "") -> Lifecycle:
    """Return the lifecycle that this notification begins."""
    return Lifecycle(
        incident_id,
        notification.fingerprint,
        notification.visibility,
        IncidentState.OPEN,
        notification.at,
        notification.at,
        severity=notification.severity,
        firing=notification.firing,
        members=_count_members(notification, None),
        no_data=notification.state is AlertState.NO_DATA,
        spells=(FiringPeriod(notification.at),),
        past=notification.past,
    )


def is_finished(life: Lifecycle, at: datetime) -> bool:
    """Return whether the incident was over for good at `at`, so that a firing opens a new one."""
    if life.resolved_at is not None:
        return at > life.resolved_at
    if life.dismissed_at is not None:
        quiet_until = max(life.last_seen_at, life.dismissed_at) + DISMISSAL_LASTS
        return at > min(quiet_until, life.taken_back_at or quiet_until)
    if life.cleared_at is None:
        return life.past and at > life.last_seen_at + LAPSES_AFTER
    return at > life.cleared_at + REOPENS_WITHIN


def _count_members(notification: Notification, known: int | None) -> int | None:
    """Return the size of the group: the largest seen since it fired."""
    counted = None if notification.firing is None else notification.firing + (notification.cleared or 0)
    return max((n for n in (counted, known) if n is not None), default=None)


def _choose_higher(one: Severity | None, other: Severity | None) -> Severity | None:
    return max(one, other, key=_SEVERITIES.index)


def _fire(life: Lifecycle, notification: Notification) -> Lifecycle:
    """Apply a firing to a known incident.

    One from before the clearing counts without changing the state. An edit or a reply that repeats what fires is no
    new firing.
    """
    is_open, at = life.cleared_at is None, notification.at
    counts = not (notification.continues and is_open) or notification.state is AlertState.ESCALATED
    seen = replace(
        life,
        fired=life.fired + counts,
        opened_at=min(life.opened_at, at),
        last_seen_at=max(life.last_seen_at, at),
        severity=_choose_higher(life.severity, notification.severity),
    )
    if life.cleared_at is not None and at <= life.cleared_at:
        return seen
    seen = replace(
        seen, firing=notification.firing, no_data=notification.state is AlertState.NO_DATA, past=notification.past
    )
    if is_open:
        return replace(seen, members=_count_members(notification, life.members))
    spells = (*life.spells, FiringPeriod(at))[-PERIODS_KEPT:]
    return replace(
        seen, state=IncidentState.OPEN, cleared_at=None, members=_count_members(notification, None), spells=spells
    )


def _clear(life: Lifecycle, notification: Notification) -> Lifecycle:
    """Apply a clearing, unless the incident was seen firing since.

    The latest clearing counts, but the firing period ended with the first.
    """
    if notification.at < life.last_seen_at or (life.cleared_at is not None and notification.at <= life.cleared_at):
        return life
    spells = life.spells
    if spells and spells[-1].end is None:
        spells = (*spells[:-1], FiringPeriod(spells[-1].start, notification.at))
    cleared = replace(
        life, cleared_at=notification.at, spells=spells, firing=None, members=None, past=notification.past
    )
    return replace(cleared, state=IncidentState.CLEARED)


def _acknowledge(life: Lifecycle, notification: Notification) -> Lifecycle:
    if life.acknowledged_at is not None and notification.at < life.acknowledged_at:
        return life
    return replace(life, acknowledged_by=notification.by, acknowledged_at=notification.at)


_CHANGES: dict[AlertState, Callable[[Lifecycle, Notification], Lifecycle]] = {
    AlertState.FIRING: _fire,
    AlertState.NO_DATA: _fire,
    AlertState.ESCALATED: _fire,
    AlertState.RESOLVED: _clear,
    AlertState.ACKNOWLEDGED: _acknowledge,
}


def advance(life: Lifecycle, notification: Notification) -> Lifecycle:
    """Return the lifecycle after this notification.

    Notifications should come in order of time; an older one is applied as well as possible. After a person's
    resolution nothing changes.
    """
    if life.resolved_at is not None and notification.at > life.resolved_at:
        return life
    change = _CHANGES.get(notification.state)
    return change(life, notification) if change else life


def strip_decisions(life: Lifecycle) -> Lifecycle:
    """Return the lifecycle as the alerts alone tell it; the times of people's decisions stay."""
    return replace(life, state=IncidentState.OPEN if life.cleared_at is None else IncidentState.CLEARED)


def apply_decisions(life: Lifecycle) -> Lifecycle:
    """Return the lifecycle with people's decisions, which outrank the alerts. Past incidents are never open."""
    if life.resolved_at is not None:
        return replace(life, state=IncidentState.RESOLVED)
    if life.dismissed_at is not None:
        return replace(life, state=IncidentState.DISMISSED)
    return replace(life, state=IncidentState.PAST) if life.past else life


def classify_transition(before: Lifecycle | None, after: Lifecycle, notification: Notification) -> Transition:
    """Return what a notification did, given the lifecycle before and after."""
    if before is None:
        return Transition.OPENED
    if after.state is not before.state:
        return Transition.REOPENED if after.state is IncidentState.OPEN else Transition.CLEARED
    if (
        replace(after, version=before.version, base=before.base) == before
        and notification.state is not AlertState.UPDATE
    ):
        return Transition.NOTHING
    if after.state not in {IncidentState.OPEN, IncidentState.CLEARED}:
        return Transition.NOTHING
    if notification.state is AlertState.ACKNOWLEDGED:
        return Transition.ACKNOWLEDGED
    is_latest = notification.fires and after.state is IncidentState.OPEN and notification.at == after.last_seen_at
    if not is_latest:
        return Transition.UPDATED
    return Transition.ESCALATED if notification.state is AlertState.ESCALATED else Transition.REPEATED


def count_flaps(life: Lifecycle) -> tuple[int, int] | None:
    """Return how often it fired and cleared lately, and within how many minutes; None if it does not flap."""
    latest = max(life.last_seen_at, life.cleared_at or life.last_seen_at)
    rounds = [s for s in life.spells if s.end and s.start >= latest - FLAPS_WITHIN]
    if len(rounds) < FLAPS:
        return None
    last_end = rounds[-1].end or latest
    return len(rounds), max(1, round((last_end - rounds[0].start).total_seconds() / 60))


def find_past_end(life: Lifecycle) -> datetime | None:
    """Return when a past incident ended, as far as known, so that what people record happened then; else None."""
    return (life.cleared_at or life.last_seen_at) if life.state is IncidentState.PAST else None


def resolve(life: Lifecycle, at: datetime) -> Lifecycle:
    """Apply a person's resolution. Recording more later does not move the end."""
    if life.state is IncidentState.RESOLVED:
        return life
    return replace(life, state=IncidentState.RESOLVED, resolved_at=at)


def dismiss(life: Lifecycle, at: datetime) -> Lifecycle:
    """Apply a person's "not an alert". It stays quiet while it fires, and for `DISMISSAL_LASTS` after it was last seen
    or dismissed. A resolved incident stays resolved."""
    if life.state is IncidentState.RESOLVED:
        return life
    return replace(life, state=IncidentState.DISMISSED, dismissed_at=max(life.dismissed_at or at, at))


def undo_dismissal(life: Lifecycle, at: datetime) -> Lifecycle:
    """Take a dismissal back: the incident stays dismissed, and the next firing after `at` opens a new one."""
    return replace(life, taken_back_at=at) if life.state is IncidentState.DISMISSED else life
