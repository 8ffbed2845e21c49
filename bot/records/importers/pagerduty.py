"""PagerDuty incidents, in the form of `GET /incidents`, with notes where they were added. CSV is `csv`'s."""

from __future__ import annotations

from collections.abc import Mapping

from bot.domain.text.json_types import JsonObject
from bot.ports.errors import RecordRejected
from bot.records.importers.coerce import (
    add_prefix,
    add_seconds,
    drop_empty,
    find_first_text,
    read_moment,
    read_text,
    read_texts,
)
from bot.records.importers.entries import NativeRow
from bot.records.importers.prose import read_description

PREFIX = "PD-"


def is_pagerduty(row: JsonObject) -> bool:
    """Return whether this is a PagerDuty incident."""
    return "incident_number" in row or (row.get("type") == "incident" and "service" in row)


def read_pagerduty(row: JsonObject, names: Mapping[str, str]) -> NativeRow:
    """Return an incident as a native row. Raises RecordRejected for one that is open or was merged into another."""
    status = read_text(row.get("status"))
    if status not in {None, "resolved"}:
        raise RecordRejected("status", f"is {status}: an incident that is not resolved has no outcome yet")
    reason = row.get("resolve_reason")
    if isinstance(reason, Mapping) and reason.get("type") == "merge_resolve_reason":
        raise RecordRejected("resolve_reason", "says that it was merged into another incident; that one is the record")
    details = row.get("body")
    told = find_first_text(details.get("details")) if isinstance(details, Mapping) else None
    notes = row.get("notes")
    said = read_description("\n".join(read_texts(notes))) if isinstance(notes, list) else {}
    started = read_moment(row.get("created_at") or row.get("created_on"), "created_at")
    ended = row.get("resolved_at") or row.get("resolved_on") or (status and row.get("last_status_change_at"))
    symptoms = [told] if told else []
    known = drop_empty(
        iter(
            [
                ("title", find_first_text(row.get("title"), row.get("description"), row.get("summary"))),
                ("service", find_first_text(row.get("service"), row.get("service_name"))),
                ("severity", find_first_text(row.get("priority"), row.get("urgency"))),
                ("started_at", started),
                (
                    "resolved_at",
                    read_moment(ended, "resolved_at")
                    or add_seconds(started, row.get("seconds_to_resolve"), "seconds_to_resolve"),
                ),
                ("symptoms", symptoms + said.pop("symptoms", [])),
            ]
        )
    )
    number = find_first_text(row.get("incident_number"), row.get("id"))
    url = read_text(row.get("html_url"))
    return said | known | {"incident_id": add_prefix(PREFIX, number), "source": {"kind": "import", "url": url}}
