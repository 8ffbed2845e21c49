"""One incident as a post-mortem in Markdown: what was seen, what was tried, what wasted time, what was learned.

Only what the record and the alert's life say; what nobody recorded is named as missing. Must not judge or guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.domain.fixes.steps import split_steps
from bot.domain.incidents.lifecycle import Life
from bot.domain.incidents.record import Attempt, Incident, VerificationStatus
from bot.domain.text.names import counted

# What Markdown and HTML would take for more than a character of the text.
_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~])")
_SAYS = {
    VerificationStatus.VERIFIED: "worked: a person saw the recovery",
    VerificationStatus.PARTIAL: "helped partly",
    VerificationStatus.FAILED: "did not work",
    VerificationStatus.UNVERIFIED: "outcome not recorded",
}


@dataclass(frozen=True, slots=True)
class Saying:
    """What a person said in the incident's thread."""

    at: datetime
    by: str
    text: str


def postmortem(record: Incident, life: Life | None = None, said: Sequence[Saying] = (), *, unread: bool = False) -> str:
    """Markdown text, with a newline at its end. `life` is the alert's, where one is known; `said`: what people said in the
    thread; `unread`: it could not be read. Times are in UTC."""
    parts = [
        [f"# {record.incident_id}: {_text(record.title)}"],
        list(_facts(record)),
        [
            "## Timeline",
            "",
            *(_timeline(record, life, said) or ["Not recorded."]),
            *(["", "What people said in the thread could not be read."] if unread else []),
        ],
        ["## What was seen", "", *([f"- {_text(symptom)}" for symptom in record.symptoms] or ["Not recorded."])],
        ["## Root cause", "", _text(record.root_cause) if record.root_cause else "Not recorded."],
        ["## What was tried", "", *(list(_attempts(record)) or ["Nothing was recorded."])],
        ["## Checks that turned out not to be the cause", "", *(_checks(record) or ["None was recorded."])],
        ["## Lesson", "", _text(record.lesson) if record.lesson else "Not recorded."],
    ]
    return "\n\n".join("\n".join(lines) for lines in parts) + "\n"


def _text(said: str) -> str:
    """A recorded text on one line, without a meaning in Markdown."""
    return _SPECIAL.sub(r"\\\1", " ".join(said.split()))


def _time(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def _facts(record: Incident) -> Iterator[str]:
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
    yield from (f"- {name}: {_text(value)}" for name, value in told.items() if value)


def _timeline(record: Incident, life: Life | None, said: Sequence[Saying]) -> list[str]:
    moments: list[tuple[datetime, int, str]] = []
    if record.started_at:
        moments.append((record.started_at, 0, "it began"))
    for spell in life.spells if life else ():
        moments.append((spell.start, 1, "the alert fired"))
        if spell.end:
            moments.append((spell.end, 4, "the alert cleared"))
    if life and life.acknowledged_at:
        moments.append((life.acknowledged_at, 2, f"acknowledged by {_text(life.acknowledged_by or 'someone')}"))
    moments += [(s.at, 3, f"{_text(s.by)}: “{_text(s.text)}”") for s in said]
    moments += [(a.at, 3, f"recorded: “{_short(a)}” {_said(a)}") for a in record.attempts if a.at]
    if record.resolved_at:
        moments.append((record.resolved_at, 5, "resolved"))
    return [f"- {_time(at)}: {said}" for at, _, said in sorted(moments)]


def _short(attempt: Attempt) -> str:
    steps = split_steps(attempt.fix)
    more = f" and {counted(len(steps) - 1, 'more step')}" if len(steps) > 1 else ""
    return _text(steps[0] if steps else attempt.fix) + more


def _said(attempt: Attempt) -> str:
    # an import says that a fix worked; who saw it, and whether anybody did, it does not say
    brought = attempt.status is VerificationStatus.VERIFIED and attempt.how in ("import", "seed")
    return "worked: so the import says" if brought else _SAYS[attempt.status]


def _attempts(record: Incident) -> Iterator[str]:
    for number, attempt in enumerate(record.attempts, start=1):
        by = f", by {_text(attempt.by)}" if attempt.by else ""
        yield f"{number}. {_said(attempt).capitalize()}{by}:"
        yield from (f"   - {_text(step)}" for step in split_steps(attempt.fix) or [attempt.fix])
        if attempt.note:
            yield f"   - Note: {_text(attempt.note)}"


def _checks(record: Incident) -> list[str]:
    return [
        f"- {_text(failed.check)}" + (f" ({failed.minutes:g} min)" if failed.minutes else "")
        for failed in record.failed_checks
    ]
