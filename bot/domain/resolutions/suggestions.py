"""Collect what a brief and records suggest to a person who records a resolution: fixes, runbooks and checks, verbatim.

Nothing is preselected: a choice only saves typing, and keeps one fix under one wording.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bot.domain.brief.checks import normalize_check
from bot.domain.brief.decide import CHECK_LIMIT, FIX_LIMIT, Brief
from bot.domain.fixes.identity import FixGroups, build_fix_key
from bot.domain.incidents.record import Attempt, Incident, Runbook, VerificationStatus
from bot.domain.text.format import cut, fit_one_line

MOST = 99  # a select holds a hundred, and one of them is "something else"


@dataclass(frozen=True, slots=True)
class SuggestedFix:
    """A fix that was tried before, verbatim and in full."""

    fix: str
    runbook_id: str | None = None
    failed: bool = False  # it never worked


def _list_brief_fixes(brief: Brief, tried: Sequence[Attempt]) -> Iterator[SuggestedFix]:
    """Yield the brief's fixes, in full from the records: a brief cuts long ones."""
    for found in (brief.recommendation, *brief.alternatives):
        if found:
            whole = (a.fix.strip() for a in tried if cut(a.fix.strip(), FIX_LIMIT) == found.fix)
            yield SuggestedFix(next(whole, found.fix), found.runbook_id)


def _list_record_fixes(tried: Sequence[Attempt]) -> Iterator[SuggestedFix]:
    """Yield the records' fixes: first those that did not fail, then those that only ever failed."""
    for failed in (False, True):
        for attempt in tried:
            if (attempt.status is VerificationStatus.FAILED) is failed and attempt.fix.strip():
                yield SuggestedFix(attempt.fix.strip(), attempt.runbook_id, failed)


def suggest_fixes(
    brief: Brief, records: Sequence[Incident], filed: FixGroups | None = None
) -> tuple[SuggestedFix, ...]:
    """Return the brief's fixes, best first, then those of its strong precedents; each once, as the brief words it."""
    tried = [attempt for record in records for attempt in record.attempts]
    found: list[SuggestedFix] = []
    seen: set[object] = set()
    for known in (*_list_brief_fixes(brief, tried), *_list_record_fixes(tried)):
        names = {build_fix_key(known.fix, filed), *([known.runbook_id] if known.runbook_id else [])}
        if seen.isdisjoint(names):
            found.append(known)
        seen |= names
    return tuple(found)[:MOST]


def suggest_checks(brief: Brief, records: Sequence[Incident]) -> tuple[str, ...]:
    """Return the checks that wasted time before, the brief's first, each once in the words of a record."""
    failed = [c.check.strip() for record in records for c in record.failed_checks if c.check.strip()]
    whole = {fit_one_line(check, CHECK_LIMIT): check for check in reversed(failed)}
    shown = [skip.check for skip in brief.skip] + [later.check for later in brief.later]
    named = [whole.get(check, check) for check in shown]
    found: dict[object, str] = {}
    for check in (*named, *failed):
        found.setdefault(normalize_check(check), check)
    return tuple(found.values())[:MOST]


def suggest_runbooks(brief: Brief, records: Sequence[Incident]) -> tuple[Runbook, ...]:
    """Return the brief's runbooks, validated ones first, then the records'; each with its steps if known."""
    written: Mapping[str, Runbook] = {r.id: r for record in reversed(records) for r in record.runbooks}
    named = [Runbook(r.runbook_id, r.title) for r in brief.runbooks]
    found = {runbook.id: written.get(runbook.id, runbook) for runbook in (*named, *written.values())}
    return tuple(found.values())[:MOST]
