"""Incident records as documents of a memory server, and what it recalls as records again. Pure: no call, no vendor.

Must not decide what is a precedent. A document's content is what is worth searching; the whole record is its metadata,
which comes back with every fact. Records of other writers are read from plain metadata where they have any.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from bot.domain.access.visibility import Viewer
from bot.domain.incidents.record import Incident, VerificationStatus
from bot.domain.recall.query import Query
from bot.domain.text.format import cut, fit_one_line
from bot.domain.text.json_types import JsonDict
from bot.domain.text.redaction import mask
from bot.ports.errors import RecordRejected
from bot.ports.memory import BankHit
from bot.records.incident_json import read_record, write_record

# One chunk of the server is 3000 characters; a longer text would become several facts.
CONTENT_CHARS = 2_800
OUTSIDE_CHARS = 300
PART_CHARS = 8_000
PARTS_AT_MOST = 64
FORMAT = "precedent_record"
OURS = "precedent"
SCOPE = "scope:"
LISTS = ("symptoms", "failed_checks")
STATUSES = frozenset(status.value for status in VerificationStatus)
# Plain metadata with one of these tells of an incident; without, it is just a fact.
TELLING = frozenset({"title", "root_cause", "actual_root_cause", "fix", "successful_fix", "symptoms"})


@dataclass(frozen=True, slots=True)
class BankFact:
    """One thing that the server recalled."""

    document_id: str | None  # None for what the server derived from several documents
    text: str
    metadata: Mapping[str, str] = field(default_factory=dict)
    tags: tuple[str, ...] = ()


def build_content(record: Incident) -> str:
    """Return the text that is searched: what it looked like and why, in one chunk. Not what was tried, which would
    match checks."""
    parts = [
        record.title,
        record.service,
        record.vendor,
        record.region,
        record.root_cause,
        *(alert.title for alert in record.alerts if alert.title != record.title),
        *record.symptoms,
        *(text for name, text in record.list_texts() if name != "root_cause"),
    ]
    return cut("\n".join(part.replace("\x00", " ") for part in parts if part), CONTENT_CHARS)


def build_metadata(record: Incident) -> dict[str, str]:
    """Return the whole record as text values: compact JSON, in numbered parts where it is long."""
    written = json.dumps(write_record(record), ensure_ascii=False, separators=(",", ":"))
    parts = [written[start : start + PART_CHARS] for start in range(0, len(written), PART_CHARS)]
    named = {f"{FORMAT}.{number}": part for number, part in enumerate(parts[1:], 1)}
    return {"incident_id": record.incident_id, "title": cut(record.title, 200), FORMAT: parts[0], **named}


def build_tags(record: Incident) -> list[str]:
    """Return tags that say whose document it is, and who may see it."""
    return [OURS, f"{SCOPE}{record.source.visibility}"]


def build_viewer_tags(viewer: Viewer) -> list[str]:
    """Return the tags to ask for, each alone being enough: the viewer's scopes; for the operator everything of ours,
    too."""
    scopes = sorted(f"{SCOPE}{scope}" for scope in viewer.scopes)
    return [OURS, *scopes] if viewer.sees_all else scopes


def group_by_document(facts: Iterable[BankFact], query: Query, viewer: Viewer) -> dict[str, BankFact]:
    """Return one fact for each document, in the order of the documents' best facts, without what is excluded or may not
    be seen.

    Of a document's facts the one that carries a record is chosen: servers return some facts without their metadata.
    """
    chosen: dict[str, BankFact] = {}
    for fact in facts:
        document = fact.document_id
        if document is None or document in query.exclude or not is_visible(fact, viewer):
            continue
        before = chosen.setdefault(document, fact)
        if len(fact.metadata) > len(before.metadata):
            chosen[document] = fact
    return chosen


def find_without_record(chosen: Mapping[str, BankFact]) -> tuple[str, ...]:
    """Return documents of ours whose record did not come with any of their facts."""
    return tuple(i for i, fact in chosen.items() if OURS in fact.tags and FORMAT not in fact.metadata)


def build_hits(chosen: Mapping[str, BankFact], limit: int, viewer: Viewer) -> tuple[BankHit, ...]:
    """Return the documents as hits, at most `limit`; the record's own visibility counts, too."""
    hits = (build_hit(document, fact) for document, fact in chosen.items())
    seen = (hit for hit in hits if hit.incident is None or viewer.may_see(hit.incident.source.visibility))
    return tuple(islice(seen, limit))


def is_visible(fact: BankFact, viewer: Viewer) -> bool:
    """Return whether all scopes that the fact names may be seen; one that names none was not written by us."""
    scopes = [tag.removeprefix(SCOPE) for tag in fact.tags if tag.startswith(SCOPE)]
    return bool(scopes) and all(viewer.may_see(scope) for scope in scopes)


def build_hit(document_id: str, fact: BankFact) -> BankHit:
    """Return the document as a record, or as masked text where it has none."""
    if record := read_fact_record(document_id, fact):
        return BankHit(document_id, record)
    return BankHit(document_id, text=fit_one_line(mask(fact.text)[0], OUTSIDE_CHARS))


def read_fact_record(document_id: str, fact: BankFact) -> Incident | None:
    """Return the record in the metadata: ours whole, or another writer's plain keys; None if there is none."""
    try:
        row = _read_ours(fact.metadata) if FORMAT in fact.metadata else _read_plain(fact)
        record = read_record(_mask_value(row) | {"incident_id": document_id}, how=None) if row else None
    except (RecordRejected, ValueError, RecursionError):
        return None
    return record


def _read_ours(metadata: Mapping[str, str]) -> JsonDict:
    parts = [metadata[FORMAT]]
    while len(parts) < PARTS_AT_MOST and (part := metadata.get(f"{FORMAT}.{len(parts)}")):
        parts.append(part)
    row = json.loads("".join(parts))
    if not isinstance(row, dict):
        raise RecordRejected("", "should be an object")
    return row


def _read_plain(fact: BankFact) -> JsonDict:
    """Return another writer's keys as a row of an import, empty where they describe no incident."""
    row: JsonDict = {key: value for key, value in fact.metadata.items() if value.strip()}
    if not TELLING & row.keys():
        return {}
    row |= {name: _read_list(row[name]) for name in LISTS if name in row}
    row.setdefault("title", fit_one_line(fact.text, 200))
    if fix := row.pop("fix", None):
        said = row.get("verification_status", "").upper()
        row["attempts"] = [{"fix": fix, "status": said if said in STATUSES else "UNVERIFIED"}]
    scopes = [tag.removeprefix(SCOPE) for tag in fact.tags if tag.startswith(SCOPE)]
    kept = {key: value for key, value in row.items() if isinstance(value, str) or key in (*LISTS, "attempts")}
    return kept | {"source": {"kind": "bank", "visibility": scopes[0] if scopes else "public"}}


def _read_list(text: str) -> list[str]:
    return [part.strip() for part in text.split(";") if part.strip()]


def _mask_value(value: Any) -> Any:
    """Return the value with secrets masked in every text: what others wrote was not masked by us."""
    if isinstance(value, str):
        return mask(value)[0]
    if isinstance(value, dict):
        return {key: _mask_value(entry) for key, entry in value.items()}
    return [_mask_value(entry) for entry in value] if isinstance(value, list) else value
