"""What brief and records offer to whoever records a resolution."""

from __future__ import annotations

from dataclasses import replace

from bot.domain.brief.decide import Brief, decide
from bot.domain.incidents.record import FailedCheck, Incident, Runbook
from bot.domain.recall.ranking import Recalled
from bot.domain.resolutions.suggestions import MOST, SuggestedFix, suggest_checks, suggest_fixes, suggest_runbooks
from tests.builders import NOW, an_alert, an_incident, on_day, precedents, tried

LONG = "Fail over to the backup gateway of the other region; " * 60


def brief_of(*records: Incident) -> Brief:
    return decide(an_alert(), Recalled(precedents(*records)), (), NOW)


def test_the_briefs_fixes_come_first_in_full_and_each_fix_once() -> None:
    one = an_incident("INC-1", attempts=(tried("Restart it.", "FAILED"), tried(LONG)), started_at=on_day(2))
    two = an_incident("INC-2", attempts=(tried("restart it"), tried("Purge the cache", "UNVERIFIED")))
    three = an_incident("INC-3", attempts=(tried("Reboot the host", "FAILED"), tried("  ", "FAILED")))
    brief = brief_of(one, two, three)
    assert brief.recommendation is not None
    assert len(brief.recommendation.fix) <= 2000
    found = suggest_fixes(brief, [one, two, three])
    assert found[0] == SuggestedFix(LONG.strip())
    assert [k.fix.lower().rstrip(".") for k in found[1:]] == ["restart it", "purge the cache", "reboot the host"]
    assert [k.failed for k in found] == [False, False, False, True]


def test_a_fix_of_a_runbook_is_offered_under_it_and_the_runbook_with_its_steps() -> None:
    book = Runbook("RB-7", "Gateway failover", ("Drain", "Switch"))
    one = an_incident("INC-1", attempts=(tried("Drain; switch", runbook_id="RB-7"),), runbooks=(book,))
    two = an_incident(
        "INC-2",
        attempts=(tried("as RB-7 says", runbook_id="RB-7"), tried("Drain; switch.")),
        runbooks=(Runbook("RB-9", "Other"),),
    )
    brief = brief_of(one, two)
    (only,) = suggest_fixes(brief, [one, two])
    assert only.runbook_id == "RB-7"
    assert suggest_runbooks(brief, [one, two]) == (book, Runbook("RB-9", "Other"))
    assert [r.id for r in suggest_runbooks(brief, [])] == ["RB-7", "RB-9"]


def test_checks_are_offered_once_in_the_words_of_a_record() -> None:
    long = "Looked at every connection of the primary database " * 6
    one = an_incident("INC-1", failed_checks=(FailedCheck("DB pool", 20), FailedCheck(long), FailedCheck(" ")))
    two = an_incident("INC-2", failed_checks=(FailedCheck("checked the DB pool"), FailedCheck("DNS")))
    brief = brief_of(one, two)
    assert max(len(skip.check) for skip in brief.skip) <= 150
    assert set(suggest_checks(brief, [one, two])) == {"DB pool", long.strip(), "DNS"}
    assert suggest_checks(brief, [one, two])[0] == "DB pool"


def test_no_more_is_offered_than_a_select_holds() -> None:
    many = tuple(tried(f"Restart worker-{n}a") for n in range(150))
    record = an_incident("INC-1", attempts=many, failed_checks=tuple(FailedCheck(f"shard-{n}a") for n in range(150)))
    brief = replace(brief_of(record), alternatives=())
    assert len(suggest_fixes(brief, [record])) == len(suggest_checks(brief, [record])) == MOST


def test_what_a_person_filed_is_offered_once_and_what_they_split_is_offered_twice() -> None:
    one = an_incident("INC-1", attempts=(tried("Restart the pods"), tried("restart pods"), tried("Use the other one")))
    brief = brief_of()
    assert [k.fix for k in suggest_fixes(brief, [one])] == ["Restart the pods", "Use the other one"]
    assert [k.fix for k in suggest_fixes(brief, [one], {"restart pods": "x"})] == [a.fix for a in one.attempts]
    joined = {"restart the pods": "x", "restart pods": "x", "use the other one": "x"}
    assert [k.fix for k in suggest_fixes(brief, [one], joined)] == ["Restart the pods"]


def test_only_what_failed_is_said_to_have_failed() -> None:
    one = an_incident("INC-1", attempts=(tried("Wait", "PARTIAL"), tried("Ask", "UNVERIFIED"), tried("Pray", "FAILED")))
    assert [(k.fix, k.failed) for k in suggest_fixes(brief_of(), [one])] == [
        ("Wait", False),
        ("Ask", False),
        ("Pray", True),
    ]
