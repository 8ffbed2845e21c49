"""CSV: columns recognized by their headings, or as they are mapped; each row a record. Must not guess what a column
means."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bot.ports.errors import RecordRejected
from bot.records.importers.coerce import (
    FAULTS,
    OUTCOMES,
    add_prefix,
    add_seconds,
    build_attempts,
    build_hashed_id,
    drop_empty,
    drop_placeholder,
    find_first_text,
    read_choice,
    read_moment,
    split_list,
)
from bot.records.importers.column_names import FIELDS, IGNORED, PLAIN_FIELDS, normalize_heading, recognize_columns
from bot.records.importers.entries import MAX_DOCUMENT, ImportEntry, ImportForm, NativeRow
from bot.records.importers.jira import build_jira_id
from bot.records.importers.prose import read_description

# A cell of any size costs its own row only: Python stops reading a file at 128 kB.
csv.field_size_limit(MAX_DOCUMENT)
DELIMITERS = (",", ";", "\t", "|")
_LISTS = frozenset({"symptoms", "failed_checks", "failed_fix"})
# What a tracker writes under "Resolution": how the ticket ended, not what was done.
_ENDINGS_TEXT = """done; fixed; resolved; closed; duplicate; declined; wontfix; won't fix; won't do; unresolved; complete; completed
cancelled; canceled; cannot reproduce; works as designed; incomplete; yes; no; auto; manual"""
_ENDINGS = frozenset(ending.strip() for line in _ENDINGS_TEXT.splitlines() for ending in line.split(";"))
_PD = (ImportForm.PAGERDUTY, "PD-", frozenset({"incident number"}), ("service name", "created on", "resolved on"))
_OPS = (ImportForm.OPSGENIE, "OPS-", frozenset({"message"}), ("tinyid", "tiny id"))
_TOOLS = (
    _PD,
    _OPS,
    (ImportForm.INCIDENT_IO, "IIO-", frozenset({"reference", "name"}), ("permalink", "severity", "status")),
)
_JIRA = frozenset({"issue key", "summary"})
# Column → native field, as a person says; compared without case.
Columns = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class CsvTable:
    """A CSV and the meaning of its columns."""

    headings: tuple[str, ...]  # in their order
    fields: Mapping[int, str]  # place → native field
    form: ImportForm = ImportForm.CSV
    rows: Callable[[], Iterator[ImportEntry]] = field(default=lambda: iter(()))

    @property
    def unread(self) -> tuple[str, ...]:
        """Headings of the columns that are left out."""
        return tuple(
            h for place, h in enumerate(self.headings) if self.fields.get(place, IGNORED) == IGNORED and h.strip()
        )

    @property
    def asks(self) -> bool:
        """Whether a person must say which column is the title: every record needs one."""
        return "title" not in self.fields.values()


def read_table(text: str, mapping: Columns | None = None, form: ImportForm | None = None) -> CsvTable:
    """Return the table in a CSV text; its rows are read on demand. Raises RecordRejected if it has no headings."""
    first, _, _ = text.lstrip("\n").partition("\n")
    counts = {d: first.count(d) for d in DELIMITERS}
    delimiter = max(DELIMITERS, key=lambda d: counts[d])
    lines = csv.reader(io.StringIO(text), delimiter=delimiter, strict=True)
    try:
        headings = tuple(h.strip() for h in next((row for row in lines if any(row)), []))
    except csv.Error as error:
        raise RecordRejected("", f"is not CSV: {error}") from error
    if not headings:
        raise RecordRejected("", "has no line of headings")
    found = form or _detect_form(headings)
    fields = _choose_fields(headings, mapping or {}, found)
    return CsvTable(headings, fields, found, lambda: _read_rows(lines, headings, fields, found))


def _choose_fields(headings: Sequence[str], mapping: Columns, form: ImportForm) -> dict[int, str]:
    said = {normalize_heading(column): field for column, field in mapping.items()}
    given = {place: said[normalize_heading(h)] for place, h in enumerate(headings) if normalize_heading(h) in said}
    # Jira's own "Resolution" is how the issue ended ("Done"), not what was done.
    ended = "resolution" if form is ImportForm.JIRA else None
    free = [h if place not in given and h.casefold() != ended else "" for place, h in enumerate(headings)]
    return recognize_columns(free, set(given.values()) - _LISTS) | given


def _detect_form(headings: Sequence[str]) -> ImportForm:
    forms = {normalize_heading(h) for h in headings}
    if forms >= _JIRA:
        return ImportForm.JIRA
    return next((tool for tool, _, all_of, one_of in _TOOLS if all_of <= forms and forms & set(one_of)), ImportForm.CSV)


def find_unknown_fields(mapping: Columns) -> list[str]:
    """Return the fields of a mapping that no record has."""
    return sorted({field for field in mapping.values() if field not in FIELDS and field != IGNORED})


def _read_rows(
    lines: Any, headings: Sequence[str], fields: Mapping[int, str], form: ImportForm
) -> Iterator[ImportEntry]:
    names = {field: headings[place] for place, field in reversed(tuple(fields.items()))}
    while True:
        start = lines.line_num + 1
        try:
            cells = next(lines, None)
        except csv.Error as error:
            # Where a quote is not closed nobody can say where the next row begins.
            yield ImportEntry(start, RecordRejected("", f"is not CSV from here on: {error}"), names, form)
            return
        if cells is None:
            return
        if not any(cell.strip() for cell in cells):
            continue
        try:
            yield ImportEntry(start, _build_row(cells, headings, fields, form), names, form)
        except RecordRejected as refused:
            yield ImportEntry(start, refused, names, form)


def _build_row(cells: Sequence[str], headings: Sequence[str], fields: Mapping[int, str], form: ImportForm) -> NativeRow:
    if len(cells) != len(headings):
        raise RecordRejected("", f"has {len(cells)} cells where the headings are {len(headings)}")
    told: dict[str, str] = {}
    for place, name in fields.items():
        if name != IGNORED and (said := drop_placeholder(cells[place])) is not None:
            told[name] = f"{told[name]}\n{said}" if name in told and name in _LISTS else told.get(name, said)
    row = _read_prose(told, form) | {
        "incident_id": _build_id(told, cells, form),
        "title": told.get("title"),
        "source": {"kind": "import", "url": told.get("url")},
    }
    row |= drop_empty((name, told.get(name)) for name in PLAIN_FIELDS)
    row["started_at"] = started = read_moment(told.get("started_at"), "started_at")
    ended = read_moment(told.get("resolved_at"), "resolved_at") or add_seconds(started, told.get("seconds"), "seconds")
    row["resolved_at"] = ended or add_seconds(started, _read_seconds(told.get("minutes")), "minutes")
    if "boundary" in told:
        row["boundary"] = read_choice(told["boundary"], "boundary", FAULTS)
    attempts = [{"fix": fix, "status": "FAILED"} for fix in split_list(told.get("failed_fix", ""))] + _build_attempts(
        told
    )
    return row | drop_empty(
        iter([("attempts", attempts), ("failed_checks", split_list(told.get("failed_checks", "")))])
    )


def _read_prose(told: Mapping[str, str], form: ImportForm) -> NativeRow:
    said = told.get("symptoms")
    if said is None:
        return {}
    return (
        read_description(said)
        if form is ImportForm.JIRA
        else {"symptoms": split_list(said) if "\n" in said or len(said) < 200 else [said]}
    )


def _read_seconds(minutes: str | None) -> Any:
    try:
        return float(minutes) * 60 if minutes else None
    except ValueError:
        return minutes


def _build_attempts(told: Mapping[str, str]) -> list[dict[str, str]]:
    status = read_choice(told["outcome"], "outcome", OUTCOMES) if "outcome" in told else None
    fix = told.get("fix")
    plain = None if fix is None or fix.casefold() in _ENDINGS else fix
    verified = build_attempts(told.get("successful_fix"), status or "VERIFIED")
    return build_attempts(plain, status or "UNVERIFIED") + verified


def _build_id(told: Mapping[str, str], cells: Sequence[str], form: ImportForm) -> str | None:
    number = told.get("incident_id")
    if form is ImportForm.JIRA:
        return build_jira_id(number)
    prefix = next((prefix for tool, prefix, _, _ in _TOOLS if tool is form), "")
    if number:
        return add_prefix(prefix, number)
    key = find_first_text(told.get("started_at"))
    return (
        build_hashed_id("CSV-", told.get("title"), told.get("service"), key) if key else build_hashed_id("CSV-", *cells)
    )
