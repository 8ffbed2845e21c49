"""Read and write the file of a replay. People edit such files, and pass on those of others.

Only what is compared is read of a brief: one of another version may say more, or less. Must not let anything through
that does not have the type with which it was written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, NonNegativeInt, ValidationError

from bot.ports.errors import RecordRejected

FORMAT, FORMAT_VERSION = "precedent-replay", 1
NOT_OURS = "is not what `precedent replay` wrote{}; make it with `precedent replay --days 30 > before.jsonl`"
NEWER = (
    "was written by a newer Precedent ({}), in a form that this one does not know; make it with the older of the two"
)
SHORT = "is cut short: {} of {} alerts are in it; make it again"
LONGEST_VERSION = 40

Count = NonNegativeInt
T = TypeVar("T", bound=BaseModel)


class _Whole(BaseModel):
    """A part that must be exactly as written, without extra keys."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class _Part(BaseModel):
    """A part of a brief; extra keys of another version are dropped."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")


class _Written(_Part):
    """The keys of a first line that every version of the format has."""

    format: Literal["precedent-replay"]
    format_version: Annotated[int, Field(ge=1)]
    precedent: str


class _Header(_Whole):
    format: Literal["precedent-replay"]
    format_version: Literal[1]
    precedent: str
    since: AwareDatetime
    until: AwareDatetime
    alerts: Count


class _Silence(_Part):
    reason: str
    nearest: str | None
    collect: list[str]


class _Boundary(_Part):
    value: str
    told_apart_by: str | None


class _Cause(_Part):
    text: str
    verified: bool


class _Fix(_Part):
    fix: str
    successes: Count
    partial: Count
    failures: Count
    outages: Count
    confidence: str
    explanation: str


class _Failed(_Part):
    fix: str
    failures: Count


class _Skip(_Part):
    check: str
    count: Count
    of: Count


class _Later(_Part):
    check: str


class _Contradiction(_Part):
    lead: str


class _ReplaySource(_Part):
    incident_id: str


class _Brief(_Part):
    """What `bot.domain.operations.replay_diff` compares. A missing part was not known; the defaults are never read."""

    verdict: str = ""
    insufficient_memory: _Silence | None = None
    boundary: _Boundary | None = None
    root_cause: _Cause | None = None
    steps: list[str] = []
    step_warnings: list[str] = []
    recommendation: _Fix | None = None
    alternatives: list[_Fix] = []
    did_not_work: list[_Failed] = []
    skip: list[_Skip] = []
    later: list[_Later] = []
    contradictions: list[_Contradiction] = []
    sources: list[_ReplaySource] = []
    possible: list[_ReplaySource] = []


class _Line(_Whole):
    incident_id: Annotated[str, Field(min_length=1)]
    channel: str
    at: str
    service: str | None
    title: str | None
    read_from: Literal["brief", "record"]
    evidence_at: str | None
    brief: _Brief


def build_header(version: str, since: datetime, until: datetime, alerts: int) -> dict[str, Any]:
    """Build the first line of a replay: what it is, who made it, and how many lines follow."""
    period = {"since": since.isoformat(), "until": until.isoformat()}
    return {"format": FORMAT, "format_version": FORMAT_VERSION, "precedent": version, **period, "alerts": alerts}


@dataclass(frozen=True, slots=True)
class ReplayFile:
    """A replay that was stored in a file; of each brief only what is compared."""

    # Safe to print on a terminal.
    version: str
    since: datetime
    until: datetime
    lines: tuple[Mapping[str, Any], ...]


def read_replay_file(name: str, lines: Iterable[str]) -> ReplayFile:
    """Read a replay. Raises RecordRejected, naming the line, if it is none, is cut short, or has an unknown format."""
    rows = [(number, row) for number, row in enumerate(lines, start=1) if row.strip()]
    first, row = rows[0] if rows else (1, "")
    written = _read(_Written, name, first, row)
    if written.format_version > FORMAT_VERSION:
        raise RecordRejected(name, NEWER.format(_clean(written.precedent)))
    header = _read(_Header, name, first, row)
    try:
        since, until = header.since.astimezone(UTC), header.until.astimezone(UTC)
    except OverflowError as wrong:  # the first and the last day there are, in a zone that has them on the day beyond
        raise _build_rejection(name, first, "since, until") from wrong
    if since > until:
        raise _build_rejection(name, first, "since is after until")
    seen: set[tuple[str, str]] = set()
    found = []
    for number, row in rows[1:]:
        line = _read(_Line, name, number, row)
        if (key := (line.incident_id, line.channel)) in seen:
            raise _build_rejection(name, number, "this alert is in it twice")
        seen.add(key)
        found.append(line.model_dump(exclude_unset=True))
    if len(found) != header.alerts:
        raise RecordRejected(name, SHORT.format(len(found), header.alerts))
    return ReplayFile(_clean(header.precedent), since, until, tuple(found))


def _read(shape: type[T], name: str, number: int, row: str) -> T:
    try:
        return shape.model_validate_json(row.encode("utf-8", "surrogateescape"))  # it reports bytes that are no text
    except ValidationError as wrong:
        where = ".".join(str(part) for part in wrong.errors(include_url=False, include_input=False)[0]["loc"])
        raise _build_rejection(name, number, where) from wrong


def _build_rejection(name: str, number: int, why: str) -> RecordRejected:
    told = f" ({_clean(why)})" if why else ""
    return RecordRejected(name, NOT_OURS.format(f": line {number}{told}"))


def _clean(text: str) -> str:
    """Return what may be shown on a terminal, no longer than a version is."""
    return "".join(c if c.isprintable() else " " for c in text[:LONGEST_VERSION]).strip()
