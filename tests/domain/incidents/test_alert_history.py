"""What alerts alone tell."""

from __future__ import annotations

from datetime import datetime, timedelta

from bot.domain.incidents.alert_history import AlertHistory, count_history
from bot.domain.incidents.lifecycle import FiringPeriod, IncidentState, Lifecycle
from tests.builders import on_day

NOW = on_day(29)


def life(name: str, state: str, *spells: tuple[datetime, float | None], **fields) -> Lifecycle:
    told = tuple(
        FiringPeriod(start, start + timedelta(minutes=took) if took is not None else None) for start, took in spells
    )
    return Lifecycle(name, "fp-1", "public", IncidentState(state), spells[0][0], spells[0][0], spells=told, **fields)


def test_each_firing_counts_once_and_what_people_resolved_is_recorded() -> None:
    lives = [
        life("a", "cleared", (on_day(20), 6), (on_day(21), 8)),
        life("b", "resolved", (on_day(22), 40)),
        life("c", "open", (on_day(28), None)),
    ]
    assert count_history(lives, NOW, 30) == AlertHistory(30, times=4, unrecorded=2, median_minutes=8.0)


def test_what_was_dismissed_is_long_ago_or_comes_later_is_not_told() -> None:
    lives = [
        life("a", "dismissed", (on_day(20), 6)),
        life("b", "cleared", (on_day(20, month=9), 6)),
        life("c", "cleared", (NOW, 6)),
    ]
    assert count_history(lives, NOW, 30) == AlertHistory(30, 0, 0, None)


def test_of_the_incident_that_is_told_of_the_last_firing_is_left_out() -> None:
    lives = [life("a", "open", (on_day(20), 6), (on_day(21), None))]
    assert count_history(lives, NOW, 30, "a") == AlertHistory(30, 1, 1, 6.0)
    assert count_history(lives, NOW, 30).times == 2


def test_a_life_of_an_older_version_counts_as_one_firing() -> None:
    at = on_day(20)
    old = Lifecycle("a", "fp-1", "public", IncidentState.CLEARED, at, at, cleared_at=at + timedelta(minutes=9))
    assert count_history([old], NOW, 30) == AlertHistory(30, 1, 1, 9.0)
    assert count_history([old], NOW, 30, "a").times == 0
