"""Correct a record: its fields as text that a person edits, what changed, and whose record it is."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from bot.domain.incidents.record import Attempt, Boundary, FailedCheck, Incident, VerificationStatus

TITLE, ROOT_CAUSE, BOUNDARY, FAILED_CHECKS, LESSON = "title", "root_cause", "boundary", "failed_checks", "lesson"
ATTEMPT = "attempt."
EDITED = "edit"
SHORTEST_MARK = 12


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One corrected field as people read it; "" for no value."""

    field: str
    before: str
    after: str


def format_check(check: FailedCheck) -> str:
    """Format a failed check as a person types it: "DB pool, 25"."""
    return check.check if check.minutes is None else f"{check.check}, {check.minutes:g}"


def read_texts(record: Incident) -> dict[str, str]:
    """Return what a person may correct, by field; an attempt's status is under "attempt.<place>"."""
    texts = {
        TITLE: record.title,
        ROOT_CAUSE: record.root_cause or "",
        BOUNDARY: record.boundary.value,
        FAILED_CHECKS: "\n".join(format_check(c) for c in record.failed_checks),
        LESSON: record.lesson or "",
    }
    texts |= {f"{ATTEMPT}{place}": attempt.status.value for place, attempt in enumerate(record.attempts)}
    return {name: text.strip() for name, text in texts.items()}


def hash_text(text: str) -> str:
    """Return a short hash by which to tell whether a text changed."""
    return hashlib.sha256(text.strip().encode("utf-8", "replace")).hexdigest()[:8]


def apply_texts(record: Incident, texts: Mapping[str, str], checks: Sequence[FailedCheck] | None) -> Incident:
    """Return the record with these fields as typed; fields that are not given stay. The title must not
    be empty. `checks` is what FAILED_CHECKS parsed to."""
    return replace(
        record,
        title=texts.get(TITLE, record.title),
        root_cause=texts[ROOT_CAUSE] or None if ROOT_CAUSE in texts else record.root_cause,
        boundary=Boundary(texts[BOUNDARY]) if BOUNDARY in texts else record.boundary,
        lesson=texts[LESSON] or None if LESSON in texts else record.lesson,
        failed_checks=tuple(checks) if checks is not None else record.failed_checks,
        attempts=tuple(_rate_attempt(a, texts.get(f"{ATTEMPT}{place}")) for place, a in enumerate(record.attempts)),
    )


def _rate_attempt(attempt: Attempt, status: str | None) -> Attempt:
    if status is None or status == attempt.status.value:
        return attempt
    return replace(attempt, status=VerificationStatus(status), how=EDITED)


def compare_records(before: Incident, after: Incident) -> tuple[FieldChange, ...]:
    """Return what changed between two versions of a record, in the order of the fields."""
    old, new = read_texts(before), read_texts(after)
    return tuple(FieldChange(n, old.get(n, ""), new.get(n, "")) for n in {**old, **new} if old.get(n) != new.get(n))


def is_newly_verified(before: Incident, after: Incident) -> bool:
    """Return whether the correction marks a fix as VERIFIED that was not."""
    was = [attempt.status for attempt in before.attempts]
    verified = VerificationStatus.VERIFIED
    return any(a.status is verified and was[n : n + 1] != [verified] for n, a in enumerate(after.attempts))


def is_author(record: Incident, user_id: str) -> bool:
    """Return whether this person recorded any of it."""
    return any(attempt.by == user_id for attempt in record.attempts)


def list_quotable_lines(record: Incident) -> tuple[str, ...]:
    """Return the record's lines that are long enough to recognize: a text that quotes the record contains one."""
    return tuple(dict.fromkeys(line for line in _list_lines(record) if len(line) >= SHORTEST_MARK))


def _list_lines(record: Incident) -> Iterator[str]:
    texts: list[str | None] = [record.title, *(text for _, text in record.list_texts())]
    texts += [text for attempt in record.attempts for text in (attempt.fix, attempt.note)]
    texts += [check.check for check in record.failed_checks]
    for text in texts:
        for line in (text or "").replace(";", "\n").splitlines():
            yield line.strip(" -•*\t")
