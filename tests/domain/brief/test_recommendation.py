"""Which fix is recommended, how far to trust it, and what is said about the others."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.brief.recommendation import Confidence, FixRecord, Recommendation, build_fix_record
from bot.domain.incidents.record import Runbook
from tests.builders import NOW, an_incident, on_day, precedents, tried

HIGH, MEDIUM, LOW = Confidence.HIGH, Confidence.MEDIUM, Confidence.LOW


def outages(*statuses: str | None, fix: str = "failover", first: int = 1):
    """One incident a status (None: not tried), each a day later, none in one outage."""
    return [
        an_incident(f"INC-{n}", started_at=on_day(n), attempts=(tried(fix, s),) if s else ())
        for n, s in enumerate(statuses, start=first)
    ]


def best_of(*records) -> Recommendation:
    found = build_fix_record(precedents(*records), NOW).recommendation
    assert found is not None
    return found


def recommended(record: FixRecord) -> Recommendation:
    assert record.recommendation is not None
    return record.recommendation


V, P, F, U = "VERIFIED", "PARTIAL", "FAILED", "UNVERIFIED"


@pytest.mark.parametrize(
    ("statuses", "confidence"),
    [
        ([V], MEDIUM),
        ([V, V], HIGH),
        ([V, V, P], HIGH),
        ([V, V, P, P], MEDIUM),
        ([V, P], MEDIUM),
        ([V, U], MEDIUM),
        ([V, V, U], HIGH),
        ([V, V, F], LOW),
        ([V, F], LOW),
        ([V, V, V, None, None], HIGH),
    ],
)
def test_confidence(statuses, confidence: Confidence) -> None:
    found = best_of(*outages(*statuses))
    assert found is not None
    assert found.confidence is confidence
    assert (found.successes, found.partial, found.failures) == (statuses.count(V), statuses.count(P), statuses.count(F))
    assert found.outages == len(statuses)


@pytest.mark.parametrize("statuses", [[], [None], [F], [F, F], [P], [U], [P, F], [U, F]])
def test_what_never_worked_is_never_recommended(statuses) -> None:
    assert build_fix_record(precedents(*outages(*statuses)), NOW).recommendation is None


def test_two_successes_on_one_date_are_not_high() -> None:
    pair = [an_incident(f"INC-{h}", started_at=on_day(1, h), attempts=(tried("x"),)) for h in (1, 20)]
    assert best_of(*pair).confidence is MEDIUM


def test_undated_incidents_are_outages_of_their_own_dates() -> None:
    pair = [an_incident("a", attempts=(tried("x", how="import"),)), an_incident("b", attempts=(tried("x"),))]
    found = best_of(*pair)
    assert (found.confidence, found.last_worked) == (HIGH, None)
    assert found.explanation == "tried in 2 of 2 similar outages, worked 2 of 2, 1 of these 2 imported: a, b"


def test_a_success_counts_as_recent_for_180_days() -> None:
    records = outages(V, V)
    last = on_day(2)
    for days, confidence in ((180, HIGH), (181, MEDIUM)):
        found = recommended(build_fix_record(precedents(*records), last + timedelta(days=days)))
        assert (found.confidence, found.last_worked) == (confidence, last)


def test_an_old_success_says_so() -> None:
    records = outages(V, V)
    old = recommended(build_fix_record(precedents(*records), on_day(2) + timedelta(days=200))).explanation
    assert "worked 2 of 2, last worked 200 days ago, on 2026-11-02: INC-1" in old
    assert "days ago" not in best_of(*records).explanation


def test_wordings_of_one_fix_count_together_and_the_best_recorded_is_shown_verbatim() -> None:
    records = [
        an_incident("a", started_at=on_day(1), attempts=(tried("Restarted the cache nodes", P),)),
        an_incident("b", started_at=on_day(2), attempts=(tried("Restart THE cache-nodes."),)),
        an_incident("c", started_at=on_day(3), attempts=(tried("cache nodes rebooted"), tried("Do not restart the cache nodes"))),
    ]  # fmt: skip
    found = build_fix_record(precedents(*records), NOW)
    best = recommended(found)
    assert (best.fix, best.successes, best.partial) == ("Restart THE cache-nodes.", 2, 1)
    assert (best.resolved, best.worked_in) == (("b", "c"), ("unknown",))
    assert [a.fix for a in found.alternatives] == ["Do not restart the cache nodes"]


def test_what_a_person_filed_together_counts_together() -> None:
    records = [
        an_incident("a", attempts=(tried("bounce it"),)),
        an_incident("b", attempts=(tried("turn it off and on"),)),
    ]
    filed = {"bounce it": "restart", "turn it off and on": "restart"}
    assert recommended(build_fix_record(precedents(*records), NOW, filed=filed)).successes == 2
    assert recommended(build_fix_record(precedents(*records), NOW)).successes == 1


def test_a_fix_that_worked_on_the_alerts_own_side_goes_first() -> None:
    records = [*outages(V, V, V), an_incident("own", started_at=on_day(9), attempts=(tried("proxy"),))]
    plain, sided = (build_fix_record(precedents(*records), NOW, side=side) for side in ((), ("own",)))
    assert (recommended(plain).fix, recommended(sided).fix) == ("failover", "proxy")
    assert [(a.fix, a.confidence) for a in sided.alternatives] == [("failover", HIGH)]
    assert recommended(sided).explanation == "tried in 1 of 4 similar outages, worked 1 of 1: own"


def test_the_time_of_the_attempt_goes_before_the_incidents() -> None:
    one = an_incident(started_at=on_day(1), resolved_at=on_day(2), attempts=(tried("x", at=on_day(3)),))
    two = an_incident(started_at=on_day(1), resolved_at=on_day(2), attempts=(tried("x"),))
    assert best_of(one).last_worked == on_day(3)
    assert best_of(two).last_worked == on_day(2)


def test_the_last_attempt_of_a_fix_in_an_incident_counts() -> None:
    worked = an_incident(attempts=(tried("x", F), tried("X.", V)))
    failed = an_incident(attempts=(tried("x", V), tried("x", F)))
    assert best_of(worked).confidence is MEDIUM
    assert build_fix_record(precedents(failed), NOW).recommendation is None


def test_an_outage_counts_once_with_its_worst_outcome() -> None:
    one = {"service": "api", "started_at": on_day(1)}
    same = [an_incident(f"i{n}", attempts=(tried("x", s),), **one) for n, s in enumerate((V, V, U))]
    found = best_of(*same)
    assert (found.successes, found.outages, found.confidence) == (1, 1, MEDIUM)
    mixed = build_fix_record(precedents(*same, an_incident("i9", attempts=(tried("x", F),), **one)), NOW)
    assert mixed.recommendation is None
    assert mixed.did_not_work[0].failures == 1


@pytest.mark.parametrize("known", [(None, 5), (3, 5), (5, 3), (5, None)])
def test_of_an_outage_the_latest_known_success_is_the_last(known) -> None:
    pair = [
        an_incident(f"i{n}", service="api", started_at=on_day(1), attempts=(tried("x", at=on_day(d) if d else None),))
        for n, d in enumerate(known)
    ]
    assert best_of(*pair).last_worked == on_day(5)


def test_success_times_of_an_outage_without_dates_are_unknown() -> None:
    undated = an_incident("b", service="api", attempts=(tried("x"),))
    assert best_of(undated).last_worked is None


def test_fixes_are_one_by_runbook_else_by_normalised_text() -> None:
    records = [
        an_incident(
            "a", attempts=(tried("Fail over to stripe", runbook_id="RB-1"),), runbooks=(Runbook("RB-1", "Failover"),)
        ),
        an_incident("b", attempts=(tried("other words", runbook_id="RB-1"),)),
        an_incident("c", attempts=(tried("1. FAIL over to  stripe."),)),
    ]
    found = build_fix_record(precedents(*records), NOW)
    assert found.alternatives == ()
    assert (recommended(found).successes, recommended(found).runbook_id) == (3, "RB-1")
    assert (recommended(found).fix, recommended(found).title) == ("Fail over to stripe", "Failover")
    assert recommended(found).incidents == ("a", "b", "c")


def test_the_wording_is_that_of_the_best_incident_in_which_it_worked() -> None:
    records = [an_incident("a", attempts=(tried("restart", F),)), an_incident("b", attempts=(tried("Restart!"),))]
    found = best_of(*records)
    assert (found.fix, found.incidents) == ("Restart!", ("b", "a"))


@pytest.mark.parametrize(
    ("runbooks", "fix"),
    [((Runbook("RB-1", "Title", ("one", "two")),), "one\ntwo"), ((Runbook("RB-1", "Title"),), "Title"), ((), "RB-1")],
)
def test_a_bare_runbook_is_told_by_its_steps(runbooks, fix: str) -> None:
    record = an_incident(attempts=(tried(" ", runbook_id="RB-1"),), runbooks=runbooks)
    assert best_of(record).fix == fix


def test_an_attempt_without_text_and_runbook_is_no_fix() -> None:
    assert build_fix_record(precedents(an_incident(attempts=(tried(" ; "),))), NOW).recommendation is None


def test_order_confidence_successes_share_rank() -> None:
    records = [
        an_incident("i1", started_at=on_day(1), attempts=(tried("rank-first"), tried("mixed"), tried("shared"))),
        an_incident("i2", started_at=on_day(2), attempts=(tried("rank-second"), tried("mixed"), tried("shared", P))),
        an_incident("i3", started_at=on_day(3), attempts=(tried("high"), tried("mixed", F))),
        an_incident("i4", started_at=on_day(4), attempts=(tried("high"),)),
    ]
    found = build_fix_record(precedents(*records), NOW)
    assert [recommended(found).fix, *(a.fix for a in found.alternatives)] == [
        "high",
        "rank-first",
        "rank-second",
        "shared",
        "mixed",
    ]


def test_alternatives_partly_then_unrecorded_and_failures_apart() -> None:
    records = [
        an_incident("i1", attempts=(tried("unrecorded", U), tried("partly", P), tried("failed", F))),
        an_incident("i2", attempts=(tried("failed twice", F), tried("partly and failed", P))),
        an_incident("i3", attempts=(tried("failed twice", F), tried("partly and failed", F), tried("partly", U))),
    ]
    found = build_fix_record(precedents(*records), NOW)
    assert found.recommendation is None
    assert [(a.fix, a.explanation, a.confidence) for a in found.alternatives] == [
        ("partly", "tried in 2 of 3 similar outages, helped partly 1 of 1, outcome not recorded in 1: i1, i3", LOW),
        ("unrecorded", "tried in 1 of 3 similar outages, outcome not recorded: i1", LOW),
    ]
    assert [(d.fix, d.failures, d.incidents) for d in found.did_not_work] == [
        ("failed twice", 2, ("i2", "i3")),
        ("failed", 1, ("i1",)),
        ("partly and failed", 1, ("i2", "i3")),
    ]


def test_the_explanation_gives_the_denominator_and_the_ids() -> None:
    found = best_of(*outages(V, V, V, None, None, None, None))
    assert found.explanation == "tried in 3 of 7 similar outages, worked 3 of 3: INC-1, INC-2, INC-3"


def test_mixed_results_are_said() -> None:
    found = best_of(*outages(V, F, V, F))
    assert found.confidence is LOW
    assert "worked 2 of 4, mixed results: 2 success, 2 failure" in found.explanation


def test_many_ids_are_counted() -> None:
    assert "INC-8 and 2 more" in best_of(*outages(*[V] * 10)).explanation


def test_rivals_that_worked_stand_beside_with_what_tells_them_apart() -> None:
    records = [
        an_incident("a", region="ap-south-1", started_at=on_day(1), attempts=(tried("x"),)),
        an_incident("b", region="ap-south-1", started_at=on_day(2), attempts=(tried("x"), tried("both"))),
        an_incident("c", region="eu-west-1", started_at=on_day(3), attempts=(tried("y"),)),
    ]
    found = build_fix_record(precedents(*records), NOW)
    assert recommended(found).fix == "x"
    assert [a.fix for a in found.alternatives] == ["both", "y"]
    assert found.alternatives[1].explanation.endswith(
        "told apart by region ap-south-1 (recommended) or eu-west-1 (this)"
    )
    assert "told apart" not in found.alternatives[0].explanation


STATUS = st.sampled_from([V, P, F, U])
RANKED = {None: 0, LOW: 1, MEDIUM: 2, HIGH: 3}
RECORDS = st.lists(
    st.builds(
        lambda n, hours, service, pairs: an_incident(
            f"I{n}", service=service, started_at=on_day(1) + timedelta(hours=hours), attempts=tuple(tried(f, s) for f, s in pairs)
        ),
        st.integers(0, 10_000),
        st.integers(0, 100),
        st.sampled_from([None, "api", "web"]),
        st.lists(st.tuples(st.sampled_from("xy"), STATUS), max_size=3),
    ),
    max_size=6,
    unique_by=lambda i: i.incident_id,
)  # fmt: skip


def trust(records, fix: str) -> tuple[int, int]:
    record = build_fix_record(precedents(*records), NOW)
    found = [r for r in (record.recommendation, *record.alternatives) if r and r.fix == fix and r.successes]
    return (RANKED[found[0].confidence], found[0].successes) if found else (0, 0)


@settings(max_examples=150, derandomize=True, deadline=None)
@given(RECORDS, st.integers(0, 5), st.sampled_from(["api", None]), st.integers(0, 100))
def test_a_failure_more_never_raises(records, place: int, service, hours: int) -> None:
    before = trust(records, "x")
    if place < len(records):
        longer = an_incident(
            records[place].incident_id,
            service=records[place].service,
            started_at=records[place].started_at,
            attempts=(*records[place].attempts, tried("x", F)),
        )
        after = trust([*records[:place], longer, *records[place + 1 :]], "x")
    else:
        new = an_incident(
            "NEW", service=service, started_at=on_day(1) + timedelta(hours=hours), attempts=(tried("x", F),)
        )
        after = trust([*records, new], "x")
    assert after[0] <= before[0]
    assert after[1] <= before[1]


@settings(max_examples=100, derandomize=True, deadline=None)
@given(RECORDS)
def test_counts_never_exceed_the_outages(records) -> None:
    record = build_fix_record(precedents(*records), NOW)
    for found in (record.recommendation, *record.alternatives):
        if found:
            assert found.successes + found.partial + found.failures <= found.outages
    failed = {d.fix for d in record.did_not_work}
    shown = {r.fix for r in (record.recommendation, *record.alternatives) if r}
    assert not failed & shown
