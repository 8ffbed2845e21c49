"""Correcting a record: its fields as text that a person edits, what they changed, and whose record it is.

Must not decide who may correct (that is `roles`), and must not store anything.
"""

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
    """One field that a correction changed, as people read it; "" where it says nothing."""

    field: str
    before: str
    after: str


def format_check(check: FailedCheck) -> str:
    """A failed check as it is typed: "DB pool, 25"."""
    return check.check if check.minutes is None else f"{check.check}, {check.minutes:g}"


def read_texts(record: Incident) -> dict[str, str]:
    """What a person may correct, by field; an attempt's status under "attempt.<place>"."""
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
    """A short name for a text, to tell whether it is still the same."""
    return hashlib.sha256(text.strip().encode("utf-8", "replace")).hexdigest()[:8]


def apply_texts(record: Incident, texts: Mapping[str, str], checks: Sequence[FailedCheck] | None) -> Incident:
    """The record with these fields as they were typed; those that are not named stay. `checks`: what FAILED_CHECKS says.
    A title must not be empty."""
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
    """What changed between two forms of a record, in the order of the fields."""
    old, new = read_texts(before), read_texts(after)
    return tuple(FieldChange(n, old.get(n, ""), new.get(n, "")) for n in {**old, **new} if old.get(n) != new.get(n))


def is_newly_verified(before: Incident, after: Incident) -> bool:
    """Whether the correction says that a fix worked of which that was not said."""
    was = [attempt.status for attempt in before.attempts]
    verified = VerificationStatus.VERIFIED
    return any(a.status is verified and was[n : n + 1] != [verified] for n, a in enumerate(after.attempts))


def is_author(record: Incident, user_id: str) -> bool:
    """Whether this person recorded something of it."""
    return any(attempt.by == user_id for attempt in record.attempts)


def list_quotable_lines(record: Incident) -> tuple[str, ...]:
    """The lines that a record is made of, as far as they are long enough to be told from others: what quotes it has some."""
    return tuple(dict.fromkeys(line for line in _list_lines(record) if len(line) >= SHORTEST_MARK))


def _list_lines(record: Incident) -> Iterator[str]:
    said: list[str | None] = [record.title, *(text for _, text in record.list_texts())]
    said += [text for attempt in record.attempts for text in (attempt.fix, attempt.note)]
    said += [check.check for check in record.failed_checks]
    for text in said:
        for line in (text or "").replace(";", "\n").splitlines():
            yield line.strip(" -•*\t")
