"""What became of fixes and vendors in a period."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from bot.domain.incidents.record import Boundary
from bot.domain.reports.trends import FixNews, VendorLine, build_vendor_lines, find_aged_fixes, find_stopped_fixes
from tests.builders import an_incident, on_day, tried

SINCE, UNTIL = on_day(16, 0), on_day(23, 0)


def case(n: int, day: int, *attempts, minutes: float | None = None, **fields):
    start = on_day(day)
    end = start + timedelta(minutes=minutes) if minutes is not None else None
    usual = {"service": "otp", "started_at": start, "resolved_at": end, "attempts": attempts}
    return an_incident(f"INC-{n}", **{**usual, **fields})


def test_a_fix_that_worked_before_and_failed_now_stopped_working() -> None:
    records = [
        case(1, 3, tried("Restart otp")),
        case(2, 5, tried("restarted otp.")),
        case(3, 17, tried("Restart OTP", "FAILED")),
    ]
    assert find_stopped_fixes(records, SINCE, UNTIL) == (FixNews("Restart OTP", on_day(5), 2, ("INC-3",)),)


def test_what_never_worked_or_worked_again_or_failed_elsewhere_did_not_stop_working() -> None:
    never = case(1, 17, tried("x", "FAILED"))
    again = [case(2, 3, tried("y")), case(3, 17, tried("y", "FAILED")), case(4, 18, tried("y"))]
    elsewhere = [case(5, 3, tried("z")), case(6, 17, tried("z", "FAILED"), service="mail")]
    earlier = [case(7, 3, tried("w")), case(8, 5, tried("w", "FAILED"))]
    partly = [case(9, 3, tried("v")), case(10, 17, tried("v", "PARTIAL"))]
    later = [case(11, 3, tried("u")), case(12, 25, tried("u", "FAILED"))]
    assert find_stopped_fixes([never, *again, *elsewhere, *earlier, *partly, *later], SINCE, UNTIL) == ()


def test_a_runbook_is_one_fix_wherever_it_is_used() -> None:
    records = [
        case(1, 3, tried("a", runbook_id="RB")),
        case(2, 17, tried(" ", "FAILED", runbook_id="RB"), service="mail"),
    ]
    assert [(n.fix, n.incidents) for n in find_stopped_fixes(records, SINCE, UNTIL)] == [("RB", ("INC-2",))]


def test_a_fix_is_told_unused_in_the_period_in_which_its_success_gets_too_old() -> None:
    half_a_year = timedelta(days=180)
    old = [case(1, 17, tried("x")), case(2, 18, tried("x")), case(3, 18, tried("y"), tried("z", "FAILED"))]
    found = find_aged_fixes(old, SINCE + half_a_year, UNTIL + half_a_year)
    assert found == (
        FixNews("x", on_day(18), 2, ("INC-2",)),
        FixNews("y", on_day(18), 1, ("INC-3",)),
    )
    assert find_aged_fixes(old, UNTIL + half_a_year, UNTIL + half_a_year + timedelta(days=7)) == ()
    assert (
        find_aged_fixes([*old[:1], case(4, 19, tried("x", "FAILED"))], SINCE + half_a_year, UNTIL + half_a_year) == ()
    )


def test_undated_attempts_tell_nothing() -> None:
    assert find_aged_fixes([an_incident(attempts=(tried("x"),))], SINCE, UNTIL) == ()


def test_vendors_by_outages_with_fault_and_minutes() -> None:
    vendor: dict[str, Any] = {"vendor": "Razorpay", "boundary": Boundary.VENDOR}
    records = [
        case(1, 10, **vendor),
        case(2, 17, minutes=30, **vendor),
        case(3, 17, minutes=40, service="web", **vendor),
        case(4, 20, vendor="razorpay", boundary=Boundary.INTERNAL),
        case(5, 18, vendor="twilio"),
        case(6, 11, vendor="gone"),
        case(7, 25, vendor="late"),
        case(8, 18),
    ]
    assert build_vendor_lines(records, SINCE, UNTIL) == (
        VendorLine("razorpay", 2, 1, 1, 40.0),
        VendorLine("twilio", 1, 0, 0, None),
    )


def test_a_fix_that_was_used_lately_in_words_filed_with_it_is_not_unused() -> None:
    records = [case(1, 1, tried("Drain it")), case(2, 9, tried("Empty it"))]
    since, until = on_day(1) + timedelta(days=179), on_day(1) + timedelta(days=182)
    assert [n.fix for n in find_aged_fixes(records, since, until)] == ["Drain it"]
    same = {"drain it": "one", "empty it": "one"}
    assert find_aged_fixes(records, since, until, same) == ()
