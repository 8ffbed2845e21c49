"""incident.io incidents, in the form of `GET /v2/incidents`. Tests and declined ones are no incidents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bot.domain.incidents.record import RESOLUTION_TEXTS
from bot.domain.text.json_types import JsonObject
from bot.ports.errors import RecordRejected
from bot.records.importers.coerce import (
    FAULTS,
    add_prefix,
    build_attempts,
    drop_empty,
    drop_placeholder,
    find_first_text,
    read_choice,
    read_moment,
    read_text,
)
from bot.records.importers.column_names import PLACE_FIELDS, find_field
from bot.records.importers.entries import NativeRow
from bot.records.importers.prose import read_description
from bot.records.importers.sections import format_steps

PREFIX = "IIO-"
_OVER = frozenset({"closed", "learning", "post-incident"})
_NO_INCIDENT = frozenset({"test", "tutorial", "stream"})
_TAKEN = frozenset({*PLACE_FIELDS, *RESOLUTION_TEXTS, "fix", "boundary"})
_VALUES = ("value_text", "value_option", "value_catalog_entry", "value_link", "value_numeric")


def is_incident_io(row: JsonObject) -> bool:
    """Return whether this is an incident of incident.io."""
    return "incident_status" in row or ("reference" in row and "permalink" in row)


def read_incident_io(row: JsonObject, names: Mapping[str, str]) -> NativeRow:
    """Return an incident as a native row. Raises RecordRejected for a test, and for one that is not over."""
    mode = read_text(row.get("mode"))
    if mode in _NO_INCIDENT:
        raise RecordRejected("mode", f"is {mode}, not an incident")
    status = row.get("incident_status")
    category = read_text(status.get("category")) if isinstance(status, Mapping) else None
    if category not in {None, *_OVER}:
        raise RecordRejected("incident_status", f"is {category}: what is not closed has no outcome yet")
    said = read_description(read_text(row.get("summary")) or "")
    custom = dict(_read_custom(row.get("custom_field_entries")))
    if fix := format_steps(custom.pop("fix", None)):
        said["attempts"] = said.get("attempts", []) + build_attempts(fix)
    if fault := custom.pop("boundary", None):
        custom["boundary"] = read_choice(fault, "boundary", FAULTS)
    times = dict(_read_times(row.get("incident_timestamp_values")))
    started = times.get("started_at") or row.get("created_at")
    found = drop_empty(
        iter(
            [
                ("title", read_text(row.get("name"))),
                ("severity", read_text(row.get("severity"))),
                ("started_at", read_moment(started, "started_at")),
                ("resolved_at", read_moment(times.get("resolved_at"), "resolved_at")),
            ]
        )
    )
    url = find_first_text(row.get("postmortem_document_url"), row.get("permalink"))
    number = add_prefix(PREFIX, find_first_text(row.get("reference"), row.get("id")))
    return said | custom | found | {"incident_id": number, "source": {"kind": "import", "url": url}}


def _read_custom(entries: Any) -> Iterator[tuple[str, str]]:
    for entry in entries if isinstance(entries, list) else ():
        if not isinstance(entry, Mapping):
            continue
        field, values = find_field(read_text(entry.get("custom_field")) or ""), entry.get("values")
        told = (
            [
                said
                for value in values
                if isinstance(value, Mapping) and (said := find_first_text(*map(value.get, _VALUES)))
            ]
            if isinstance(values, list)
            else []
        )
        said = drop_placeholder("\n".join(told) if field == "fix" else ", ".join(told))
        if field in _TAKEN and field and said:
            yield field, said


def _read_times(stamps: Any) -> Iterator[tuple[str, str]]:
    """Yield the first of its timestamps that is a start, and the first that is an end."""
    for stamp in reversed(stamps) if isinstance(stamps, list) else ():
        if isinstance(stamp, Mapping):
            field = find_field(read_text(stamp.get("incident_timestamp")) or "")
            value = stamp.get("value")
            said = read_text(value.get("value")) if isinstance(value, Mapping) else read_text(value)
            if field in {"started_at", "resolved_at"} and field and said:
                yield field, said
