"""Records, lifecycles, notifications, briefs, openings and storms as JSON text and back.

All fields are written; those that a later version adds come back with their defaults.
"""

from __future__ import annotations

import json

from pydantic import TypeAdapter, ValidationError

from bot.adapters.store.database.statements import to_json
from bot.domain.alerts.notification import Notification
from bot.domain.brief.decide import Brief
from bot.domain.incidents.lifecycle import Lifecycle
from bot.domain.incidents.record import Incident
from bot.domain.operations.storms import OpenedIncident, Storm
from bot.records.incident_json import read_record, write_record

_BRIEF: TypeAdapter[Brief] = TypeAdapter(Brief)
_RECORD: TypeAdapter[Incident] = TypeAdapter(Incident)
_LIFE: TypeAdapter[Lifecycle] = TypeAdapter(Lifecycle)
_NOTICE: TypeAdapter[Notification] = TypeAdapter(Notification)
_OPENING: TypeAdapter[OpenedIncident] = TypeAdapter(OpenedIncident)
_STORM: TypeAdapter[Storm] = TypeAdapter(Storm)


def write_record_json(record: Incident) -> str:
    """Return the record in its import form."""
    return to_json(write_record(record))


def read_record_json(text: str) -> Incident:
    """Return the record, equal to what was written."""
    try:
        return _RECORD.validate_json(text)
    # what an older version wrote in another form
    except ValidationError:
        return read_record(json.loads(text), how=None)


def write_lifecycle_json(life: Lifecycle) -> str:
    """Return all fields of the lifecycle."""
    return to_json(_LIFE.dump_python(life, mode="json"))


def read_lifecycle_json(text: str) -> Lifecycle:
    """Return the lifecycle, equal to what was written."""
    return _LIFE.validate_json(text)


def write_notification_json(notice: Notification) -> str:
    """Return all fields of the notification."""
    return to_json(_NOTICE.dump_python(notice, mode="json"))


def read_notification_json(text: str) -> Notification:
    """Return the notification, equal to what was written."""
    return _NOTICE.validate_json(text)


def write_brief_json(brief: Brief) -> str:
    """Return all fields of the brief."""
    return to_json(_BRIEF.dump_python(brief, mode="json"))


def read_brief_json(text: str) -> Brief:
    """Return the brief, equal to what was written."""
    return _BRIEF.validate_json(text)


def write_opening_json(opening: OpenedIncident) -> str:
    """Return all fields of the opening."""
    return to_json(_OPENING.dump_python(opening, mode="json"))


def read_opening_json(text: str) -> OpenedIncident:
    """Return the opening, equal to what was written."""
    return _OPENING.validate_json(text)


def write_storm_json(storm: Storm) -> str:
    """Return all fields of the storm."""
    return to_json(_STORM.dump_python(storm, mode="json"))


def read_storm_json(text: str) -> Storm:
    """Return the storm, equal to what was written."""
    return _STORM.validate_json(text)
