"""The steps of a fix, verbatim, and what to beware of before following them.

Must not alter, reorder or complete a step: what a person recorded is what the next person reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bot.domain.alerts.alert import Alert
from bot.domain.incidents.record import Incident
from bot.domain.text.names import normalize_environment, normalize_name
from bot.domain.text.tokens import normalize

# A ";" inside back-ticks or double quotes belongs to a command and does not end a step.
_PART = re.compile(r'(?:`[^`\n]*`|"[^"\n]*"|[^;\n])+')
_NUMBER = re.compile(r"^\s*(?:(?:step\s+)?\d{1,2}[.):]|[-*•])\s+", re.IGNORECASE)
_INLINE_NUMBER = re.compile(r"(?:^|(?<=\s))(\d{1,2})[.)]\s+")

DESTRUCTIVE: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (word, re.compile(pattern, re.IGNORECASE))
    for word, pattern in (
        ("delete", r"\bdelet(?:e|es|ed|ing)\b|\brm\s+-\w*[rf]|--delete\b"),
        ("drop", r"\bdrop(?:s|ped|ping)?\b"),
        ("truncate", r"\btruncat(?:e|es|ed|ing)\b"),
        ("force", r"\bforc(?:e|es|ed|ing)\b|--force\b|\bkill\s+-9\b|\breset\s+--hard\b"),
        ("scale to zero", r"\bscal(?:e|ed|ing)\b.{0,40}?\bto\s+(?:0|zero)\b|--replicas[= ]0\b"),
        ("wipe", r"\bwip(?:e|es|ed|ing)\b|\bpurg(?:e|es|ed|ing)\b|\bflush(?:all|db)\b|\bdestroy(?:s|ed|ing)?\b"),
    )
)
_NO_PLACE = frozenset({"alertname", "severity", "priority", "status", "value", "title", "alertstate"})


def _split_numbered(part: str) -> list[str]:
    """A part written as "1. a 2. b" in its steps; a part whose numbers do not count up from 1 is one step."""
    marks = list(_INLINE_NUMBER.finditer(part))
    if len(marks) < 2 or [int(m[1]) for m in marks] != list(range(1, len(marks) + 1)):
        return [_NUMBER.sub("", part)]
    ends = [m.start() for m in marks[1:]] + [len(part)]
    return [part[: marks[0].start()]] + [part[m.end() : end] for m, end in zip(marks, ends, strict=True)]


def split_steps(fix: str) -> tuple[str, ...]:
    """The steps of a fix in order: split at lines, ";" and existing numbering, each otherwise verbatim."""
    parts = (step.strip() for part in _PART.findall(fix) for step in _split_numbered(part))
    return tuple(part for part in parts if part)


def normalize_fix(fix: str) -> str:
    """The form under which two fixes are the same: their steps normalised, whatever separates or numbers them."""
    return "; ".join(normalize(step) for step in split_steps(fix))


def _list_differing_labels(past: Incident, alert: Alert) -> Iterator[tuple[str, str]]:
    """(value then, value now) of every field and label that both name and in which they differ."""
    pairs = [
        (past.region, alert.region, normalize_name),
        (past.environment, alert.environment, normalize_environment),
        (past.service, alert.service, normalize_name),
        (past.vendor, alert.vendor, normalize_name),
    ]
    pairs += [
        (then, alert.labels.get(key), normalize_name)
        for announced in past.alerts
        for key, then in sorted(announced.labels.items())
        if key.casefold() not in _NO_PLACE
    ]
    for then, now, form in pairs:
        if then and now and form(then) != form(now):
            yield then, now


def _is_named(step: str, value: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(value)}(?![\w-])", step, re.IGNORECASE) is not None


def _warn_written_elsewhere(steps: Sequence[str], past: Incident, alert: Alert) -> Iterator[str]:
    for then, now in _list_differing_labels(past, alert):
        # One or two characters, or a bare number, would match by accident.
        if len(then) > 2 and not then.isdecimal() and any(_is_named(step, then) for step in steps):
            yield f"written for {then}; this alert is {now}"


def _warn_destructive(steps: Sequence[str]) -> Iterator[str]:
    for number, step in enumerate(steps, start=1):
        words = [word for word, pattern in DESTRUCTIVE if pattern.search(step)]
        if words:
            yield f"step {number} is destructive ({', '.join(words)}): make sure before you run it"


def find_step_warnings(steps: Sequence[str], past: Incident | None, alert: Alert) -> tuple[str, ...]:
    """What to know before step 1: words that were true then and differ now, and steps that destroy something."""
    elsewhere = list(_warn_written_elsewhere(steps, past, alert)) if past else []
    return tuple(dict.fromkeys([*elsewhere, *_warn_destructive(steps)]))
