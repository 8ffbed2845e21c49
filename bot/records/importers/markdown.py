"""Post-mortems in Markdown: one file, one record. A text that has none of a post-mortem's headings is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from bot.ports.errors import RecordRejected
from bot.records.importers.coerce import (
    FAULTS,
    add_prefix,
    add_seconds,
    drop_empty,
    drop_placeholder,
    find_moment,
    read_choice,
)
from bot.records.importers.entries import MAX_TEXT, TOO_LONG, ImportEntry, ImportForm, NativeRow
from bot.records.importers.prose import read_write_up_fields
from bot.records.importers.sections import WriteUp, read_write_up

PREFIX = "PM-"
_KIND_OF_TEXT = re.compile(
    r"^(?:post[- ]?mortem|incident (?:report|review)|rca|retrospective)\s*(?:of|for)?\s*[:–—-]?\s+", re.IGNORECASE
)
_ID_FIRST = re.compile(r"^\[?([A-Z][A-Z0-9]{0,15}-\d{1,9})\]?\s*[:–—-]?\s+")
_DATE_FIRST = re.compile(r"^(\d{4}-\d{2}-\d{2})(?:\s*[:–—-]\s*|[_ ]+|$)")
_NEITHER = re.compile(r"[^\w.-]+")
NO_HEADINGS = (
    "has none of the headings of a post-mortem (summary, impact, root cause, timeline, resolution, lessons learned)"
)
TIMELINE = re.compile(r"timeline|chronology|action items?|follow[- ]?ups?", re.IGNORECASE)


def read_markdown(name: str, text: str) -> Iterator[ImportEntry]:
    """Yield the one record of a post-mortem.

    `name` is the file's, below the imported folder: it becomes the id where the text has none, so that the same file is
    the same record again.
    """
    if not text.strip():
        return
    try:
        yield ImportEntry(1, _build_row(name, _read_write_up(text)), form=ImportForm.MARKDOWN)
    except RecordRejected as refused:
        yield ImportEntry(1, refused, form=ImportForm.MARKDOWN)


def _read_write_up(text: str) -> WriteUp:
    if len(text) > MAX_TEXT:
        raise RecordRejected("", TOO_LONG)
    return read_write_up(text)


def _build_row(name: str, told: WriteUp) -> NativeRow:
    if not told.parts and not any(TIMELINE.fullmatch(heading.strip(": ")) for heading in told.rest):
        raise RecordRejected("", NO_HEADINGS)
    stem = PurePath(name).with_suffix("").as_posix()
    title, number, date = _split_title(told.facts.get("title") or told.title or PurePath(stem).name)
    date = date or (found[1] if (found := _DATE_FIRST.match(PurePath(stem).name)) else None)
    facts = told.facts
    started = find_moment(facts["started_at"], "started_at") if "started_at" in facts else date
    plain = ("service", "vendor", "region", "environment", "severity")
    pairs: list[tuple[str, Any]] = [(field, facts.get(field)) for field in plain]
    own_id = facts.get("incident_id") or number or _NEITHER.sub("-", stem).strip("-.")
    row = (
        drop_empty(iter(pairs))
        | read_write_up_fields(told)
        | {
            "incident_id": add_prefix(PREFIX, own_id),
            "title": title,
            "started_at": started,
            "resolved_at": find_moment(facts.get("resolved_at", ""), "resolved_at")
            or add_seconds(started, facts.get("minutes") and read_minutes_as_seconds(facts["minutes"]), "minutes"),
            "source": {"kind": "import", "url": facts.get("url")},
        }
    )
    if "boundary" in facts:
        row["boundary"] = read_choice(facts["boundary"], "boundary", FAULTS)
    if impact := facts.get("customer_impact"):
        row.setdefault("customer_impact", impact)
    return row


def read_minutes_as_seconds(said: str) -> float | None:
    """Return minutes in seconds, None where it is no number."""
    number = re.match(r"\d{1,6}(?:\.\d{1,3})?", said)
    return float(number[0]) * 60 if number else None


def _split_title(said: str) -> tuple[str, str | None, str | None]:
    """Return (title, id, date) of a heading such as "Postmortem: INC-7: Checkout down", or of a file's name."""
    plain = _KIND_OF_TEXT.sub("", said.strip())
    number = _ID_FIRST.match(plain)
    plain = plain[number.end() :] if number else plain
    date = _DATE_FIRST.match(plain)
    plain = plain[date.end() :] if date else plain
    title = drop_placeholder(plain) or said.strip()
    return title[:300], number[1] if number else None, date[1] if date else None
