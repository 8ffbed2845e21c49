"""Any imported file as entries: which form it is in, and the reader for that form. Must not open files.

The text decides the form; the name does only where the text does not show it (Markdown).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bot.domain.incidents.record import Incident
from bot.domain.text.json_types import JsonObject
from bot.ports.errors import RecordRejected
from bot.records.importers.csv import Columns, CsvTable, read_table
from bot.records.importers.entries import MAX_DOCUMENT, ImportEntry, ImportForm, RowReader, mask_row
from bot.records.importers.incident_io import is_incident_io, read_incident_io
from bot.records.importers.jira import is_jira_issue, read_jira_issue
from bot.records.importers.markdown import read_markdown
from bot.records.importers.opsgenie import is_opsgenie, read_opsgenie
from bot.records.importers.pagerduty import is_pagerduty, read_pagerduty
from bot.records.incident_json import read_record, read_value

MARKDOWN_NAMES = (".md", ".markdown", ".mdown")
TABLE_NAMES = (".csv", ".tsv")
# The forms of single objects, each with what tells it; incident.io before PagerDuty, for both have incidents.
TOOLS: tuple[tuple[ImportForm, Callable[[JsonObject], bool], RowReader], ...] = (
    (ImportForm.INCIDENT_IO, is_incident_io, read_incident_io),
    (ImportForm.OPSGENIE, is_opsgenie, read_opsgenie),
    (ImportForm.JIRA, is_jira_issue, read_jira_issue),
    (ImportForm.PAGERDUTY, is_pagerduty, read_pagerduty),
)
# Keys under which the tools answer with lists of records.
LISTS = ("incidents", "issues", "data", "alerts", "records")
SINGLE = ("incident", "issue", "alert")
NOT_UTF8 = "is not UTF-8 (it may be Latin-1 or UTF-16); nothing of the file was taken: save or convert it as UTF-8"
NO_FORM = (
    "is in no form that import knows: JSON, CSV with a line of headings, or a post-mortem in Markdown; see --format"
)
JSON_NAMES = (".jsonl", ".json", ".ndjson")
_NOT_UTF8 = re.compile("[\ud800-\udfff]")
# UTF-16 without a mark reads as UTF-8 with NULs; a NUL further down is a fault of its line.
_UTF16 = re.compile(r"[^\x00\n]{0,9}\x00")
_A_VALUE = re.compile(r"^[ \t]*[{\[]", re.MULTILINE)
_MARKDOWN_HEAD = re.compile(r"\s*(?:#{1,6}\s|---\n)")
_TABLE_HEAD = re.compile(r"\s*[^\n]*[,;\t|]")


@dataclass(frozen=True, slots=True)
class FileReading:
    """A file that is being read."""

    form: ImportForm
    entries: Iterator[ImportEntry]
    table: CsvTable | None = None


def read_file(name: str, text: str, form: ImportForm | None = None, columns: Columns | None = None) -> FileReading:
    """Return the entries of one file.

    `form` overrides what the text looks like; `columns` maps CSV columns. Bytes that were no UTF-8 are expected as lone
    surrogates: they cost their line in JSON Lines, and the whole file in all other forms.
    """
    found = form or detect_form(name, text)
    if found is None:
        refused = [ImportEntry(1, RecordRejected("", NO_FORM))] if text.strip() else []
        return FileReading(ImportForm.JSONL, iter(refused))
    written_as_json = found not in {ImportForm.MARKDOWN, ImportForm.CSV} and (
        found is ImportForm.JSONL or _is_json(text)
    )
    by_line = written_as_json and not _is_document(text)
    if not by_line and (bad := _NOT_UTF8.search(text) or _UTF16.match(text)):
        line = text.count("\n", 0, bad.start()) + 1
        return FileReading(found, iter([ImportEntry(line, RecordRejected("", NOT_UTF8), form=found)]))
    if found is ImportForm.MARKDOWN:
        return FileReading(found, read_markdown(name, text))
    if not written_as_json:
        return _read_table(text, columns, found)
    return FileReading(found, _read_lines(text, form) if by_line else _read_document(text, form))


def _read_table(text: str, columns: Columns | None, form: ImportForm) -> FileReading:
    try:
        table = read_table(text, columns, None if form is ImportForm.CSV else form)
    except RecordRejected as refused:
        return FileReading(form, iter([ImportEntry(1, refused, form=form)] if text.strip() else []))
    return FileReading(table.form, table.rows(), table)


def detect_form(name: str, text: str) -> ImportForm | None:
    """Return the form that a text looks to be in; JSONL for JSON of any kind, whose form is read object by object."""
    folded = name.casefold()
    if folded.endswith(MARKDOWN_NAMES):
        return ImportForm.MARKDOWN
    if folded.endswith(TABLE_NAMES):
        return ImportForm.CSV
    if folded.endswith(JSON_NAMES) or _A_VALUE.search(text):
        return ImportForm.JSONL
    if _MARKDOWN_HEAD.match(text):
        return ImportForm.MARKDOWN
    return ImportForm.CSV if _TABLE_HEAD.match(text) else None


def _is_json(text: str) -> bool:
    return text.lstrip()[:1] in {"{", "["}


def _is_document(text: str) -> bool:
    """Return whether a JSON text is one document, and not a value a line."""
    first, _, more = text.strip().partition("\n")
    try:
        value = read_value(first, MAX_DOCUMENT)
    except RecordRejected:
        return _is_json(text) and first.rstrip()[-1:] in {"{", "[", ","}
    return not more and _find_elements(value) is not None


def _find_elements(value: Any) -> tuple[str, list[Any]] | None:
    """Return where the records of a document are, and the records; None where it is a record itself."""
    if isinstance(value, list):
        return "", value
    if isinstance(value, Mapping):
        for key in LISTS:
            if isinstance(value.get(key), list) and "title" not in value:
                return key, value[key]
        for key in SINGLE:
            if isinstance(value.get(key), Mapping) and "title" not in value:
                return key, [value[key]]
    return None


def _read_lines(text: str, tool: ImportForm | None) -> Iterator[ImportEntry]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = read_value(line)
            yield _build_entry(number, value, tool, {})
        except RecordRejected as refused:
            yield ImportEntry(number, refused)


def _read_document(text: str, tool: ImportForm | None) -> Iterator[ImportEntry]:
    try:
        value = read_value(text, MAX_DOCUMENT)
    except RecordRejected as refused:
        yield ImportEntry(1, refused)
        return
    _, elements = _find_elements(value) or ("", [value])
    names = value.get("names") if isinstance(value, Mapping) else None
    for number, element in enumerate(elements, 1):
        yield _build_entry(number, element, tool, names if isinstance(names, Mapping) else {})


def _build_entry(number: int, value: Any, tool: ImportForm | None, names: Mapping[str, str]) -> ImportEntry:
    if not isinstance(value, Mapping):
        return ImportEntry(
            number, RecordRejected("", "should be an object, one for each record"), form=tool or ImportForm.JSONL
        )
    form, to_row = next(
        ((f, to) for f, is_it, to in TOOLS if (f is tool if tool else is_it(value))), (ImportForm.JSONL, None)
    )
    if to_row is None or (tool is None and "incident_id" in value):  # a record of ours, whatever else it holds
        return ImportEntry(number, value)
    try:
        return ImportEntry(number, to_row(value, names), form=form)
    except RecordRejected as refused:
        return ImportEntry(number, refused, form=form)


def read_entry_record(entry: ImportEntry) -> Incident:
    """Return the record of an entry, secrets masked. Raises RecordRejected with the file's own name of the field."""
    if isinstance(entry.row, RecordRejected):
        raise _name_fields(entry.row, entry.names)
    try:
        return read_record(mask_row(entry.row))
    except RecordRejected as refused:
        raise _name_fields(refused, entry.names) from refused


def _name_fields(refused: RecordRejected, names: Mapping[str, str]) -> RecordRejected:
    column = names.get(refused.field)
    return RecordRejected(refused.field, f"{refused.reason} (column “{column}”)") if column else refused


def read_mapping(text: str) -> dict[str, str]:
    """Parse a saved mapping of columns. Raises RecordRejected."""
    value = read_value(text)
    if not isinstance(value, dict) or not all(isinstance(field, str) for field in value.values()):
        raise RecordRejected("", 'should be an object such as {"Opened": "started_at"}')
    return value


def write_mapping(columns: Columns) -> str:
    """Return a mapping as it is saved."""
    return json.dumps(dict(columns), ensure_ascii=False, indent=2) + "\n"
