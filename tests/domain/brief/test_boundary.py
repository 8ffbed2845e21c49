"""Where the fault lies: the best precedent's word, votes by outage, and what told the cases apart."""

from __future__ import annotations

import pytest

from bot.domain.brief.boundary import BoundaryCall, call_boundary, has_other_boundary
from bot.domain.incidents.record import Boundary
from tests.builders import an_alert, an_incident, on_day, precedents

VENDOR, INTERNAL, MIXED, UNKNOWN = Boundary.VENDOR, Boundary.INTERNAL, Boundary.MIXED, Boundary.UNKNOWN


def test_without_strong_precedents_it_is_unknown() -> None:
    assert call_boundary(()) == BoundaryCall()


def test_when_nobody_said_it_is_unknown() -> None:
    call = call_boundary(precedents(an_incident()))
    assert (call.value, call.votes) == (UNKNOWN, {"unknown": 1})


def test_the_best_that_states_one_decides_even_against_the_majority() -> None:
    call = call_boundary(
        precedents(
            an_incident("a"),
            an_incident("b", boundary=VENDOR),
            an_incident("c", boundary=INTERNAL),
            an_incident("d", boundary=INTERNAL),
        )
    )
    assert call.value is VENDOR
    assert list(call.votes.items()) == [("internal", 2), ("unknown", 1), ("vendor", 1)]


def test_an_outage_votes_once_with_its_best_stated_word() -> None:
    one = {"service": "api", "started_at": on_day(1)}
    call = call_boundary(
        precedents(
            an_incident("a", **one),
            an_incident("b", boundary=VENDOR, **one),
            an_incident("c", boundary=INTERNAL, **one),
        )
    )
    assert call.votes == {"vendor": 1}


def test_agreement_is_not_told_apart() -> None:
    assert (
        call_boundary(precedents(an_incident("a", boundary=VENDOR), an_incident("b", boundary=VENDOR))).told_apart_by
        is None
    )


def test_region_environment_and_words_tell_apart() -> None:
    call = call_boundary(
        precedents(
            an_incident(
                "a", boundary=VENDOR, region="ap-south-1", environment="prod", symptoms=("status page green 504 x",)
            ),
            an_incident(
                "b", boundary=VENDOR, region="us-east-1", environment="prod", symptoms=("the status page: green",)
            ),
            an_incident(
                "c", boundary=INTERNAL, region="eu-west-1", environment="prod", symptoms=("proxy at api.x.com full",)
            ),
            an_incident("d", boundary=MIXED, region="eu-west-1", environment="prod", symptoms=("full proxy, eu",)),
        )
    )
    assert call.told_apart_by == (
        "region ap-south-1, us-east-1 (vendor) or eu-west-1 (internal/mixed); status page green (vendor only);"
        " proxy, full (internal/mixed only)"
    )


def test_what_is_unknown_or_shared_tells_nothing_apart() -> None:
    call = call_boundary(
        precedents(
            an_incident("a", boundary=VENDOR, region="ap-south-1", vendor="x"),
            an_incident("b", boundary=INTERNAL, vendor="x"),
        )
    )
    assert call.told_apart_by is None


SIDES = (
    an_incident("a", boundary=VENDOR, region="ap-south-1"),
    an_incident("b", boundary=VENDOR, region="AP-south-1"),
    an_incident("c", boundary=INTERNAL, region="eu-west-1"),
)


def test_where_cases_disagree_the_side_that_the_alert_is_like_decides() -> None:
    call = call_boundary(precedents(*SIDES), an_alert(region="eu-west-1"))
    assert (call.value, call.like) == (INTERNAL, "eu-west-1")
    assert call.this_alert == "this alert is eu-west-1, as in the internal one"
    assert call.told_apart_by == "region eu-west-1 (internal) or AP-south-1 (vendor)"


def test_an_alert_like_neither_side_leaves_the_best_precedents_word() -> None:
    call = call_boundary(precedents(*SIDES), an_alert(region="us-east-1"))
    assert (call.value, call.like, call.this_alert) == (VENDOR, None, None)


def test_an_alert_like_both_sides_says_so_and_the_best_precedent_decides() -> None:
    torn = (
        an_incident("a", boundary=VENDOR, region="ap-south-1", vendor="razorpay"),
        an_incident("b", boundary=VENDOR, region="ap-south-1", vendor="razorpay"),
        an_incident("c", boundary=INTERNAL, region="eu-west-1", vendor="stripe"),
    )
    call = call_boundary(precedents(*torn), an_alert(region="eu-west-1", vendor="razorpay"))
    assert (call.value, call.like) == (VENDOR, None)
    assert call.this_alert == "this alert is eu-west-1, as in the internal one but razorpay, as in the vendor ones"


@pytest.mark.parametrize(
    ("value", "worked_in", "expected"),
    [
        (INTERNAL, ("vendor",), True),
        (INTERNAL, ("internal", "vendor"), False),
        (VENDOR, ("mixed",), False),
        (VENDOR, ("unknown",), False),
        (VENDOR, (), False),
        (UNKNOWN, ("vendor",), False),
        (MIXED, ("vendor",), False),
    ],
)
def test_a_fix_of_the_other_side_only_contradicts(value: Boundary, worked_in: tuple[str, ...], expected: bool) -> None:
    assert has_other_boundary(BoundaryCall(value), worked_in) is expected
