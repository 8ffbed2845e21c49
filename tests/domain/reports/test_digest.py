"""What recurs in a period."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from bot.domain.fixes.grouping import FixEquivalence, build_fix_groups
from bot.domain.incidents.lifecycle import IncidentState, Lifecycle
from bot.domain.incidents.record import Announcement
from bot.domain.reports.digest import Digest, compose_digest, find_period
from tests.builders import an_incident, on_day, tried

SINCE, UNTIL = on_day(16, 0), on_day(23, 0)


def digest(records=(), lives=()) -> Digest:
    return compose_digest(records, lives, SINCE, UNTIL, "week of 2026-11-16")


def record(n: int, day: int, minutes: float | None = 30, **fields):
    start = on_day(day)
    end = start + timedelta(minutes=minutes) if minutes is not None else None
    usual = {"title": "OTP is late", "service": "otp", "started_at": start, "resolved_at": end}
    return an_incident(f"INC-{n}", **{**usual, **fields})


def life(n: int, day: int, state: IncidentState = IncidentState.RESOLVED, **fields) -> Lifecycle:
    return replace(Lifecycle(f"INC-{n}", "fp-1", "public", state, on_day(day), on_day(day)), **fields)


def test_an_empty_period() -> None:
    assert digest() == Digest("week of 2026-11-16", SINCE, UNTIL, 0, 0, 0)


def test_a_family_by_title_and_service_with_the_period_before() -> None:
    fix = tried("Switch the sender; watch")
    found = digest(
        [
            record(1, 9),
            record(2, 10, service="OTP"),
            record(3, 16, 20, attempts=(fix,), vendor="twilio"),
            record(4, 18, 40, title="otp is  late.", attempts=(tried("switch the sender\nwatch", "PARTIAL"),)),
            record(5, 20, None),
            record(6, 20, service="mail"),
            record(7, 23),
            record(8, 8),
        ]
    )
    assert (found.incidents, found.resolved, found.unrecorded) == (4, 4, 2)
    (family,) = found.families
    assert (family.title, family.service, family.vendor) == ("OTP is late", "otp", "twilio")
    assert (family.times, family.times_before, family.minutes, family.unrecorded) == (3, 2, 60.0, 1)
    assert (family.workaround, family.workaround_times) == ("switch the sender\nwatch", 2)
    assert family.incidents == ("INC-3", "INC-4", "INC-5")


def test_fixes_are_counted_as_persons_filed_them() -> None:
    one, other = tried("Flush the ledger cache"), tried("Use the other ledger")
    records = [
        record(1, 3, attempts=(tried("Clear the OTP queue"),)),
        record(2, 16, attempts=(one,)),
        record(3, 18, attempts=(other,)),
        record(4, 20, attempts=(tried("Empty the otp backlog", "FAILED"),)),
    ]
    pairs = ((one.fix, other.fix), ("Clear the OTP queue", "Empty the otp backlog"))
    filed = build_fix_groups(
        [FixEquivalence(True, a, b, "INC-1", "INC-2", "U1", SINCE, n) for n, (a, b) in enumerate(pairs)]
    )
    plain = digest(records)
    assert (plain.families[0].workaround, plain.stopped) == (None, ())
    found = compose_digest(records, (), SINCE, UNTIL, "p", filed=filed)
    assert (found.families[0].workaround, found.families[0].workaround_times) == (other.fix, 2)
    assert [(n.fix, n.worked, n.incidents) for n in found.stopped] == [("Empty the otp backlog", 1, ("INC-4",))]
    assert compose_digest(records, (), SINCE - timedelta(days=5), UNTIL, "p", filed=filed).stopped == found.stopped


def test_what_came_once_is_no_family() -> None:
    assert digest([record(1, 10), record(2, 17)]).families == ()


def test_one_outage_counts_once() -> None:
    found = digest([record(1, 17), record(2, 17), record(3, 18)])
    assert (found.incidents, found.families[0].times) == (3, 2)
    assert digest([record(1, 17), record(2, 17)]).families == ()


def test_a_family_by_vendor_or_by_fingerprint() -> None:
    by_vendor = [record(n, 16 + n, service=None, vendor="twilio") for n in (1, 2)]
    assert digest(by_vendor).families[0].vendor == "twilio"
    announced = (Announcement("fp-9"), Announcement(None))
    by_print = [record(1, 16, title="a", alerts=announced), record(2, 18, title="b", service="x", alerts=announced)]
    assert (digest(by_print).families[0].title, digest(by_print).families[0].times) == ("b", 2)
    assert digest([replace(r, alerts=()) for r in by_print]).families == ()


def test_lives_without_records_are_counted_as_unrecorded() -> None:
    found = digest(
        (), [life(1, 17, IncidentState.CLEARED, cleared_at=on_day(17, 11)), life(2, 18, IncidentState.CLEARED)]
    )
    assert (found.incidents, found.resolved, found.unrecorded) == (2, 0, 2)
    (family,) = found.families
    assert (family.title, family.times, family.minutes, family.unrecorded) == ("fp-1", 2, 60.0, 2)
    assert (family.service, family.workaround, family.workaround_times) == (None, None, 0)


def test_a_record_and_its_life_are_one_incident() -> None:
    found = digest([record(1, 17, None, attempts=(tried("x"),))], [life(1, 17, resolved_at=on_day(17, 12))])
    assert (found.incidents, found.resolved, found.unrecorded) == (1, 1, 0)


def test_what_still_fires_is_open_not_cleared_without_a_record() -> None:
    found = digest([record(1, 17, None)], [life(1, 17, IncidentState.OPEN), life(2, 18, IncidentState.OPEN)])
    assert (found.incidents, found.resolved, found.unrecorded, found.open) == (2, 0, 0, 2)
    (family,) = digest((), [life(1, 17, IncidentState.CLEARED), life(2, 18, IncidentState.OPEN)]).families
    assert (family.times, family.unrecorded) == (2, 1)


def test_dismissed_and_undated_are_left_out() -> None:
    assert digest([an_incident()], [life(2, 17, IncidentState.DISMISSED)]).incidents == 0


def test_an_end_before_the_beginning_is_no_duration() -> None:
    wrong = [record(n, 16 + n, -5) for n in (1, 2)]
    assert digest(wrong).families[0].minutes is None


def test_a_workaround_that_failed_or_came_once_is_none() -> None:
    attempts = ((tried("a"), tried(" ")), (tried("a", "FAILED"), tried("b"), tried(" ")))
    family = digest([record(n, 17 + n, attempts=a) for n, a in enumerate(attempts)]).families[0]
    assert (family.workaround, family.workaround_times) == (None, 0)


def test_families_most_often_then_longest_first() -> None:
    records = [
        *(record(n, 16 + n, title="often") for n in range(3)),
        *(record(10 + n, 16 + n, 5, title="short", service="s") for n in range(2)),
        *(record(20 + n, 16 + n, 50, title="long", service="l") for n in range(2)),
    ]
    assert [f.title for f in digest(records).families] == ["often", "long", "short"]
    assert digest(list(reversed(records))) == digest(records)


@pytest.mark.parametrize(
    ("today", "day", "key", "name"),
    [
        (date(2026, 11, 23), "mon", date(2026, 11, 23), "week of 2026-11-16"),
        (date(2026, 11, 29), "mon", date(2026, 11, 23), "week of 2026-11-16"),
        (date(2026, 11, 29), "sun", date(2026, 11, 29), "week of 2026-11-22"),
    ],
)
def test_the_period_is_the_week_before_the_last_due_day(today: date, day: str, key: date, name: str) -> None:
    found = find_period(today, day, UTC)
    assert (found.key, found.name) == (key, name)
    assert (found.since, found.until) == (
        datetime.combine(key - timedelta(days=7), datetime.min.time(), UTC),
        datetime.combine(key, datetime.min.time(), UTC),
    )


def test_a_week_with_a_clock_change_goes_from_midnight_to_midnight() -> None:
    found = find_period(date(2026, 10, 26), "mon", ZoneInfo("Europe/Berlin"))
    assert found.since.isoformat() == "2026-10-19T00:00:00+02:00"
    assert found.until.isoformat() == "2026-10-26T00:00:00+01:00"


def test_the_period_is_told_against_the_one_before_with_news_and_how_often_memory_had_no_answer() -> None:
    records = [
        record(1, 10, 20, attempts=(tried("Restart otp"),)),
        record(2, 17, 30, attempts=(tried("restarted otp", "FAILED"),), vendor="twilio"),
        record(3, 18, None),
    ]
    found = compose_digest(records, (), SINCE, UNTIL, "week", (True, False, False))
    assert (found.incidents, found.incidents_before, found.minutes, found.minutes_before) == (2, 1, 30.0, 20.0)
    assert [n.incidents for n in found.stopped] == [("INC-2",)]
    assert [v.vendor for v in found.vendors] == ["twilio"]
    assert (found.briefs, found.abstained) == (3, 2)


def test_a_workaround_in_other_words_is_one_workaround() -> None:
    fixes = ("Restart the otp sender", "otp sender restarted", "Rebooted otp-sender")
    (family,) = digest([record(n, 16 + n, attempts=(tried(f),)) for n, f in enumerate(fixes)]).families
    assert (family.workaround, family.workaround_times) == ("Rebooted otp-sender", 3)


def test_the_first_moment_of_a_period_belongs_to_it_and_so_it_is_with_the_period_before() -> None:
    long_ago = SINCE - (UNTIL - SINCE)
    found = digest([record(1, 16, started_at=SINCE), record(2, 18), record(3, 9, started_at=long_ago)])
    assert (found.incidents, found.incidents_before) == (2, 1)
    (family,) = found.families
    assert (family.times, family.times_before, family.incidents) == (2, 1, ("INC-1", "INC-2"))


def test_every_local_day_of_the_period_is_counted() -> None:
    found = digest([record(1, 16), record(2, 18), record(3, 18), record(4, 22)])
    assert [(d.day, d.count) for d in found.by_day] == [
        (date(2026, 11, day), many) for day, many in zip(range(16, 23), (1, 0, 2, 0, 0, 0, 1), strict=True)
    ]


def test_what_came_only_in_the_period_before_is_no_family() -> None:
    assert digest([record(1, 9), record(2, 11), record(3, 20, service="mail")]).families == ()


def test_a_dismissed_incident_counts_for_no_vendor() -> None:
    records = [record(1, 16, vendor="twilio"), record(2, 17, vendor="razorpay")]
    found = digest(records, [life(2, 17, IncidentState.DISMISSED)])
    assert [line.vendor for line in found.vendors] == ["twilio"]
