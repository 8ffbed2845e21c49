"""Any imported file as entries: which form it is in, and the reader for that form. Must not open files.

The form is told by what stands in the text; the name decides only where that says nothing (Markdown).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bot.domain.incidents.record import Incident
from bot.ports import RecordRejected
from bot.records.importers.csv import Columns, Table, read_table
from bot.records.importers.entries import MAX_DOCUMENT, Entry, Form, ToRow, masked_row
from bot.records.importers.incident_io import from_incident_io, is_incident_io
from bot.records.importers.jira import from_jira, is_issue
from bot.records.importers.markdown import read_markdown
from bot.records.importers.opsgenie import from_opsgenie, is_opsgenie
from bot.records.importers.pagerduty import from_pagerduty, is_pagerduty
from bot.records.incident_json import read_record, read_value

MARKDOWN_NAMES = (".md", ".markdown", ".mdown")
TABLE_NAMES = (".csv", ".tsv")
# The forms of single objects, each with what tells it; incident.io before PagerDuty, for both have incidents.
TOOLS: tuple[tuple[Form, Callable[[Mapping[str, Any]], bool], ToRow], ...] = (
    (Form.INCIDENT_IO, is_incident_io, from_incident_io),
    (Form.OPSGENIE, is_opsgenie, from_opsgenie),
    (Form.JIRA, is_issue, from_jira),
    (Form.PAGERDUTY, is_pagerduty, from_pagerduty),
)
# Where lists of records stand in what the tools answer.
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
class Reading:
    """A file that is being read: its entries, and its table where it is one."""

    form: Form
    entries: Iterator[Entry]
    table: Table | None = None


def read_file(name: str, text: str, form: Form | None = None, columns: Columns | None = None) -> Reading:
    """The entries of one file. `form` overrides what the text looks like; `columns` maps CSV columns. Bytes that were no
    UTF-8 are expected as lone surrogates: they cost their line in JSON Lines, and the whole file in all other forms."""
    found = form or detected(name, text)
    if found is None:
        refused = [Entry(1, RecordRejected("", NO_FORM))] if text.strip() else []
        return Reading(Form.JSONL, iter(refused))
    written_as_json = found not in {Form.MARKDOWN, Form.CSV} and (found is Form.JSONL or _is_json(text))
    by_line = written_as_json and not _is_document(text)
    if not by_line and (bad := _NOT_UTF8.search(text) or _UTF16.match(text)):
        line = text.count("\n", 0, bad.start()) + 1
        return Reading(found, iter([Entry(line, RecordRejected("", NOT_UTF8), form=found)]))
    if found is Form.MARKDOWN:
        return Reading(found, read_markdown(name, text))
    if not written_as_json:
        return _table(text, columns, found)
    return Reading(found, _lines(text, form) if by_line else _document(text, form))


def _table(text: str, columns: Columns | None, form: Form) -> Reading:
    try:
        table = read_table(text, columns, None if form is Form.CSV else form)
    except RecordRejected as refused:
        return Reading(form, iter([Entry(1, refused, form=form)] if text.strip() else []))
    return Reading(table.form, table.rows(), table)


def detected(name: str, text: str) -> Form | None:
    """The form that a text looks to be in; JSONL for JSON of any kind, which tells its form object by object."""
    folded = name.casefold()
    if folded.endswith(MARKDOWN_NAMES):
        return Form.MARKDOWN
    if folded.endswith(TABLE_NAMES):
        return Form.CSV
    if folded.endswith(JSON_NAMES) or _A_VALUE.search(text):
        return Form.JSONL
    if _MARKDOWN_HEAD.match(text):
        return Form.MARKDOWN
    return Form.CSV if _TABLE_HEAD.match(text) else None


def _is_json(text: str) -> bool:
    return text.lstrip()[:1] in {"{", "["}


def _is_document(text: str) -> bool:
    """Whether a JSON text is one document, and not a value a line."""
    first, _, more = text.strip().partition("\n")
    try:
        value = read_value(first, MAX_DOCUMENT)
    except RecordRejected:
        return _is_json(text) and first.rstrip()[-1:] in {"{", "[", ","}
    return not more and _elements(value) is not None


def _elements(value: Any) -> tuple[str, list[Any]] | None:
    """Where the records of a document are, and they; None where it is a record itself."""
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


def _lines(text: str, tool: Form | None) -> Iterator[Entry]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = read_value(line)
            yield _entry(number, value, tool, {})
        except RecordRejected as refused:
            yield Entry(number, refused)


def _document(text: str, tool: Form | None) -> Iterator[Entry]:
    try:
        value = read_value(text, MAX_DOCUMENT)
    except RecordRejected as refused:
        yield Entry(1, refused)
        return
    _, elements = _elements(value) or ("", [value])
    names = value.get("names") if isinstance(value, Mapping) else None
    for number, element in enumerate(elements, 1):
        yield _entry(number, element, tool, names if isinstance(names, Mapping) else {})


def _entry(number: int, value: Any, tool: Form | None, names: Mapping[str, str]) -> Entry:
    if not isinstance(value, Mapping):
        return Entry(number, RecordRejected("", "should be an object, one for each record"), form=tool or Form.JSONL)
    form, to_row = next(
        ((f, to) for f, is_it, to in TOOLS if (f is tool if tool else is_it(value))), (Form.JSONL, None)
    )
    if to_row is None or (tool is None and "incident_id" in value):  # a record of ours, whatever else it holds
        return Entry(number, value)
    try:
        return Entry(number, to_row(value, names), form=form)
    except RecordRejected as refused:
        return Entry(number, refused, form=form)


def record_of(entry: Entry) -> Incident:
    """The record of an entry, secrets masked. Raises RecordRejected with the name that the file has for the field."""
    if isinstance(entry.row, RecordRejected):
        raise _named(entry.row, entry.names)
    try:
        return read_record(masked_row(entry.row))
    except RecordRejected as refused:
        raise _named(refused, entry.names) from refused


def _named(refused: RecordRejected, names: Mapping[str, str]) -> RecordRejected:
    column = names.get(refused.field)
    return RecordRejected(refused.field, f"{refused.reason} (column “{column}”)") if column else refused


def mapping_of(text: str) -> dict[str, str]:
    """A saved mapping of columns. Raises RecordRejected."""
    value = read_value(text)
    if not isinstance(value, dict) or not all(isinstance(field, str) for field in value.values()):
        raise RecordRejected("", 'should be an object such as {"Opened": "started_at"}')
    return value


def mapping_text(columns: Columns) -> str:
    """A mapping as it is saved."""
    return json.dumps(dict(columns), ensure_ascii=False, indent=2) + "\n"
