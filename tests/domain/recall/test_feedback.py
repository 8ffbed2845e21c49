from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.access.visibility import Viewer
from bot.domain.brief.decide import decide, is_counted_precedent
from bot.domain.brief.recommendation import build_fix_record
from bot.domain.fixes.grouping import FixEquivalence, FixPair, Wording, build_fix_groups, choose_pairs, list_wordings
from bot.domain.fixes.identity import is_same_fix
from bot.domain.incidents.record import Attempt, Incident, VerificationStatus
from bot.domain.recall.dismissed import DismissalReason, DismissedPrecedent, dismiss_precedent, is_same_kind
from bot.domain.recall.feedback import Feedback, apply_feedback
from bot.domain.recall.query import Query
from bot.domain.recall.ranking import Precedent, Recalled, Tier, choose_tier
from tests.builders import an_alert

NOW = datetime(2026, 11, 30, 4, tzinfo=UTC)
QUERY = Query("x", fingerprint="f1", title="Pay Latency High", service="payments-api")
ASIDE = DismissedPrecedent(
    "INC-1", "f1", "paylatencyhigh", "payments-api", DismissalReason.CAUSE, "U1", NOW, about="INC-9"
)


def precedent(incident_id: str, probability: float, fix: str = "restart x", days: int = 1) -> Precedent:
    attempts = (Attempt(fix, VerificationStatus.VERIFIED, at=NOW - timedelta(days=days)),)
    record = Incident(incident_id, "t", started_at=NOW - timedelta(days=days), attempts=attempts)
    return Precedent(record, probability, choose_tier(probability), ("the same alert",))


RECALLED = Recalled((precedent("INC-1", 0.95), precedent("INC-2", 0.7, days=3), precedent("INC-3", 0.1)), known=3)


@pytest.mark.parametrize(
    ("query", "aside", "holds"),
    [
        (QUERY, ASIDE, True),
        (replace(QUERY, title="another", service=None), ASIDE, True),
        (replace(QUERY, fingerprint="f2"), ASIDE, True),
        (replace(QUERY, fingerprint="f2", title="Pay latency low"), ASIDE, False),
        (replace(QUERY, fingerprint="f2", service="search"), ASIDE, False),
        (replace(QUERY, fingerprint=None, service=None), ASIDE, False),
        (replace(QUERY, fingerprint="f2", title="other"), replace(ASIDE, pinned_off=True), True),
        (replace(QUERY, fingerprint="f2", service="search"), replace(ASIDE, pinned_off=True), False),
        (replace(QUERY, fingerprint=None, title=None), replace(ASIDE, fingerprint="", title=None), False),
    ],
)
def test_it_holds_for_this_kind_of_alert(query: Query, aside: DismissedPrecedent, holds: bool) -> None:
    assert is_same_kind(aside, query) is holds


def test_what_is_set_aside_is_at_most_possible_and_says_why() -> None:
    heeded = apply_feedback(RECALLED, QUERY, Feedback((ASIDE,)), Viewer())
    assert [p.incident.incident_id for p in heeded.precedents] == ["INC-2", "INC-1", "INC-3"]
    aside = heeded.precedents[1]
    assert (aside.tier, aside.why) == (Tier.POSSIBLE, ("set aside: other cause", "the same alert"))
    assert aside.incident == RECALLED.precedents[0].incident
    assert heeded.set_aside == (ASIDE,)
    brief = decide(an_alert(), heeded, (), NOW)
    assert [s.incident_id for s in brief.sources] == ["INC-2"]
    assert brief.possible[0].why[0] == "set aside: other cause"
    assert brief.recommendation is not None
    assert brief.recommendation.successes == 1
    assert brief.set_aside == (ASIDE,)


@pytest.mark.parametrize(("probability", "strong"), [(0.5, True), (0.99, True), (0.499, False), (0.21, False)])
def test_a_brief_still_tells_whether_what_was_set_aside_counted(probability: float, strong: bool) -> None:
    recalled = Recalled((precedent("INC-1", probability),), known=1)
    assert (
        is_counted_precedent(
            ASIDE, decide(an_alert(), apply_feedback(recalled, QUERY, Feedback((ASIDE,)), Viewer()), (), NOW)
        )
        is strong
    )
    assert is_counted_precedent(ASIDE, decide(an_alert(), Recalled((precedent("INC-1", 0.9),)), (), NOW))


def test_what_was_hardly_possible_does_not_rise_by_being_set_aside() -> None:
    recalled = Recalled((precedent("INC-1", 0.25), precedent("INC-2", 0.3)), known=2)
    heeded = apply_feedback(recalled, QUERY, Feedback((ASIDE,)), Viewer())
    assert [(p.incident.incident_id, p.probability) for p in heeded.precedents] == [("INC-2", 0.3), ("INC-1", 0.25)]


def test_what_is_pinned_off_is_not_shown_and_still_told_of() -> None:
    off = replace(ASIDE, pinned_off=True)
    heeded = apply_feedback(RECALLED, QUERY, Feedback((off, ASIDE)), Viewer())
    assert {p.incident.incident_id: p.tier for p in heeded.precedents}["INC-1"] is Tier.NONE
    assert heeded.set_aside == (off,)
    assert off.reason_text == "set aside: other cause, not shown for payments-api"


def test_other_alerts_other_viewers_and_what_was_not_shown_are_left_alone() -> None:
    assert (
        apply_feedback(RECALLED, replace(QUERY, fingerprint="f2", title="x"), Feedback((ASIDE,)), Viewer()) == RECALLED
    )
    private = replace(ASIDE, visibility="private:G1")
    assert apply_feedback(RECALLED, QUERY, Feedback((private,)), Viewer()) == RECALLED
    assert apply_feedback(RECALLED, QUERY, Feedback((private,)), Viewer(frozenset({"private:G1"}))).set_aside == (
        private,
    )
    assert apply_feedback(RECALLED, QUERY, Feedback((replace(ASIDE, incident_id="INC-3"),)), Viewer()).set_aside == ()


def test_what_an_alert_is_known_by() -> None:
    made = dismiss_precedent(an_alert(), "INC-1", DismissalReason.OUTDATED, "U1", NOW)
    assert (made.incident_id, made.why, made.by) == ("INC-1", DismissalReason.OUTDATED, "U1")
    assert made.fingerprint == an_alert().fingerprint


A, A2, B, C = "restart the api pods", "Restarted api pods.", "bounce checkout and wait", "roll back the deploy"


def act(one: str, other: str, same: bool = True, minute: int = 0) -> FixEquivalence:
    return FixEquivalence(same, one, other, "INC-1", "INC-2", "U1", NOW + timedelta(minutes=minute), minute)


def test_fixes_said_to_be_one_are_one_with_all_that_reads_like_them() -> None:
    assert is_same_fix(A, A2)
    assert not is_same_fix(A, B)
    filed = build_fix_groups([act(A, B)])
    assert is_same_fix(A2, B, filed)
    assert not is_same_fix(A2, C, filed)
    assert build_fix_groups([]) == build_fix_groups([act(A, A)]) == {}


def test_the_last_that_was_said_holds() -> None:
    filed = build_fix_groups([act(A, B), act(B, A, same=False, minute=1)])
    assert not is_same_fix(A, B, filed)
    assert is_same_fix(A, A2, filed)
    assert is_same_fix(A, B, build_fix_groups([act(A, B, same=False), act(A, B, minute=1)]))


def test_wordings_that_read_the_same_can_be_set_apart() -> None:
    filed = build_fix_groups([act(A2, A, same=False)])
    assert not is_same_fix(A, A2, filed)
    assert is_same_fix(A, "restart api pods", filed)
    joined = build_fix_groups([act(A2, A, same=False), act(A2, C, minute=1)])
    assert is_same_fix(A2, C, joined)
    assert not is_same_fix(A, C, joined)


def test_a_third_wording_does_not_join_two_that_were_said_to_differ() -> None:
    filed = build_fix_groups([act(A, B, same=False), act(A, C, minute=1), act(C, B, minute=2)])
    assert is_same_fix(A, C, filed)
    assert not is_same_fix(A, B, filed)
    assert not is_same_fix(C, B, filed)


@given(st.lists(st.tuples(st.sampled_from([A, A2, B, C]), st.sampled_from([A, A2, B, C]), st.booleans()), max_size=6))
def test_a_filing_is_always_an_equivalence(said: list[tuple[str, str, bool]]) -> None:
    filed = build_fix_groups([act(one, other, same, minute) for minute, (one, other, same) in enumerate(said)])
    for one in (A, A2, B, C):
        assert is_same_fix(one, one, filed)
        for other in (A, A2, B, C):
            assert is_same_fix(one, other, filed) == is_same_fix(other, one, filed)
            for third in (A, A2, B, C):
                assert not (is_same_fix(one, other, filed) and is_same_fix(other, third, filed)) or is_same_fix(
                    one, third, filed
                )


def test_briefs_count_as_filed_and_say_so() -> None:
    strong = (precedent("INC-1", 0.9, A), precedent("INC-2", 0.8, B, days=3))
    apart = build_fix_record(strong, NOW)
    assert apart.recommendation is not None
    assert apart.recommendation.successes == 1
    joined = decide(an_alert(), Recalled(strong, filed=build_fix_groups([act(A, B)])), (), NOW).recommendation
    assert joined is not None
    assert joined.successes == 2
    assert "2 wordings counted as one fix, as a person said" in joined.explanation
    split = build_fix_record(
        (precedent("INC-1", 0.9, A), precedent("INC-2", 0.8, A2, days=3)),
        NOW,
        filed=build_fix_groups([act(A2, A, same=False)]),
    )
    assert split.recommendation is not None
    assert split.recommendation.successes == 1
    assert "filed by a person" in split.alternatives[0].explanation


def worded(incident_id: str, *fixes: str, runbook: str | None = None) -> Incident:
    attempts = tuple(Attempt(fix, VerificationStatus.VERIFIED, runbook_id=runbook) for fix in fixes)
    return Incident(incident_id, "t", attempts=attempts)


def test_pairs_to_ask_about_are_what_reads_alike_what_is_counted_as_one_and_what_was_said() -> None:
    records = [
        worded("INC-1", "flush the ledger cache", "roll back the deploy", " "),
        worded("INC-2", "empty the ledger cache", "Flush the ledger cache."),
        worded("INC-3", "flushed ledger cache"),
        worded("INC-4", "flush the ledger cache now", runbook="RB-1"),
    ]
    assert [w.incident_id for w in list_wordings(records)] == ["INC-1", "INC-1", "INC-2", "INC-3"]
    pairs = choose_pairs(records, [])
    assert [(p.one.fix, p.other.fix, p.same) for p in pairs] == [
        ("flush the ledger cache", "empty the ledger cache", False),
        ("empty the ledger cache", "flushed ledger cache", False),
        ("flush the ledger cache", "flushed ledger cache", True),
    ]
    said = [act("roll back the deploy", "empty the ledger cache")]
    assert choose_pairs(records, said)[0] == FixPair(
        Wording("roll back the deploy", "INC-1"), Wording("empty the ledger cache", "INC-2"), same=True
    )
    assert choose_pairs([worded("INC-1", "a", "the")], []) == ()
