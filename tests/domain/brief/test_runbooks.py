"""Runbooks: validated with what they resolved, failed with their history, the others labelled."""

from __future__ import annotations

from bot.domain.brief.recommendation import build_fix_record
from bot.domain.brief.runbooks import list_runbooks
from bot.domain.incidents.record import Runbook
from tests.builders import NOW, an_incident, on_day, precedents, tried


def records(*incidents):
    strong = precedents(*incidents)
    return [
        (r.runbook_id, r.title, r.validated, r.record) for r in list_runbooks(build_fix_record(strong, NOW), strong)
    ]


def case(n: int, status: str | None, runbook: str = "RB-1", title: str | None = "Failover"):
    named = (Runbook(runbook, title),) if title else ()
    made = (tried("do it", status, runbook_id=runbook),) if status else ()
    return an_incident(f"INC-{n}", started_at=on_day(n), attempts=made, runbooks=named)


def test_a_validated_one_names_all_it_resolved() -> None:
    assert records(case(1, "VERIFIED"), case(2, "VERIFIED"), case(3, None)) == [
        ("RB-1", "Failover", True, "worked in 2 of 2: INC-1, INC-2")
    ]


def test_one_that_failed_keeps_its_history() -> None:
    assert records(case(1, "VERIFIED"), case(2, "FAILED")) == [
        ("RB-1", "Failover", True, "worked in 1 of 2: INC-1; failed in 1: INC-2")
    ]
    assert records(case(1, "FAILED", title=None), case(2, "FAILED", title=None)) == [
        ("RB-1", "RB-1", False, "never seen to work: failed in 2: INC-1, INC-2")
    ]


def test_what_nobody_saw_work_is_labelled() -> None:
    assert records(case(1, "PARTIAL")) == [("RB-1", "Failover", False, "not validated: helped partly in 1 of 1: INC-1")]
    assert records(case(1, "UNVERIFIED", title=None)) == [
        ("RB-1", "RB-1", False, "not validated: outcome not recorded: INC-1")
    ]
    assert records(case(1, None)) == [
        ("RB-1", "Failover", False, "not validated: named in INC-1, never recorded as tried")
    ]


def test_validated_ones_come_first_and_fixes_without_a_runbook_are_none() -> None:
    plain = an_incident("INC-9", started_at=on_day(9), attempts=(tried("by hand"), tried("in vain", "FAILED")))
    found = records(case(1, None, "RB-0"), case(2, "VERIFIED"), plain)
    assert [(key, valid) for key, _, valid, _ in found] == [("RB-1", True), ("RB-0", False)]
