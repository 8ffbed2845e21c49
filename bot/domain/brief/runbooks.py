"""The named procedures that strong precedents carry, with what they did: validated ones with the incidents they resolved,
failed ones with their history, the others labelled. Must not count anything anew: the counts are those of the fixes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bot.domain.brief.recommendation import FailedFix, FixRecord, Recommendation
from bot.domain.recall.ranking import Precedent
from bot.domain.text.format import join_names

IDS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class RunbookRecord:
    """One runbook: `validated` once a fix that carries it was seen to work; `record` says in words what it did, in
    outages, with the ids; `incidents`: those it resolved, else those in which it was tried."""

    runbook_id: str
    title: str
    validated: bool
    record: str
    incidents: tuple[str, ...] = ()


def _describe_fix(found: Recommendation) -> str:
    known = found.successes + found.partial + found.failures
    others = [i for i in found.incidents if i not in found.resolved]
    if found.successes:
        failed = f"; failed in {found.failures}: {join_names(others, IDS_SHOWN)}" if found.failures else ""
        return f"worked in {found.successes} of {known}: {join_names(found.resolved, IDS_SHOWN)}{failed}"
    if found.partial:
        return f"not validated: helped partly in {found.partial} of {known}: {join_names(others, IDS_SHOWN)}"
    return f"not validated: outcome not recorded: {join_names(others, IDS_SHOWN)}"


def _list_tried(fixes: Iterable[Recommendation]) -> Iterable[RunbookRecord]:
    for found in fixes:
        if found.runbook_id:
            shown = found.resolved or found.incidents
            yield RunbookRecord(
                found.runbook_id, found.title or found.runbook_id, found.successes > 0, _describe_fix(found), shown
            )


def _list_failed(fixes: Iterable[FailedFix]) -> Iterable[RunbookRecord]:
    for found in fixes:
        if found.runbook_id:
            said = f"never seen to work: failed in {found.failures}: {join_names(found.incidents, IDS_SHOWN)}"
            yield RunbookRecord(
                found.runbook_id,
                found.title or found.runbook_id,
                validated=False,
                record=said,
                incidents=found.incidents,
            )


def list_runbooks(fixes: FixRecord, strong: Sequence[Precedent]) -> tuple[RunbookRecord, ...]:
    """All runbooks of the strong precedents (best first): those that worked, those that were tried, those only named."""
    rated = [found for found in (fixes.recommendation, *fixes.alternatives) if found]
    known = {record.runbook_id: record for record in (*_list_tried(rated), *_list_failed(fixes.did_not_work))}
    named: dict[str, RunbookRecord] = {}
    for precedent in strong:
        for runbook in precedent.incident.runbooks:
            where = precedent.incident.incident_id
            only = RunbookRecord(
                runbook.id, runbook.title, validated=False, record=f"not validated: named in {where}, never recorded as tried",
                incidents=(where,),
            )  # fmt: skip
            named.setdefault(runbook.id, only)
    found = [*known.values(), *(record for key, record in named.items() if key not in known)]
    return tuple(sorted(found, key=lambda record: not record.validated))
