"""Incident records as JSON: the one reader and the one writer, for seeds, import, export, bank and store.

Must not read files or decide what to do with a bad record. `legacy_forms` knows the other shapes that are accepted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from bot.domain.incidents.record import (
    Announcement,
    Attempt,
    Boundary,
    FailedCheck,
    Incident,
    Runbook,
    Source,
    VerificationStatus,
)
from bot.domain.text.json_types import JsonDict, JsonObject
from bot.ports.audit import format_change
from bot.ports.errors import RecordRejected
from bot.records.legacy_forms import convert_to_native

MAX_BYTES = 256 * 1024
MAX_LINE = 1024 * 1024
EARLIEST, LATEST = datetime(1900, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
_TOO_LARGE = f"is larger than {MAX_BYTES // 1024} kB; shorten its longest text"
_NOT_UTF8 = re.compile(r"[\ud800-\udfff]")
_NOT_TEXT = re.compile(r"[\x00\ud800-\udfff]")


def _blank_to_none(value: Any) -> Any:
    return None if isinstance(value, str) and not value.strip() else value


def _check_text(value: str) -> str:
    if _NOT_TEXT.search(value):
        raise ValueError("holds a character that is not text (NUL, or half of a surrogate pair)")
    return value


def _to_utc(value: datetime) -> datetime:
    aware = value.replace(tzinfo=UTC) if value.tzinfo is None else value
    # Compared before it is converted: a time at the edge of the calendar has none in UTC.
    if not EARLIEST <= aware <= LATEST:
        raise ValueError(f"should be a time between the years {EARLIEST.year} and {LATEST.year}")
    return aware.astimezone(UTC)


def _check_moment(value: Any) -> Any:
    if isinstance(value, str | datetime | None):
        return value
    raise ValueError("should be a time in ISO 8601, such as 2026-11-23T08:15:00Z")


def _to_text(value: Any) -> Any:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _none_to_empty(value: Any) -> Any:
    return () if value is None else value


def _drop_none_entries(value: Any) -> Any:
    return {} if value is None else value


def _drop_blanks(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [entry for entry in value if _blank_to_none(entry) is not None]
    return _none_to_empty(value)


def _drop_blank_values(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _to_text(entry) for key, entry in value.items() if _blank_to_none(entry) is not None}
    return _drop_none_entries(value)


CheckedText = Annotated[str, AfterValidator(_check_text)]
OptionalText = Annotated[CheckedText | None, BeforeValidator(_blank_to_none)]
UtcMoment = Annotated[
    Annotated[datetime, AfterValidator(_to_utc)] | None, BeforeValidator(_check_moment), BeforeValidator(_blank_to_none)
]
CheckedTexts = Annotated[tuple[CheckedText, ...], BeforeValidator(_drop_blanks)]
LabelMap = Annotated[dict[CheckedText, CheckedText], BeforeValidator(_drop_blank_values)]
RecordId = Annotated[
    str, Field(max_length=200, pattern=r"^\S(.*\S)?$"), AfterValidator(_check_text), BeforeValidator(_to_text)
]


class _RowModel(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _AttemptModel(_RowModel):
    fix: Annotated[CheckedText, Field(min_length=1)]
    status: VerificationStatus = VerificationStatus.UNVERIFIED
    note: OptionalText = None
    runbook_id: OptionalText = None
    by: OptionalText = None
    at: UtcMoment = None
    how: OptionalText = None
    suggested: bool = False


class _RunbookModel(_RowModel):
    id: Annotated[RecordId, Field(min_length=1)]
    title: Annotated[CheckedText, Field(min_length=1)]
    steps: CheckedTexts = ()


class _FailedCheckModel(_RowModel):
    check: Annotated[CheckedText, Field(min_length=1)]
    minutes: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None


class _AnnouncementModel(_RowModel):
    fingerprint: OptionalText = None
    tool: OptionalText = None
    title: OptionalText = None
    labels: LabelMap = {}
    url: OptionalText = None


class _SourceModel(_RowModel):
    kind: Annotated[CheckedText, BeforeValidator(lambda value: _blank_to_none(value) or "import")] = "import"
    url: OptionalText = None
    channel: OptionalText = None
    visibility: Annotated[CheckedText, Field(pattern=r"^(public|private:\S+)$")] = "public"


class _RecordModel(_RowModel):
    incident_id: RecordId
    title: Annotated[CheckedText, Field(min_length=1)]
    service: OptionalText = None
    vendor: OptionalText = None
    region: OptionalText = None
    environment: OptionalText = None
    severity: OptionalText = None
    symptoms: CheckedTexts = ()
    customer_impact: OptionalText = None
    started_at: UtcMoment = None
    resolved_at: UtcMoment = None
    boundary: Annotated[Boundary, BeforeValidator(lambda value: _blank_to_none(value) or Boundary.UNKNOWN)] = (
        Boundary.UNKNOWN
    )
    root_cause: OptionalText = None
    attempts: Annotated[tuple[_AttemptModel, ...], BeforeValidator(_none_to_empty)] = ()
    runbooks: Annotated[tuple[_RunbookModel, ...], BeforeValidator(_none_to_empty)] = ()
    failed_checks: Annotated[tuple[_FailedCheckModel, ...], BeforeValidator(_none_to_empty)] = ()
    lesson: OptionalText = None
    evidence: LabelMap = {}
    alerts: Annotated[tuple[_AnnouncementModel, ...], BeforeValidator(_none_to_empty)] = ()
    source: Annotated[_SourceModel, BeforeValidator(_drop_none_entries)] = _SourceModel()
    apart_from: CheckedTexts = ()


def read_record(row: JsonObject, *, how: str | None = "import") -> Incident:
    """Return an incident from one decoded JSON object in any accepted form. Raises RecordRejected (field, reason).

    `how` is written to attempts that do not say who decided their status; None leaves them as they are.
    """
    if not isinstance(row, Mapping):
        raise RecordRejected("", f"should be an object, not {_name_kind(row)}")
    _check_json(row)
    native = convert_to_native(row)
    for key in ("incident_id", "title"):
        if _blank_to_none(native.get(key)) is None:
            raise RecordRejected(key, "is missing; a record needs an id and a title")
    try:
        read = _RecordModel.model_validate(native)
    except ValidationError as error:
        raise _format_error(error) from error
    incident = _build_incident(read, how)
    # What is taken must fit in the form in which it is given again.
    if len(json.dumps(write_record(incident))) > MAX_BYTES:
        raise RecordRejected("", _TOO_LARGE)
    return incident


def read_line(line: str) -> Incident:
    """Return an incident from one line of JSON Lines. Raises RecordRejected (field, reason), whatever the line holds.

    Bytes that were no UTF-8 are expected as lone surrogates ("surrogateescape").
    """
    return read_record(read_value(line))


def read_value(line: str, at_most: int = MAX_LINE) -> Any:
    """Return the JSON value of a text from outside, of at most `at_most` characters. Raises RecordRejected with what is
    wrong."""
    if len(line) > at_most:
        raise RecordRejected("", f"is longer than {at_most // 1024} kB")
    if match := _NOT_UTF8.search(line):
        raise RecordRejected("", f"is not UTF-8 at column {match.start() + 1}")
    try:
        return json.loads(line, parse_constant=_reject_constant)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, " if error.lineno > 1 else ""
        raise RecordRejected("", f"is not JSON: {error.msg} at {where}column {error.colno}") from error
    except RecursionError as error:
        raise RecordRejected("", "is nested too deeply") from error
    except ValueError as error:  # an integer of thousands of digits
        raise RecordRejected("", "holds a number that is too long") from error


def _reject_constant(name: str) -> Any:
    raise RecordRejected("", f"is not JSON: {name} is no number")


def write_record(incident: Incident) -> JsonDict:
    """Return the record as JSON values: keys in a fixed order, unknown as null, times ISO 8601 in UTC ("...Z").
    `apart_from`, which few have, is left out where it is empty."""
    written = {name: _to_json_value(getattr(incident, name)) for name in Incident.__slots__}
    return written if incident.apart_from else {k: v for k, v in written.items() if k != "apart_from"}


def _to_json_value(value: Any) -> Any:
    """Return the JSON value of anything that a record may hold."""
    if value is None or isinstance(value, str | int | float | bool):
        return value.value if isinstance(value, Boundary | VerificationStatus) else value
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, Mapping):
        return {key: _to_json_value(entry) for key, entry in value.items()}
    if isinstance(value, tuple):
        return [_to_json_value(entry) for entry in value]
    return {name: _to_json_value(getattr(value, name)) for name in value.__slots__}


def _build_incident(read: _RecordModel, how: str | None) -> Incident:
    values = {name: getattr(read, name) for name in _RecordModel.model_fields}
    values |= {
        "attempts": tuple(Attempt(**dict(attempt) | {"how": attempt.how or how}) for attempt in read.attempts),
        "runbooks": tuple(Runbook(**dict(runbook)) for runbook in read.runbooks),
        "failed_checks": tuple(FailedCheck(**dict(check)) for check in read.failed_checks),
        "alerts": tuple(Announcement(**dict(alert)) for alert in read.alerts),
        "source": Source(**dict(read.source)),
    }
    return Incident(**values)


def _check_json(row: JsonObject) -> None:
    try:
        size = len(json.dumps(row, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise RecordRejected("", "holds something that is not JSON") from error
    if size > MAX_LINE:
        raise RecordRejected("", _TOO_LARGE)


_SAYS = {
    "missing": "is missing",
    "string_type": "should be text",
    "tuple_type": "should be a list",
    "dict_type": "should be an object",
    "model_type": "should be an object",
    "mapping_type": "should be an object",
    "bool_parsing": "should be true or false",
    "bool_type": "should be true or false",
    "float_parsing": "should be a number",
    "float_type": "should be a number",
    "finite_number": "should be a finite number",
    "greater_than_equal": "should not be negative",
    "string_too_short": "should not be empty",
    "too_short": "should not be empty",
    "string_too_long": "is too long",
    "string_pattern_mismatch": "is not of the expected form",
}


def _format_error(error: ValidationError) -> RecordRejected:
    first = error.errors(include_url=False, include_input=False)[0]
    field = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]).lstrip(".")
    field = field[:200].encode("utf-8", "backslashreplace").decode()  # a key of theirs may hold anything
    kind = first["type"]
    if kind == "enum":
        return RecordRejected(field, f"should be one of {first['ctx']['expected']}")
    if kind.startswith("datetime"):
        return RecordRejected(field, "should be a time in ISO 8601, such as 2026-11-23T08:15:00Z")
    if kind == "value_error":
        return RecordRejected(field, str(first["ctx"]["error"]))
    return RecordRejected(field, _SAYS.get(kind, "has an unexpected value"))


def _name_kind(value: object) -> str:
    return {"list": "a list", "str": "text", "NoneType": "null"}.get(type(value).__name__, "a number")


def format_record_change(before: Incident | None, after: Incident | None, note: str = "") -> str:
    """Return the audit detail of a changed record; None stands for no record."""
    old, new = (write_record(record) if record else {} for record in (before, after))
    return format_change(old, new, note)
