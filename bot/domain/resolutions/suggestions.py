"""What brief and records offer to a person who records a resolution: fixes, runbooks and checks, in full and verbatim.

Must not preselect anything, and must not count: a choice only saves typing, and keeps one fix under one wording.
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
    """A fix that was tried before, verbatim and in full. `failed`: whenever it was tried it did not work."""

    fix: str
    runbook_id: str | None = None
    failed: bool = False


def _list_brief_fixes(brief: Brief, tried: Sequence[Attempt]) -> Iterator[SuggestedFix]:
    """The fixes of the brief, which keeps no more of a long one than it can show: in full from the records."""
    for found in (brief.recommendation, *brief.alternatives):
        if found:
            whole = (a.fix.strip() for a in tried if cut(a.fix.strip(), FIX_LIMIT) == found.fix)
            yield SuggestedFix(next(whole, found.fix), found.runbook_id)


def _list_record_fixes(tried: Sequence[Attempt]) -> Iterator[SuggestedFix]:
    """Those of the records: first what did not fail, then what only ever failed."""
    for failed in (False, True):
        for attempt in tried:
            if (attempt.status is VerificationStatus.FAILED) is failed and attempt.fix.strip():
                yield SuggestedFix(attempt.fix.strip(), attempt.runbook_id, failed)


def suggest_fixes(
    brief: Brief, records: Sequence[Incident], filed: FixGroups | None = None
) -> tuple[SuggestedFix, ...]:
    """The brief's fixes, best first, then those of its strong precedents (`records`, best first); each fix once, in the
    wording that the brief shows. `filed`: what persons said of wordings."""
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
    """The checks that wasted time before: those that the brief names first, each once in the words of a record."""
    failed = [c.check.strip() for record in records for c in record.failed_checks if c.check.strip()]
    whole = {fit_one_line(check, CHECK_LIMIT): check for check in reversed(failed)}
    shown = [skip.check for skip in brief.skip] + [later.check for later in brief.later]
    named = [whole.get(check, check) for check in shown]
    found: dict[object, str] = {}
    for check in (*named, *failed):
        found.setdefault(normalize_check(check), check)
    return tuple(found.values())[:MOST]


def suggest_runbooks(brief: Brief, records: Sequence[Incident]) -> tuple[Runbook, ...]:
    """The runbooks of the brief, validated ones first, then those that the records name; each with its steps, if known."""
    written: Mapping[str, Runbook] = {r.id: r for record in reversed(records) for r in record.runbooks}
    named = [Runbook(r.runbook_id, r.title) for r in brief.runbooks]
    found = {runbook.id: written.get(runbook.id, runbook) for runbook in (*named, *written.values())}
    return tuple(found.values())[:MOST]
