"""Build what an alert alone tells about a new incident: its first record, and how a brief shows its lifecycle."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from bot.domain.alerts.alert import Alert
from bot.domain.incidents.lifecycle import IncidentState, Lifecycle, count_flaps
from bot.domain.incidents.record import Announcement, Incident, Source


def parse_ts(ts: str) -> datetime | None:
    """Return the time of a Slack ts ("1795981200.000100") in UTC; None if it is not one."""
    whole, _, fraction = ts.partition(".")
    if not whole.isascii() or not whole.isdigit() or len(whole) > 11:
        return None
    micros = int(fraction[:6].ljust(6, "0")) if fraction.isascii() and fraction.isdigit() else 0
    return datetime.fromtimestamp(int(whole), tz=UTC).replace(microsecond=micros)


def format_ts(at: datetime) -> str:
    """Return a moment as a Slack ts."""
    return f"{int(at.timestamp())}.{at.microsecond:06d}"


def build_view(life: Lifecycle) -> IncidentView:
    """Return the lifecycle as a brief shows it."""
    flaps, minutes = count_flaps(life) or (0, 0)
    return IncidentView(
        life.incident_id,
        life.state,
        life.fired,
        life.opened_at,
        life.cleared_at,
        life.acknowledged_by,
        firing=life.firing,
        members=life.members,
        no_data=life.no_data,
        flaps=flaps,
        flaps_minutes=minutes,
    )


def open_record(incident_id: str, title: str, at: datetime, source: Source, alert: Alert | None) -> Incident:
    """Return the record of an incident as its alert opens it, with nothing that the alert does not state."""
    if alert is None:
        return Incident(incident_id, title, started_at=at, source=source)
    return Incident(
        incident_id,
        title,
        service=alert.service,
        vendor=alert.vendor,
        region=alert.region,
        environment=alert.environment,
        severity=alert.severity.value if alert.severity else None,
        symptoms=describe_symptoms(alert),
        started_at=at,
        alerts=(Announcement(alert.fingerprint, alert.tool, alert.title, dict(alert.labels), source.url),),
        source=source,
    )


def describe_symptoms(alert: Alert) -> tuple[str, ...]:
    """Return the alert's symptoms as the record stores them ("504 Gateway Timeout"); without any, its text."""
    words = (symptom.in_words for symptom in alert.symptoms)
    return tuple(w for w in words if w) or ((alert.text[:500],) if alert.text else ())


@dataclass(frozen=True, slots=True)
class IncidentView:
    """The lifecycle as a brief shows it."""

    incident_id: str
    state: IncidentState
    fired: int
    opened_at: datetime
    cleared_at: datetime | None = None
    acknowledged_by: str | None = None
    firing: int | None = None  # of `members` alerts of the group, so many fire now
    members: int | None = None
    no_data: bool = False
    flaps: int = 0  # fired and cleared so often within `flaps_minutes`; 0 if it does not flap
    flaps_minutes: int = 0
