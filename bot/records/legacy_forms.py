"""Other shapes in which teams keep incidents, converted to the native keys. Values are validated by `incident_json`.

Two are known: post-mortem exports (`classification`, `actual_root_cause`, `successful_fix`, ...) and plain notes
(`error`, `fix`, `result`). Anything else is taken as native.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from bot.domain.text.json_types import JsonDict, JsonObject
from bot.ports.errors import RecordRejected

POST_MORTEM_KEYS = frozenset(
    {"classification", "actual_root_cause", "successful_fix", "time_to_resolution_minutes", "timestamp_start"}
)
BOUNDARIES = {
    "vendor_side": "vendor",
    "vendor": "vendor",
    "internal": "internal",
    "internal_side": "internal",
    "mixed": "mixed",
    "unknown": "unknown",
}
RESULTS = {"success": "VERIFIED", "failure": "FAILED", "partial": "PARTIAL", "unknown": "UNVERIFIED"}
# theirs → ours, where the value can be taken as it is
SAME_VALUE = {
    "actual_root_cause": "root_cause",
    "timestamp_start": "started_at",
    "timestamp_end": "resolved_at",
    "lessons_learned": "lesson",
    "lesson_learned": "lesson",
    "impact": "customer_impact",
}
TITLES = ("title", "alert_title", "summary", "alert", "error", "description")


def convert_to_native(row: JsonObject) -> JsonDict:
    """Return the row with native keys. Raises RecordRejected where a value of a known other shape cannot be understood."""
    if POST_MORTEM_KEYS & row.keys():
        return _convert_post_mortem(row)
    if "error" in row and "fix" in row and "title" not in row:
        return _convert_note(row)
    return _convert_text_checks(dict(row))


def _convert_post_mortem(row: JsonObject) -> JsonDict:
    native = {SAME_VALUE.get(key, key): value for key, value in row.items() if value is not None}
    native["incident_id"] = row.get("incident_id") or row.get("id") or _build_id(row)
    native["title"] = next((row[key] for key in TITLES if row.get(key)), None) or _find_first(row.get("symptoms"))
    native["symptoms"] = _to_list(row.get("symptoms"))
    if classification := row.get("classification"):
        native["boundary"] = _read_choice("classification", classification, BOUNDARIES)
    if fix := row.get("successful_fix"):
        native["attempts"] = [*_build_attempts(row), {"fix": _read_steps(fix), "status": "VERIFIED"}]
    native["resolved_at"] = native.get("resolved_at") or _compute_end(row)
    return _convert_text_checks(native)


def _build_attempts(row: JsonObject) -> list[Any]:
    attempts = row.get("attempts") or []
    if not isinstance(attempts, list):
        raise RecordRejected("attempts", "should be a list")
    return attempts


def _read_steps(fix: Any) -> str:
    steps = fix if isinstance(fix, list) else [fix]
    if not all(isinstance(step, str) for step in steps):
        raise RecordRejected("successful_fix", "should be text, or a list of texts")
    return "; ".join(steps)


def _convert_note(row: JsonObject) -> JsonDict:
    status = _read_choice("result", row.get("result") or "unknown", RESULTS)
    native = {key: value for key, value in row.items() if key not in {"error", "fix", "result"}}
    native["incident_id"] = row.get("incident_id") or row.get("id") or _build_id(row)
    native["title"] = _read_first_line(row["error"])
    native["symptoms"] = _to_list(row.get("symptoms")) or [row["error"]]
    native["attempts"] = [{"fix": row["fix"], "status": status}] if row["fix"] else []
    return _convert_text_checks(native)


def _convert_text_checks(native: JsonDict) -> JsonDict:
    checks = native.get("failed_checks")
    if isinstance(checks, list):
        named = [check for check in checks if not isinstance(check, str) or check.strip()]
        native["failed_checks"] = [{"check": check} if isinstance(check, str) else check for check in named]
    return native


def _read_choice(field: str, value: Any, choices: Mapping[str, str]) -> str:
    if not isinstance(value, str) or value.strip().casefold() not in choices:
        raise RecordRejected(field, f"should be one of {', '.join(choices)}")
    return choices[value.strip().casefold()]


def _compute_end(row: JsonObject) -> str | None:
    minutes, start = row.get("time_to_resolution_minutes"), row.get("timestamp_start") or row.get("started_at")
    if minutes is None or not start:
        return None
    try:
        return (datetime.fromisoformat(start) + timedelta(minutes=minutes)).isoformat()
    except (TypeError, ValueError, OverflowError) as error:
        raise RecordRejected("time_to_resolution_minutes", "should be a number, after a start in ISO 8601") from error


def _build_id(row: JsonObject) -> str:
    """Return an id made of the row, so that importing it again changes nothing."""
    canonical = json.dumps(row, sort_keys=True, default=str)
    return f"IMP-{hashlib.sha256(canonical.encode('utf-8', 'replace')).hexdigest()[:12]}"


def _to_list(value: Any) -> list[Any]:
    if isinstance(value, str):
        return [value]
    return value if isinstance(value, list) else []


def _find_first(value: Any) -> Any:
    return _read_first_line(listed[0]) if (listed := _to_list(value)) else None


def _read_first_line(value: Any) -> Any:
    lines = value.strip().splitlines() if isinstance(value, str) else []
    return lines[0][:200] if lines else None
