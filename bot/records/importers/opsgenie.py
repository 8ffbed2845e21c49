"""Opsgenie alerts and incidents, as `GET /v2/alerts` and `GET /v1/incidents` answer. Must not read CSV."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bot.ports import RecordRejected
from bot.records.importers.coerce import compact, first_of, known, later, moment, text_of, with_prefix
from bot.records.importers.column_names import field_of
from bot.records.importers.entries import Row
from bot.records.importers.prose import said_in

PREFIX = "OPS-"
_FIELDS = ("service", "vendor", "region", "environment", "root_cause", "customer_impact")


def is_opsgenie(row: Mapping[str, Any]) -> bool:
    """Whether this is an alert or incident of Opsgenie."""
    return "tinyId" in row


def from_opsgenie(row: Mapping[str, Any], names: Mapping[str, str]) -> Row:
    """An alert or incident as a native row. Raises RecordRejected for one that is open."""
    status = text_of(row.get("status"))
    if status not in {None, "closed", "resolved"}:
        raise RecordRejected("status", f"is {status}: what is not closed has no outcome yet")
    started = moment(row.get("impactStartDate") or row.get("createdAt"), "createdAt")
    report = row.get("report")
    took_ms = report.get("closeTime") if isinstance(report, Mapping) else None
    took = took_ms / 1000 if isinstance(took_ms, int | float) else None
    ended = moment(row.get("impactEndDate") or row.get("resolvedAt"), "impactEndDate") or later(
        started, took, "closeTime"
    )
    links = row.get("links")
    notes = said_in(text_of(row.get("description")) or "")
    row_known = compact(
        iter(
            [
                ("title", first_of(row.get("message"))),
                ("service", text_of(row.get("entity"))),
                ("severity", text_of(row.get("priority"))),
                ("started_at", started),
                ("resolved_at", ended),
            ]
        )
    )
    url = text_of(links.get("web")) if isinstance(links, Mapping) else None
    told = notes | row_known | dict(_details(row))
    return told | {
        "incident_id": with_prefix(PREFIX, first_of(row.get("tinyId"), row.get("id"))),
        "source": {"kind": "import", "url": url},
    }


def _details(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Fields that its key-value pairs and its tags ("service:payments-api") name."""
    tags = row.get("tags")
    pairs = [tag.partition(":") for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
    yield from (
        (field, value.strip())
        for name, _, value in pairs
        if (field := field_of(name)) in _FIELDS and field and known(value)
    )
    for place in ("details", "extraProperties"):
        found = row.get(place)
        for name, value in found.items() if isinstance(found, Mapping) else ():
            field, said = field_of(name), known(text_of(value))
            if field in _FIELDS and field and said:
                yield field, said
