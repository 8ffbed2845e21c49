"""Records, lives and briefs as JSON text and back. Must not touch the database."""

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
    """The record in its import form."""
    return to_json(write_record(record))


def read_record_json(text: str) -> Incident:
    """The record, equal to what was written."""
    try:
        return _RECORD.validate_json(text)
    # what an older version wrote in another form
    except ValidationError:
        return read_record(json.loads(text), how=None)


def write_lifecycle_json(life: Lifecycle) -> str:
    """All fields of the life; those that a later version adds come back with their defaults."""
    return to_json(_LIFE.dump_python(life, mode="json"))


def read_lifecycle_json(text: str) -> Lifecycle:
    """The life, equal to what was written."""
    return _LIFE.validate_json(text)


def write_notification_json(notice: Notification) -> str:
    """All fields of the notice."""
    return to_json(_NOTICE.dump_python(notice, mode="json"))


def read_notification_json(text: str) -> Notification:
    """The notice, equal to what was written."""
    return _NOTICE.validate_json(text)


def write_brief_json(brief: Brief) -> str:
    """All fields of the brief."""
    return to_json(_BRIEF.dump_python(brief, mode="json"))


def read_brief_json(text: str) -> Brief:
    """The brief, equal to what was written."""
    return _BRIEF.validate_json(text)


def write_opening_json(opening: OpenedIncident) -> str:
    """All fields of the opening."""
    return to_json(_OPENING.dump_python(opening, mode="json"))


def read_opening_json(text: str) -> OpenedIncident:
    """The opening, equal to what was written."""
    return _OPENING.validate_json(text)


def write_storm_json(storm: Storm) -> str:
    """All fields of the storm."""
    return to_json(_STORM.dump_python(storm, mode="json"))


def read_storm_json(text: str) -> Storm:
    """The storm, equal to what was written."""
    return _STORM.validate_json(text)
