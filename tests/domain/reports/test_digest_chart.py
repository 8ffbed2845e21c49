"""What the picture of a digest shows, and the same in words."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from bot.domain.incidents.lifecycle import IncidentState, Lifecycle
from bot.domain.incidents.record import Source
from bot.domain.reports.digest import DayCount, Digest, RecurringFamily, compose_digest
from bot.domain.reports.digest_chart import Bar, Column, build_chart
from tests.builders import an_incident, on_day

FAMILY = RecurringFamily("OTP is late", "otp", "twilio", 3, 1, None, 0, None, 0, ("INC-1", "INC-2"))
DAYS = tuple(DayCount(date(2026, 11, 16) + timedelta(days=n), n % 3) for n in range(30))
DIGEST = Digest("week of 2026-11-16", on_day(16, 0), on_day(23, 0), 7, 5, 1, (FAMILY,), by_day=DAYS[:7])


def test_nothing_happened_and_there_is_no_picture() -> None:
    assert build_chart(replace(DIGEST, incidents=0, by_day=())) is None


def test_bars_days_and_the_same_in_words() -> None:
    chart = build_chart(replace(DIGEST, incidents_before=4))
    assert chart is not None
    assert chart.heading == "Week of 2026-11-16"
    assert chart.bars == (Bar(("OTP is late", "otp/twilio: INC-1, INC-2", "INC-1, INC-2"), 3, 1),)
    assert chart.columns[:2] == (Column("Mon 16", 0), Column("Tue 17", 1))
    assert chart.alt == (
        "Week of 2026-11-16: 7 incidents, 4 in the period before. Incidents by date: Mon 16 0, Tue 17 1, Wed 18 2, "
        "Thu 19 0, Fri 20 1, Sat 21 2, Sun 22 0. Came more than once: OTP is late: 3 times (before: 1)."
    )


def test_a_long_period_is_shown_by_weeks_and_many_families_are_counted() -> None:
    nameless = replace(FAMILY, service=None, vendor=None, title="t" * 200)
    chart = build_chart(replace(DIGEST, families=(nameless,) * 10, by_day=DAYS))
    assert chart is not None
    assert [column.label for column in chart.columns] == ["Nov 16", "Nov 23", "Nov 30", "Dec 7", "Dec 14"]
    assert sum(column.count for column in chart.columns) == sum(day.count for day in DAYS)
    assert (len(chart.bars), chart.more, chart.bars[0].labels[1:]) == (8, 2, ("INC-1, INC-2",))
    assert len(chart.bars[0].labels[0]) == 90
    assert len(chart.alt) <= 1000


def test_nothing_recurred() -> None:
    chart = build_chart(replace(DIGEST, incidents=1, families=()))
    assert chart is not None
    assert chart.alt.startswith("Week of 2026-11-16: 1 incident, ")
    assert chart.alt.endswith("Nothing came more than once.")


@pytest.mark.parametrize(("month", "first", "days"), [(3, 23, 7), (10, 19, 7)])
def test_the_days_are_local_ones_also_where_the_clocks_change(month: int, first: int, days: int) -> None:
    berlin = ZoneInfo("Europe/Berlin")
    since = datetime(2026, month, first, tzinfo=berlin)
    until = datetime.combine(since.date() + timedelta(days=7), datetime.min.time(), berlin)
    opened = until.astimezone(UTC) - timedelta(minutes=1)
    life = Lifecycle("INC-1", "fp", "public", IncidentState.OPEN, opened, opened)
    record = replace(an_incident("INC-1"), source=Source(url="https://slack.example/1"))
    found = compose_digest([record], [life], since, until, "a week")
    assert len(found.by_day) == days
    assert found.by_day[-1] == DayCount(until.date() - timedelta(days=1), 1)
    assert found.urls == {}
