"""The checks that wasted time, as a person types them: one a line, with minutes if given."""

from __future__ import annotations

import re

from bot.domain.incidents.record import FailedCheck
from bot.domain.text.problem import FieldProblem
from bot.domain.text.visible import clean

FIELD = "failed_checks"
MAX_CHECKS = 20
MAX_CHECK = 200
_MINUTES = re.compile(
    r"^(?P<check>.*?)\s*(?:(?P<mark>[,;:(=–—-])\s*)?\(?(?P<number>\d{1,6}(?:\.\d+)?)\s*(?P<unit>m|min|mins|minutes?|h|hrs?|hours?)?\.?\)?$",
    re.IGNORECASE,
)


def read_failed_checks(text: str) -> tuple[FailedCheck, ...] | FieldProblem:
    """Return one check for each line: "DB pool, 25", "DB pool 25m", "DB pool (1.5 h)"."""
    rows = clean(text, lines=True).split("\n")
    found: list[FailedCheck] = []
    for row in rows:
        if not row.strip("-•* "):
            continue
        check = _read_check(row.lstrip("-•* "))
        if isinstance(check, FieldProblem):
            return check
        found.append(check)
    if len(found) > MAX_CHECKS:
        return FieldProblem(FIELD, f"At most {MAX_CHECKS} lines.")
    long = next((one.check for one in found if len(one.check) > MAX_CHECK), None)
    if long is not None:
        return FieldProblem(FIELD, f"“{long[:40]}…” is too long: at most {MAX_CHECK} characters.")
    return tuple(found)


def _read_check(row: str) -> FailedCheck | FieldProblem:
    """Return the check of a line. A number counts as minutes only with a unit or after a mark: "restart worker 3" is the
    name of a check."""
    match = _MINUTES.match(row)
    name = match["check"].rstrip(" ,;:(=–—-") if match else ""
    if not any(character.isalpha() for character in (name if match else row)):
        return FieldProblem(FIELD, f"“{row[:40]}” names no check: write what was looked at, then the minutes.")
    if match is None or not name or not (match["unit"] or match["mark"]):
        return FailedCheck(row)
    factor = 60 if (match["unit"] or "").lower().startswith("h") else 1
    return FailedCheck(name, float(match["number"]) * factor)
