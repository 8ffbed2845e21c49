"""When a person is asked what ended an incident, and who is."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from bot.domain.resolutions.nudge import NudgedIncident, choose_people, is_due, may_be_due, read_user_id, sort_nudges

BERLIN = ZoneInfo("Europe/Berlin")


def at(text: str) -> datetime:
    """Local time in Berlin."""
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN).astimezone(UTC)


@pytest.mark.parametrize(
    ("cleared", "now", "due"),
    [
        ("2026-11-24T23:59", "2026-11-25T09:59", False),
        ("2026-11-24T23:59", "2026-11-25T10:00", True),
        ("2026-11-24T23:59", "2026-11-25T16:59", True),
        ("2026-11-24T23:59", "2026-11-25T17:00", False),  # missed on that day: not in the evening
        ("2026-11-24T23:59", "2026-11-26T10:00", True),  # but on the next one
        ("2026-11-25T00:01", "2026-11-25T10:00", False),  # never on the day on which it cleared
        ("2026-11-27T15:00", "2026-11-28T10:00", False),  # Friday: not on Saturday
        ("2026-11-27T15:00", "2026-11-29T10:00", False),
        ("2026-11-27T15:00", "2026-11-30T10:00", True),
        ("2026-11-29T03:00", "2026-11-30T10:00", True),
        ("2026-11-23T09:00", "2026-11-30T10:00", False),  # too long ago
        ("2026-03-28T12:00", "2026-03-30T10:00", True),  # clocks went ahead
        ("2026-10-23T12:00", "2026-10-26T10:00", True),  # and back
    ],
)
def test_it_is_asked_at_ten_on_the_next_working_day(cleared: str, now: str, due: bool) -> None:
    assert is_due(at(cleared), at(now), BERLIN) is due
    assert may_be_due(at(cleared), at(now)) or not due


def test_the_zone_is_the_persons() -> None:
    cleared, now = datetime(2026, 11, 24, 14, 0, tzinfo=UTC), datetime(2026, 11, 25, 4, 30, tzinfo=UTC)
    assert is_due(cleared, now, ZoneInfo("Asia/Kolkata"))
    assert not is_due(cleared, now, BERLIN)
    assert not may_be_due(now, now)


@pytest.mark.parametrize(
    ("named", "user"),
    [
        ("U0BOB", "U0BOB"),
        ("<@U123ABC>", "U123ABC"),
        (" <@W123|maya> ", "W123"),
        ("maya", None),
        ("someone in pagerduty", None),
        ("USERS", None),
        ("", None),
        (None, None),
    ],
)
def test_a_name_is_no_user_id(named: str | None, user: str | None) -> None:
    assert read_user_id(named) == user


def test_who_acknowledged_comes_first_then_who_wrote_most_then_who_wrote_last() -> None:
    authors = ["U1", "U2", "U333", "U2", "U1", "U4"]
    assert choose_people("<@U333>", authors) == ("U333", "U1", "U2", "U4")
    assert choose_people("maya", authors) == ("U1", "U2", "U4", "U333")
    assert choose_people(None, ()) == ()


def test_what_cleared_last_is_asked_about_first() -> None:
    one, two = (NudgedIncident(f"INC-{n}", "t", "C1", datetime(2026, 11, n, tzinfo=UTC)) for n in (1, 2))
    assert sort_nudges([one, two]) == (two, one)
