"""The checks to skip and those to leave for later."""

from __future__ import annotations

import pytest

from bot.domain.brief.checks import PostponedCheck, SkippedCheck, choose_checks
from bot.domain.incidents.record import FailedCheck
from tests.builders import an_incident, on_day, precedents, tried


def looked(incident_id: str, *failed: tuple[str, float | None], **fields):
    return an_incident(incident_id, failed_checks=tuple(FailedCheck(c, m) for c, m in failed), **fields)


def test_nothing_recalled_nothing_to_skip() -> None:
    assert choose_checks((), ()) == ((), ())


def test_equal_checks_are_grouped_with_their_minutes() -> None:
    strong = precedents(
        looked("a", ("DB pool", 25), (" ", 5)),
        looked("b", ("db  pool.", 10)),
        looked("c", ("DB Pool", None)),
        looked("d"),
    )
    assert choose_checks(strong, ())[0] == (SkippedCheck("DB pool", 3, 4, 17.5, (10, 25), ("a", "b", "c"), 2),)


def test_other_words_for_one_look_are_one_check() -> None:
    strong = precedents(
        looked("a", ("Checked the DB pool", 5)), looked("b", ("DB pools", 7)), looked("c", ("//", None))
    )
    assert [(s.check, s.count) for s in choose_checks(strong, ())[0]] == [("Checked the DB pool", 2), ("//", 1)]


def test_minutes_are_said_only_if_known() -> None:
    assert choose_checks(precedents(looked("a", ("DNS", None))), ())[0] == (
        SkippedCheck("DNS", 1, 1, None, None, ("a",)),
    )


def test_an_outage_counts_once_with_the_longest_time() -> None:
    one = {"service": "api", "started_at": on_day(1)}
    strong = precedents(looked("a", ("DNS", 5), **one), looked("b", ("DNS", 20), **one), looked("c", ("DNS", 9), **one))
    assert choose_checks(strong, ())[0] == (SkippedCheck("DNS", 1, 1, 20.0, (20, 20), ("a", "b", "c"), 1),)


def test_those_that_wasted_most_come_first_and_at_most_five_are_told() -> None:
    strong = precedents(
        looked("a", ("once long", 60), ("twice", 1), ("z", None), ("y", None), ("x", None), ("w", None)),
        looked("b", ("twice", 1)),
    )
    skip, later = choose_checks(strong, ())
    assert [s.check for s in skip] == ["twice", "once long", "w", "x", "y"]
    assert later == ()


def test_checks_of_possible_precedents_are_not_told() -> None:
    assert choose_checks((), precedents(looked("a", ("DNS", 5)))) == ((), ())


CHECK = "Checked the egress proxy"
CAUSES = [
    ({"root_cause": "The egress-proxy was out of ports"}, "it was the cause in b"),
    ({"attempts": (tried("restart the proxy for egress"),)}, "it was part of the fix in b"),
    ({"attempts": (tried("restart the egress proxy", "PARTIAL"),)}, None),
    ({"attempts": (tried("restart the egress proxy", "FAILED"),)}, None),
    ({"root_cause": "the egress was slow"}, None),
    ({"root_cause": None}, None),
    ({"root_cause": "egress proxy", "failed_checks": (FailedCheck("checked the EGRESS proxy."),)}, None),
]


@pytest.mark.parametrize(("fields", "reason"), CAUSES)
@pytest.mark.parametrize("strong", [True, False])
def test_what_was_the_cause_elsewhere_is_for_later(fields, reason: str | None, strong: bool) -> None:
    first, other = looked("a", (CHECK, 5)), an_incident("b", **fields)
    found = (
        choose_checks(precedents(first, other), ()) if strong else choose_checks(precedents(first), precedents(other))
    )
    assert [s.check for s in found[0] if s.check == first.failed_checks[0].check] == ([] if reason else [CHECK])
    assert found[1] == ((PostponedCheck(CHECK, reason, ("b",)),) if reason else ())


@pytest.mark.parametrize(
    ("check", "cause", "later"),
    [
        ("DB pool", "The pool of 50 connections was too small for the peak", True),
        ("database pools", "Our DB had a full pool", True),
        ("Network between the api and the cache", "the network was split", True),
        ("Network between the api and the cache", "the cache was full", False),
        ("Redis latency", "latency of the disk", False),
        ("Between regions", "a region failed", False),
    ],
)
def test_in_other_words_it_may_have_been_the_cause_of_a_strong_precedent(check: str, cause: str, later: bool) -> None:
    one, other = looked("a", (check, 5)), an_incident("b", root_cause=cause)
    assert bool(choose_checks(precedents(one, other), ())[1]) is later
    if later and "DB" not in cause:
        assert choose_checks(precedents(one, other), ())[1][0].reason == "it may have been the cause in b"
        assert choose_checks(precedents(one), precedents(other))[1] == ()


def test_its_own_record_cannot_make_a_check_one_for_later() -> None:
    one = looked("a", ("status page", 5), root_cause="vendor down while its status page was green")
    assert choose_checks(precedents(one), ())[1] == ()


def test_a_check_that_says_nothing_is_never_for_later() -> None:
    skip, later = choose_checks(
        precedents(looked("a", ("we checked it", 5))), precedents(an_incident("b", root_cause="it was up"))
    )
    assert (len(skip), later) == (1, ())
