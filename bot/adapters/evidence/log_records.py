"""One line of a log file: its time, its level, its text. Must not open anything."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bot.domain.text.json_types import JsonObject

TIMES = ("time", "timestamp", "ts", "@timestamp", "t", "datetime", "date", "asctime", "eventTime")
LEVELS = ("level", "severity", "lvl", "levelname", "log.level", "loglevel", "severity_text", "priority")
TEXTS = ("message", "msg", "event", "log", "error", "err", "body", "exception")
GRAVE = frozenset({"error", "err", "fatal", "critical", "crit", "alert", "emerg", "emergency", "panic", "severe"})
TROUBLE = re.compile(
    r"error|exception|fatal|panic|critical|time(?:d )?out|refused|unavailable|denied|failed|failure", re.IGNORECASE
)
# pino, bunyan and others count levels in tens; error begins here
GRAVE_NUMBER = 50
# seconds, milliseconds, microseconds and nanoseconds since 1970 differ in how large they are
_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3), (0.0, 1.0))


@dataclass(frozen=True, slots=True)
class LogRecord:
    """One line."""

    at: datetime
    text: str
    is_error: bool  # it says that it is one, or states no level and speaks of trouble


def read_log_record(line: bytes) -> LogRecord | None:
    """Parse a line; None where it is no JSON object, or has no time."""
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict):
        return None
    at = read_moment(_find_first(said, TIMES))
    if at is None:
        return None
    text = _read_text(said)
    return LogRecord(at, text, _is_error(_find_first(said, LEVELS), text))


def _find_first(said: JsonObject, names: Iterable[str]) -> Any:
    return next((said[name] for name in names if said.get(name) not in (None, "")), None)


def read_moment(value: Any) -> datetime | None:
    """Return the time that a value states, in UTC; one without a zone is UTC. None where it states none."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            unit = next(unit for least, unit in _UNITS if abs(value) >= least)
            return datetime.fromtimestamp(value / unit, UTC)
        found = datetime.fromisoformat(str(value).strip().replace(",", "."))
    except (ValueError, OverflowError, OSError, StopIteration):
        return None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def _read_text(said: JsonObject) -> str:
    value = _find_first(said, TEXTS)
    if isinstance(value, Mapping):
        value = _find_first(value, ("message", "msg", "type"))
    return value if isinstance(value, str) else ""


def _is_error(level: Any, text: str) -> bool:
    if isinstance(level, str) and level.strip():
        return level.strip().casefold() in GRAVE
    if isinstance(level, int | float) and not isinstance(level, bool):
        return level >= GRAVE_NUMBER
    return TROUBLE.search(text) is not None
