"""What the records say about one vendor."""

from __future__ import annotations

from datetime import timedelta

from bot.domain.brief.recommendation import Confidence
from bot.domain.catalog.vendor_table import Vendor
from bot.domain.catalog.vendors import build_vendor_directory
from bot.domain.incidents.record import Boundary
from bot.domain.reports.vendor_profile import VendorPattern, build_vendor_profile
from tests.builders import an_incident, on_day, tried

AT = on_day(28)
FAILOVER = tried("Fail over; watch")


def outage(n: int, boundary: Boundary = Boundary.VENDOR, minutes: float | None = 40, **fields):
    start = on_day(n)
    end = start + timedelta(minutes=minutes) if minutes is not None else None
    usual = {"title": "Payments answer 504", "service": f"s{n}", "vendor": "razorpay", "region": "ap-south-1"}
    return an_incident(f"INC-{n}", **{**usual, "started_at": start, "resolved_at": end, "boundary": boundary, **fields})


def test_nothing_is_known_of_a_vendor_that_no_record_names() -> None:
    found = build_vendor_profile("acme", [outage(1), outage(2, vendor=None)], AT)
    assert (found.vendor, found.incidents, found.outages, found.minutes, found.patterns) == ("acme", (), 0, None, ())
    assert found.fixes.recommendation is None


def test_counts_are_of_outages_and_the_newest_incident_comes_first() -> None:
    twin = outage(1, minutes=90, service="checkout")
    twin = an_incident("INC-9", **{f: getattr(twin, f) for f in twin.__slots__ if f != "incident_id"})
    records = [outage(1, attempts=(FAILOVER,)), twin, outage(3, minutes=20, vendor="Razorpay", attempts=(FAILOVER,))]
    found = build_vendor_profile("RAZORPAY", [*records, outage(4, minutes=None, boundary=Boundary.UNKNOWN)], AT)
    assert [i.incident_id for i in found.incidents] == ["INC-4", "INC-3", "INC-9", "INC-1"]
    assert (found.outages, found.minutes, found.timed) == (3, 55.0, 2)
    assert found.boundaries == {"vendor": 2}
    best = found.fixes.recommendation
    assert best is not None
    assert (best.successes, best.confidence) == (2, Confidence.HIGH)


def test_since_leaves_out_what_is_older_or_has_no_date() -> None:
    undated = an_incident("INC-8", vendor="razorpay", started_at=None, resolved_at=None)
    assert build_vendor_profile("razorpay", [outage(1), undated], AT).outages == 2
    found = build_vendor_profile("razorpay", [outage(1), outage(5), undated], AT, since=on_day(4))
    assert [i.incident_id for i in found.incidents] == ["INC-5"]


def test_records_of_one_outage_that_disagree_make_it_mixed() -> None:
    one, other = outage(1), outage(1, Boundary.INTERNAL)
    other = an_incident("INC-2", **{f: getattr(other, f) for f in other.__slots__ if f != "incident_id"})
    assert build_vendor_profile("razorpay", [one, other], AT).boundaries == {"mixed": 1}


def test_patterns_are_signs_that_came_together_with_the_side_of_the_fault() -> None:
    red = ("the vendor's status page is red",)
    green = ("status page green",)
    records = [
        outage(1, symptoms=red),
        outage(3, symptoms=red),
        outage(5, symptoms=red, region="eu-west-1"),
        outage(7, Boundary.INTERNAL, symptoms=green),
        outage(9, Boundary.INTERNAL, symptoms=green),
        outage(11, Boundary.UNKNOWN, title="Webhooks are late", region="us-east-1"),
        outage(13, Boundary.UNKNOWN, title="Webhooks are late", region="us-east-1"),
    ]
    found = build_vendor_profile("razorpay", records, AT)
    assert found.patterns == (
        VendorPattern(("504", "status page not green"), 3, {"vendor": 3}),
        VendorPattern(("504", "ap-south-1", "status page green"), 2, {"internal": 2}),
        VendorPattern(("504", "ap-south-1", "status page not green"), 2, {"vendor": 2}),
        VendorPattern(("504",), 5, {"vendor": 3, "internal": 2}),
        VendorPattern(("504", "ap-south-1"), 4, {"internal": 2, "vendor": 2}),
    )
    assert found.patterns[0].usual == ("vendor", 3)


def test_what_one_outage_alone_showed_is_no_pattern_and_many_signs_cost_little() -> None:
    loud = " ".join(f"HTTP {code}" for code in (400, 401, 403, 404, 409, 422, 429, 500, 501, 502, 503))
    found = build_vendor_profile(
        "razorpay", [outage(1, symptoms=(loud,)), outage(3, title="504 again", region=None)], AT
    )
    assert found.patterns == (VendorPattern(("504",), 2, {"vendor": 2}),)


def test_fixes_are_counted_as_filed_and_the_operators_names_of_a_vendor_are_one() -> None:
    records = [
        outage(1, vendor="acmepay", attempts=(tried("One"),)),
        outage(3, vendor="APay", attempts=(tried("Two"),)),
    ]
    names = build_vendor_directory([Vendor("acmepay", "payments", ("APay",))])
    found = build_vendor_profile("apay", records, AT, names=names, filed={"one": "x", "two": "x"})
    assert len(found.incidents) == 2
    assert found.fixes.recommendation is not None
    assert found.fixes.recommendation.successes == 2
    apart = build_vendor_profile("apay", records, AT, names=names).fixes.recommendation
    assert apart is not None
    assert apart.successes == 1


def test_one_long_outage_does_not_make_the_usual_one_long() -> None:
    found = build_vendor_profile("razorpay", [outage(1, minutes=10), outage(3, minutes=20), outage(5, minutes=600)], AT)
    assert (found.minutes, found.timed) == (20, 3)
