"""What a reader of imported files yields: one entry for each record it found. Values are validated by `incident_json`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from bot.domain.text.json_types import JsonDict, JsonObject
from bot.domain.text.redaction import mask
from bot.ports.errors import RecordRejected

# What is longer than this no record can hold; it is not looked at.
MAX_TEXT = 1024 * 1024
# No document is read that is longer.
MAX_DOCUMENT = 256 * 1024 * 1024
TOO_LONG = f"is longer than {MAX_TEXT // 1024} kB"
# A text as short as this holds no secret with its name.
_SHORT = 8
_AS_IT_IS = frozenset({"incident_id", "fingerprint", "started_at", "resolved_at", "at"})


class ImportForm(StrEnum):
    """The forms in which a history is read."""

    JSONL = "jsonl"
    CSV = "csv"
    MARKDOWN = "markdown"
    PAGERDUTY = "pagerduty"
    OPSGENIE = "opsgenie"
    JIRA = "jira"
    INCIDENT_IO = "incident-io"


@dataclass(frozen=True, slots=True)
class ImportEntry:
    """A record as found, or why it cannot be read."""

    line: int
    row: JsonObject | RecordRejected
    names: Mapping[str, str] = field(default_factory=dict)  # what the file calls a native field
    form: ImportForm = ImportForm.JSONL  # how it was read


NativeRow = JsonDict
# One object of a tool's export as a native row; `names` are the tool's names of custom fields. Raises RecordRejected.
RowReader = Callable[[JsonObject, Mapping[str, str]], NativeRow]


def mask_row(row: Any) -> Any:
    """Return the row with secrets masked in every text; ids and times stay as they are. Raises RecordRejected if nested
    too deeply."""
    try:
        return _mask_value(row)
    except RecursionError as error:
        raise RecordRejected("", "is nested too deeply") from error


def _mask_value(value: Any) -> Any:
    if isinstance(value, str):
        if len(value) > MAX_TEXT:
            raise RecordRejected("", TOO_LONG)
        return mask(value)[0] if len(value) > _SHORT else value
    if isinstance(value, Mapping):
        return {key: entry if key in _AS_IT_IS else _mask_value(entry) for key, entry in value.items()}
    return [_mask_value(entry) for entry in value] if isinstance(value, list) else value
