from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from bot.domain.access.visibility import list_scopes
from bot.domain.alerts.channel_settings import NO_DIGEST, is_quiet
from bot.domain.reports.schedule import DigestTime, find_last_digest

BERLIN = ZoneInfo("Europe/Berlin")
NIGHT = (time(22), time(7))


@pytest.mark.parametrize(
    ("quiet", "local", "is_so"),
    [
        (None, time(3), False),
        (NIGHT, time(21, 59), False),
        (NIGHT, time(22), True),
        (NIGHT, time(3), True),
        (NIGHT, time(6, 59, 59), True),
        (NIGHT, time(7), False),
        ((time(12), time(13, 30)), time(13, 29), True),
        ((time(12), time(13, 30)), time(13, 30), False),
        ((time(12), time(13, 30)), time(11), False),
    ],
)
def test_quiet_hours_go_over_midnight_and_end_on_time(
    quiet: tuple[time, time] | None, local: time, is_so: bool
) -> None:
    assert is_quiet(quiet, local) is is_so


@pytest.mark.parametrize(
    ("now", "due"),
    [
        (datetime(2026, 11, 30, 7, 59, tzinfo=UTC), datetime(2026, 11, 23, 8, tzinfo=UTC)),
        (datetime(2026, 11, 30, 8, 0, tzinfo=UTC), datetime(2026, 11, 30, 8, tzinfo=UTC)),
        (datetime(2026, 12, 6, 8, 0, tzinfo=UTC), datetime(2026, 11, 30, 8, tzinfo=UTC)),
    ],
)
def test_when_it_was_due_last(now: datetime, due: datetime) -> None:
    assert find_last_digest(DigestTime("mon", 9, BERLIN), now) == due


def test_none_is_due_where_none_is_wanted() -> None:
    assert find_last_digest(DigestTime(NO_DIGEST, 9, BERLIN), datetime(2026, 11, 30, 8, tzinfo=UTC)) is None


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Chatham"])
def test_it_is_due_once_a_week_at_its_local_hour_over_changes_of_the_clock(zone: str) -> None:
    when = DigestTime("sun", 2, ZoneInfo(zone))
    start = datetime(2026, 9, 1, tzinfo=UTC)
    found = {find_last_digest(when, start + timedelta(hours=3 * n)) for n in range(8 * 100)}
    dues = sorted(due for due in found if due is not None)
    assert all(timedelta(days=6, hours=22) < b - a < timedelta(days=7, hours=2) for a, b in pairwise(dues))
    local = [due.astimezone(when.zone) for due in dues]
    assert {at.strftime("%a") for at in local} == {"Sun"}
    # an hour that the clocks jump over is made up for an hour later
    assert {at.hour for at in local} <= {2, 3}


def test_what_may_be_seen_in_a_channel() -> None:
    assert list_scopes("public", ()) == {"public"}
    assert list_scopes("private:G1", ("G2", "G3")) == {"public", "private:G1", "private:G2", "private:G3"}
