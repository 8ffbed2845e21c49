"""Values as tools and people write them: times, names in objects, lists in one cell, outcomes, ids with their prefix.

Must not know any tool's record. What cannot be understood is refused with the words that would be.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.domain.text.json_types import JsonDict
from bot.ports.errors import RecordRejected

ISO = "should be a time in ISO 8601, such as 2026-11-23T08:15:00Z"
# Times that can be read in one way only. A day and a month as two numbers with a slash cannot.
_PATTERNS = (
    "%Y-%m-%d", "%Y/%m/%d", "%Y-%m-%d %H:%M", "%Y/%m/%d %H:%M", "%Y/%m/%d %H:%M:%S", "%d/%b/%y %I:%M %p", "%d/%b/%y",
    "%d/%b/%Y %I:%M %p", "%d/%b/%Y %H:%M", "%d %b %Y", "%d %B %Y", "%d %b %Y %H:%M", "%d %B %Y %H:%M", "%b %d %Y",
    "%B %d %Y", "%b %d %Y %H:%M", "%B %d %Y %H:%M", "%b %d %Y %I:%M %p", "%B %d %Y %I:%M %p", "%d-%b-%Y %H:%M",
    "%d-%b-%Y", "%a %b %d %H:%M:%S %Y", "%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S",
)  # fmt: skip
_UTC = re.compile(r"\s*(?:\(?UTC\)?|GMT|Z)$")
_TWO_WAYS = re.compile(r"\d{1,2}/\d{1,2}/\d{2,4}\b")
_INSIDE = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
    r"|\d{1,2}\.? (?:[A-Z][a-z]{2,8})\.?,? \d{4}(?:,? \d{1,2}:\d{2})?|[A-Z][a-z]{2,8}\.? \d{1,2},? \d{4}(?:,? \d{1,2}:\d{2})?"
)
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b")
_EPOCH = re.compile(r"\d{10}(?:\d{3})?")
_MARKER = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")

OUTCOMES: Mapping[str, str] = {
    **dict.fromkeys(("verified", "worked", "yes", "true", "success", "successful", "succeeded", "fixed"), "VERIFIED"),
    **dict.fromkeys(("partial", "partly", "partially", "helped partly"), "PARTIAL"),
    **dict.fromkeys(("failed", "no", "false", "failure", "did not work", "unsuccessful"), "FAILED"),
    **dict.fromkeys(("unverified", "unknown", "not recorded", "not sure", "n/a", "-"), "UNVERIFIED"),
}
FAULTS: Mapping[str, str] = {
    **dict.fromkeys(("vendor", "vendor side", "third party", "external", "provider", "upstream"), "vendor"),
    **dict.fromkeys(("internal", "internal side", "us", "our side", "own"), "internal"),
    **dict.fromkeys(("mixed", "both"), "mixed"),
    **dict.fromkeys(("unknown", "n/a", "not recorded", "-"), "unknown"),
}
# Placeholders that people write for nothing.
_NOTHING = re.compile(
    r"[\s_*.\-–—]*(?:tbd|tba|todo|n/?a|none|null|unknown|nothing|not recorded|to be (?:determined|done|filled in))?[\s_*.\-–—]*",
    re.IGNORECASE,
)


def drop_placeholder(text: str | None) -> str | None:
    """Return the text, or None where it says that there is none ("TBD", "n/a", "-")."""
    return None if text is None or _NOTHING.fullmatch(text) else text.strip()


def read_text(value: Any) -> str | None:
    """Return the text of a plain value, or the name in an object that has one; None for anything else."""
    if isinstance(value, Mapping):
        keys = ("name", "value", "summary", "displayName", "title", "description", "content")
        return next((found for key in keys if (found := read_text(value.get(key)))), None)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return str(value).strip() or None


def read_texts(value: Any) -> list[str]:
    """Return the texts of a list of plain values or objects with a name, or of one of them."""
    values = value if isinstance(value, list) else [value]
    return [text for entry in values if (text := read_text(entry))]


def find_first_text(*values: Any) -> str | None:
    """Return the first value that is a text."""
    return next((text for value in values if (text := read_text(value))), None)


def split_list(cell: str) -> list[str]:
    """Return the entries of one cell or section: one a line, or separated by semicolons; list marks are left out."""
    parts = cell.split("\n") if "\n" in cell else cell.split(";")
    return [kept for part in parts if (kept := drop_placeholder(_MARKER.sub("", part)))]


def read_moment(value: Any, field: str) -> str | None:
    """Return a time as tools write it in ISO 8601, in UTC where it names no zone; None for nothing. Raises
    RecordRejected."""
    text = read_text(value)
    if text is None or drop_placeholder(text) is None:
        return None
    if found := _parse_moment(text):
        return found.isoformat()
    if _TWO_WAYS.match(text):
        raise RecordRejected(field, f"can be read in two ways (day and month); it {ISO}")
    raise RecordRejected(field, ISO)


def find_moment(text: str, field: str) -> str | None:
    """Return the first time that a sentence names. Raises RecordRejected where it names none."""
    if drop_placeholder(text) is None:
        return None
    found = _parse_moment(text) or next(
        (at for m in _INSIDE.finditer(_ORDINAL.sub("", text)) if (at := _parse_moment(m[0]))), None
    )
    if found is None:
        raise RecordRejected(field, f"{ISO}, or a date such as 23 November 2026")
    return found.isoformat()


def _parse_moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        pass
    if _EPOCH.fullmatch(text):
        return datetime.fromtimestamp(int(text[:10]), UTC)
    plain = " ".join(_UTC.sub("", text).replace(",", " ").replace(".", " " if text[:1].isalpha() else ".").split())
    for pattern in _PATTERNS:
        try:
            return datetime.strptime(plain, pattern).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None


def add_seconds(start: str | None, seconds: Any, field: str) -> str | None:
    """Return `start` and so many seconds. Raises RecordRejected where that is no number."""
    if start is None or seconds in (None, ""):
        return None
    try:
        return (datetime.fromisoformat(start) + timedelta(seconds=float(seconds))).isoformat()
    except (TypeError, ValueError, OverflowError) as error:
        raise RecordRejected(field, "should be a number") from error


def read_choice(value: str, field: str, choices: Mapping[str, str]) -> str:
    """Return what this word means. Raises RecordRejected with the words that are understood."""
    found = choices.get(" ".join(re.split(r"[\s_-]+", value.strip().casefold())) or "-")
    if found is None:
        raise RecordRejected(field, f"should be one of {', '.join(dict.fromkeys(choices))}")
    return found


def add_prefix(prefix: str, number: str | None) -> str | None:
    """Return a tool's id with its prefix, once."""
    if not number:
        return None
    return number if number.startswith(prefix) else f"{prefix}{number}"


def build_hashed_id(prefix: str, *parts: str | None) -> str:
    """Return an id made of what identifies a record, the same each time."""
    told = "\x1f".join(part or "" for part in parts)
    return prefix + hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:12]


def build_attempts(fix: str | None, status: str = "UNVERIFIED") -> list[dict[str, str]]:
    """Return one attempt with this fix, none for no fix."""
    return [{"fix": fix, "status": status}] if fix else []


def drop_empty(pairs: Iterator[tuple[str, Any]]) -> JsonDict:
    """Return the pairs that have a value."""
    return {key: value for key, value in pairs if value not in (None, "", [], {})}
