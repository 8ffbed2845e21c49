"""Whether the bot is worth keeping, counted from rows."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from bot.domain.brief.boundary import BoundaryCall
from bot.domain.brief.decide import Brief, SourceLine
from bot.domain.brief.recommendation import Confidence, Recommendation
from bot.domain.incidents.lifecycle import IncidentState, Lifecycle
from bot.domain.incidents.record import Boundary, Source
from bot.domain.reports.usefulness import (
    PrecedentJudgment,
    Ratio,
    ReportedIncident,
    UsefulnessReport,
    WrongHigh,
    build_report,
)
from tests.builders import an_alert, an_incident, on_day, tried

SINCE, UNTIL = on_day(1, 0), on_day(30, 0)
FAILOVER = Recommendation("Fail over; watch", 3, 0, 0, 3, Confidence.HIGH, "…")
RAISE = Recommendation("Raise the timeout", 1, 0, 0, 3, Confidence.MEDIUM, "…")
SOURCE = SourceLine("INC-90", "t", Boundary.VENDOR, "strong", 0.9)


def brief(best: Recommendation | None = FAILOVER, *others: Recommendation, strong: bool = True) -> Brief:
    sources = (SOURCE,) if strong else ()
    return Brief(
        "v", an_alert(), None, recommendation=best, alternatives=others, sources=sources, boundary=BoundaryCall()
    )


def told(
    n: int, *attempts, briefs: tuple[Brief, ...] = (brief(),), state: IncidentState = IncidentState.RESOLVED, **fields
) -> ReportedIncident:
    """Each on a day of its own, cleared after half an hour."""
    at = on_day(n)
    life = Lifecycle(f"INC-{n}", f"fp{n}", "public", state, at, at, cleared_at=at + timedelta(minutes=30))
    record = an_incident(f"INC-{n}", title=f"Problem {n}", service=f"s{n}", started_at=at, attempts=attempts, **fields)
    return ReportedIncident(life, record, briefs, 3)


def of(*rows: ReportedIncident, said: tuple[PrecedentJudgment, ...] = ()) -> UsefulnessReport:
    return build_report(rows, iter(said), SINCE, UNTIL)


def test_nothing_happened() -> None:
    found = of()
    assert (found.incidents, found.posts_per_outage, found.acted_on.percent, found.minutes_to_record) == (
        0,
        None,
        None,
        None,
    )


def test_acted_on_counts_worked_outages_in_which_a_shown_fix_was_tried() -> None:
    used = told(1, tried("fail over\nwatch"))
    alternative = told(2, tried("raise the timeout", "FAILED"), briefs=(brief(FAILOVER, RAISE),))
    pressed = told(3, tried("as suggested", suggested=True), briefs=(brief(None, strong=False),))
    other = told(4, tried("Rolled back"))
    nobody = told(5)
    twin = replace(
        told(6, tried("Fail over; watch")), record=replace(told(1).record or an_incident(), incident_id="INC-6")
    )
    found = of(used, alternative, pressed, other, nobody, twin)
    assert (found.incidents, found.outages, found.worked) == (6, 5, 4)
    assert (found.shown, found.acted_on) == (Ratio(3, 4), Ratio(3, 4))
    assert found.acted_on.percent == 75
    assert (found.posts, found.posts_per_outage) == (18, 3.6)


def test_a_runbook_is_the_same_fix_however_it_is_worded() -> None:
    book = replace(FAILOVER, runbook_id="RB-1")
    found = of(told(1, tried("did what it says", runbook_id="RB-1"), briefs=(brief(book),)))
    assert (found.acted_on, found.wrong_high) == (Ratio(1, 1), ())


def test_precedents_are_right_or_wrong_by_what_people_did_and_said() -> None:
    rows = (
        told(1, tried("Fail over; watch", suggested=True)),
        told(2, tried("Fail over; watch", "FAILED")),
        told(3, tried("Fail over; watch", suggested=True), tried("Fail over; watch", "FAILED", suggested=True)),
        told(4, tried("Rolled back")),
        told(5, tried("Fail over; watch", "PARTIAL")),
        told(6),
        told(7, briefs=(brief(None, strong=False),)),
        told(8, tried("Fail over; watch")),
    )
    said = (
        PrecedentJudgment("INC-8", True),
        PrecedentJudgment("INC-8", False),
        PrecedentJudgment("INC-7", False),
        PrecedentJudgment("INC-6", True),
    )
    assert (of(*rows).right, of(*rows).unjudged) == (Ratio(2, 4), 3)
    assert (of(*rows, said=said).right, of(*rows, said=said).unjudged) == (Ratio(2, 6), 2)


def test_high_and_wrong_is_listed_newest_first() -> None:
    url = "https://slack.example/4"
    rows = (
        told(1, tried("Fail over; watch")),
        told(2, tried("Fail over; watch", "FAILED")),
        told(3),
        told(4, tried("Fail over; watch", "PARTIAL"), tried("Rolled  back"), source=Source(url=url)),
        told(5, tried("Rolled back", "FAILED")),
        told(6, tried("Rolled back"), briefs=(brief(RAISE),)),
        told(7, tried("Fail over; watch"), tried("Rolled back")),
        ReportedIncident(replace(told(8).life), None, (brief(),)),
    )
    found = of(*rows)
    assert (found.high, found.high_untold) == (7, 2)
    assert found.wrong_high == (
        WrongHigh("INC-4", "Problem 4", "Fail over; watch", on_day(4), "Rolled back", url),
        WrongHigh("INC-2", "Problem 2", "Fail over; watch", on_day(2)),
    )


def test_recorded_is_of_what_is_over_and_the_median_begins_at_the_clearing() -> None:
    at = on_day(1)
    rows = (
        told(1, tried("a", at=at + timedelta(minutes=40))),
        told(2, tried("a", at=on_day(2) + timedelta(minutes=10))),
        told(3, tried("a", at=on_day(3) + timedelta(minutes=150)), state=IncidentState.CLEARED),
        told(4, tried("a")),
        told(5),
        told(6, state=IncidentState.OPEN),
        told(7, state=IncidentState.DISMISSED),
        ReportedIncident(replace(told(8).life, opened_at=UNTIL), None),
        ReportedIncident(replace(told(9).life, past=True), None),
    )
    found = of(*rows)
    assert (found.incidents, found.recorded, found.minutes_to_record) == (6, Ratio(4, 5), 10.0)


def test_a_fix_used_in_words_filed_with_the_shown_one_counts_as_that() -> None:
    rows = [told(1, tried("Use the other provider"))]
    same = {"use the other provider": "one", "fail over; watch": "one"}
    assert (of(*rows).acted_on.part, len(of(*rows).wrong_high), of(*rows).right.of) == (0, 1, 0)
    found = build_report(rows, (), SINCE, UNTIL, same)
    assert (found.acted_on.part, found.wrong_high, found.right) == (1, (), Ratio(1, 1))


def test_the_first_record_counts_as_the_time_of_recording() -> None:
    first, later = (replace(tried("x"), at=on_day(1) + timedelta(minutes=30 + m)) for m in (12, 300))
    assert of(told(1, later, first)).minutes_to_record == 12
