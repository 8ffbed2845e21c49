"""Write one incident as a post-mortem in Markdown: what was seen, tried, wasted and learned.

Only what the record and the alert's lifecycle contain; what nobody recorded is named as missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.domain.fixes.steps import split_steps
from bot.domain.incidents.lifecycle import Lifecycle
from bot.domain.incidents.record import Attempt, Incident, VerificationStatus
from bot.domain.text.format import format_count

# What Markdown and HTML would take for more than a character of the text.
_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~])")
_SAYS = {
    VerificationStatus.VERIFIED: "worked: a person saw the recovery",
    VerificationStatus.PARTIAL: "helped partly",
    VerificationStatus.FAILED: "did not work",
    VerificationStatus.UNVERIFIED: "outcome not recorded",
}


@dataclass(frozen=True, slots=True)
class QuotedMessage:
    """What a person wrote in the incident's thread."""

    at: datetime
    by: str
    text: str


def write_postmortem(
    record: Incident, life: Lifecycle | None = None, said: Sequence[QuotedMessage] = (), *, unread: bool = False
) -> str:
    """Return Markdown that ends with a newline.

    `life` is the alert's, if known; `said` are messages of the thread, `unread` tells that it could not be read.
    Times are UTC.
    """
    parts = [
        [f"# {record.incident_id}: {_escape(record.title)}"],
        list(_write_facts(record)),
        [
            "## Timeline",
            "",
            *(_write_timeline(record, life, said) or ["Not recorded."]),
            *(["", "What people said in the thread could not be read."] if unread else []),
        ],
        ["## What was seen", "", *([f"- {_escape(symptom)}" for symptom in record.symptoms] or ["Not recorded."])],
        ["## Root cause", "", _escape(record.root_cause) if record.root_cause else "Not recorded."],
        ["## What was tried", "", *(list(_write_attempts(record)) or ["Nothing was recorded."])],
        ["## Checks that turned out not to be the cause", "", *(_write_checks(record) or ["None was recorded."])],
        ["## Lesson", "", _escape(record.lesson) if record.lesson else "Not recorded."],
    ]
    return "\n\n".join("\n".join(lines) for lines in parts) + "\n"


def _escape(text: str) -> str:
    """Return a recorded text on one line, without a meaning in Markdown."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _format_time(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def _write_facts(record: Incident) -> Iterator[str]:
    told = {
        "Service": record.service,
        "Vendor": record.vendor,
        "Where": "/".join(place for place in (record.environment, record.region) if place) or None,
        "Severity": record.severity,
        "Fault lies with": record.boundary.value,
        "Impact on customers": record.customer_impact,
        "Announced by": next((a.url for a in record.alerts if a.url), None),
        "Thread": record.source.url,
    }
    yield from (f"- {name}: {_escape(value)}" for name, value in told.items() if value)


def _write_timeline(record: Incident, life: Lifecycle | None, said: Sequence[QuotedMessage]) -> list[str]:
    moments: list[tuple[datetime, int, str]] = []
    if record.started_at:
        moments.append((record.started_at, 0, "it began"))
    for spell in life.spells if life else ():
        moments.append((spell.start, 1, "the alert fired"))
        if spell.end:
            moments.append((spell.end, 4, "the alert cleared"))
    if life and life.acknowledged_at:
        moments.append((life.acknowledged_at, 2, f"acknowledged by {_escape(life.acknowledged_by or 'someone')}"))
    moments += [(s.at, 3, f"{_escape(s.by)}: “{_escape(s.text)}”") for s in said]
    moments += [(a.at, 3, f"recorded: “{_shorten(a)}” {_describe_attempt(a)}") for a in record.attempts if a.at]
    if record.resolved_at:
        moments.append((record.resolved_at, 5, "resolved"))
    return [f"- {_format_time(at)}: {said}" for at, _, said in sorted(moments)]


def _shorten(attempt: Attempt) -> str:
    steps = split_steps(attempt.fix)
    more = f" and {format_count(len(steps) - 1, 'more step')}" if len(steps) > 1 else ""
    return _escape(steps[0] if steps else attempt.fix) + more


def _describe_attempt(attempt: Attempt) -> str:
    # an import states that a fix worked, but not who saw it, or whether anybody did
    brought = attempt.status is VerificationStatus.VERIFIED and attempt.how in ("import", "seed")
    return "worked: so the import says" if brought else _SAYS[attempt.status]


def _write_attempts(record: Incident) -> Iterator[str]:
    for number, attempt in enumerate(record.attempts, start=1):
        by = f", by {_escape(attempt.by)}" if attempt.by else ""
        yield f"{number}. {_describe_attempt(attempt).capitalize()}{by}:"
        yield from (f"   - {_escape(step)}" for step in split_steps(attempt.fix) or [attempt.fix])
        if attempt.note:
            yield f"   - Note: {_escape(attempt.note)}"


def _write_checks(record: Incident) -> list[str]:
    return [
        f"- {_escape(failed.check)}" + (f" ({failed.minutes:g} min)" if failed.minutes else "")
        for failed in record.failed_checks
    ]
