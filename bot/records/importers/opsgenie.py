"""Opsgenie alerts and incidents, in the form of `GET /v2/alerts` and `GET /v1/incidents`. CSV is `csv`'s."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bot.domain.incidents.record import RESOLUTION_TEXTS
from bot.domain.text.json_types import JsonObject
from bot.ports.errors import RecordRejected
from bot.records.importers.coerce import (
    add_prefix,
    add_seconds,
    drop_empty,
    drop_placeholder,
    find_first_text,
    read_moment,
    read_text,
)
from bot.records.importers.column_names import PLACE_FIELDS, find_field
from bot.records.importers.entries import NativeRow
from bot.records.importers.prose import read_description

PREFIX = "OPS-"
# No lesson is kept in a tag.
_FIELDS = {*PLACE_FIELDS, *RESOLUTION_TEXTS} - {"lesson"}


def is_opsgenie(row: JsonObject) -> bool:
    """Return whether this is an alert or incident of Opsgenie."""
    return "tinyId" in row


def read_opsgenie(row: JsonObject, names: Mapping[str, str]) -> NativeRow:
    """Return an alert or incident as a native row. Raises RecordRejected for one that is open."""
    status = read_text(row.get("status"))
    if status not in {None, "closed", "resolved"}:
        raise RecordRejected("status", f"is {status}: what is not closed has no outcome yet")
    started = read_moment(row.get("impactStartDate") or row.get("createdAt"), "createdAt")
    report = row.get("report")
    took_ms = report.get("closeTime") if isinstance(report, Mapping) else None
    took = took_ms / 1000 if isinstance(took_ms, int | float) else None
    ended = read_moment(row.get("impactEndDate") or row.get("resolvedAt"), "impactEndDate") or add_seconds(
        started, took, "closeTime"
    )
    links = row.get("links")
    notes = read_description(read_text(row.get("description")) or "")
    row_known = drop_empty(
        iter(
            [
                ("title", find_first_text(row.get("message"))),
                ("service", read_text(row.get("entity"))),
                ("severity", read_text(row.get("priority"))),
                ("started_at", started),
                ("resolved_at", ended),
            ]
        )
    )
    url = read_text(links.get("web")) if isinstance(links, Mapping) else None
    told = notes | row_known | dict(_read_details(row))
    return told | {
        "incident_id": add_prefix(PREFIX, find_first_text(row.get("tinyId"), row.get("id"))),
        "source": {"kind": "import", "url": url},
    }


def _read_details(row: JsonObject) -> Iterator[tuple[str, str]]:
    """Yield fields that its key-value pairs and its tags ("service:payments-api") name."""
    tags = row.get("tags")
    pairs = [tag.partition(":") for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
    yield from (
        (field, value.strip())
        for name, _, value in pairs
        if (field := find_field(name)) in _FIELDS and field and drop_placeholder(value)
    )
    for place in ("details", "extraProperties"):
        found = row.get(place)
        for name, value in found.items() if isinstance(found, Mapping) else ():
            field, said = find_field(name), drop_placeholder(read_text(value))
            if field in _FIELDS and field and said:
                yield field, said
