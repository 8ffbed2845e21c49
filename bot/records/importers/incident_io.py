"""incident.io incidents, as `GET /v2/incidents` answers. Must not take tests and declined ones for incidents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bot.ports import RecordRejected
from bot.records.importers.coerce import (
    FAULTS,
    attempts_of,
    choice,
    compact,
    first_of,
    known,
    moment,
    text_of,
    with_prefix,
)
from bot.records.importers.column_names import field_of
from bot.records.importers.entries import Row
from bot.records.importers.prose import said_in
from bot.records.importers.sections import steps_of

PREFIX = "IIO-"
_OVER = frozenset({"closed", "learning", "post-incident"})
_NO_INCIDENT = frozenset({"test", "tutorial", "stream"})
_TAKEN = frozenset(
    {"service", "vendor", "region", "environment", "root_cause", "customer_impact", "lesson", "fix", "boundary"}
)
_VALUES = ("value_text", "value_option", "value_catalog_entry", "value_link", "value_numeric")


def is_incident_io(row: Mapping[str, Any]) -> bool:
    """Whether this is an incident of incident.io."""
    return "incident_status" in row or ("reference" in row and "permalink" in row)


def from_incident_io(row: Mapping[str, Any], names: Mapping[str, str]) -> Row:
    """An incident as a native row. Raises RecordRejected for a test, and for one that is not over."""
    mode = text_of(row.get("mode"))
    if mode in _NO_INCIDENT:
        raise RecordRejected("mode", f"is {mode}, not an incident")
    status = row.get("incident_status")
    category = text_of(status.get("category")) if isinstance(status, Mapping) else None
    if category not in {None, *_OVER}:
        raise RecordRejected("incident_status", f"is {category}: what is not closed has no outcome yet")
    said = said_in(text_of(row.get("summary")) or "")
    custom = dict(_custom(row.get("custom_field_entries")))
    if fix := steps_of(custom.pop("fix", None)):
        said["attempts"] = said.get("attempts", []) + attempts_of(fix)
    if fault := custom.pop("boundary", None):
        custom["boundary"] = choice(fault, "boundary", FAULTS)
    times = dict(_times(row.get("incident_timestamp_values")))
    started = times.get("started_at") or row.get("created_at")
    found = compact(
        iter(
            [
                ("title", text_of(row.get("name"))),
                ("severity", text_of(row.get("severity"))),
                ("started_at", moment(started, "started_at")),
                ("resolved_at", moment(times.get("resolved_at"), "resolved_at")),
            ]
        )
    )
    url = first_of(row.get("postmortem_document_url"), row.get("permalink"))
    number = with_prefix(PREFIX, first_of(row.get("reference"), row.get("id")))
    return said | custom | found | {"incident_id": number, "source": {"kind": "import", "url": url}}


def _custom(entries: Any) -> Iterator[tuple[str, str]]:
    for entry in entries if isinstance(entries, list) else ():
        if not isinstance(entry, Mapping):
            continue
        field, values = field_of(text_of(entry.get("custom_field")) or ""), entry.get("values")
        told = (
            [said for value in values if isinstance(value, Mapping) and (said := first_of(*map(value.get, _VALUES)))]
            if isinstance(values, list)
            else []
        )
        said = known("\n".join(told) if field == "fix" else ", ".join(told))
        if field in _TAKEN and field and said:
            yield field, said


def _times(stamps: Any) -> Iterator[tuple[str, str]]:
    """The first of its timestamps that tells the start, and the first that tells the end."""
    for stamp in reversed(stamps) if isinstance(stamps, list) else ():
        if isinstance(stamp, Mapping):
            field = field_of(text_of(stamp.get("incident_timestamp")) or "")
            value = stamp.get("value")
            said = text_of(value.get("value")) if isinstance(value, Mapping) else text_of(value)
            if field in {"started_at", "resolved_at"} and field and said:
                yield field, said
