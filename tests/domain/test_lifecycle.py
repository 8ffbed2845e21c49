"""The life of an incident: transitions as a table, late arrivals, and permutations."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.alert import AlertState, Severity
from bot.domain.lifecycle import (
    Happened,
    IncidentState,
    Life,
    Step,
    acknowledger,
    advance,
    dismiss,
    opens,
    resolve,
)
from tests.builders import an_alert, on_day

T = on_day(1)


def at(minutes: float) -> datetime:
    return T + timedelta(minutes=minutes)


def post(state: str, **fields):
    return an_alert(state=AlertState(state), **fields)


def run(*posts: tuple[str, float], life: Life | None = None) -> Step:
    """Posts (state, minute of the post) one after another; ids count up."""
    step = Step(Happened.NOTHING, life)
    for number, (state, minute) in enumerate(posts, start=1):
        new_id = f"INC-{number}" if opens(step.life, post(state), at(minute)) else None
        step = advance(step.life, post(state), at(minute), new_id=new_id)
    return step


def alive(step: Step) -> Life:
    assert step.life is not None
    return step.life


def lived(*posts: tuple[str, float]) -> Life:
    """The life after these posts."""
    return alive(run(*posts))


OPEN, CLEARED, RESOLVED, DISMISSED = IncidentState
DAY = 24 * 60
TABLE = [
    # nothing is known yet
    ([("firing", 0)], "opened", OPEN, 1),
    ([("no_data", 0)], "opened", OPEN, 1),
    ([("escalated", 0)], "opened", OPEN, 1),
    ([("acknowledged", 0)], "nothing", None, None),
    ([("resolved", 0)], "nothing", None, None),
    ([("update", 0)], "nothing", None, None),
    ([("info", 0)], "nothing", None, None),
    # open
    ([("firing", 0), ("firing", 5)], "repeated", OPEN, 2),
    ([("firing", 0), ("no_data", 5)], "repeated", OPEN, 2),
    ([("firing", 0), ("escalated", 5)], "escalated", OPEN, 2),
    ([("firing", 0), ("acknowledged", 5)], "acknowledged", OPEN, 1),
    ([("firing", 0), ("resolved", 5)], "cleared", CLEARED, 1),
    ([("firing", 0), ("update", 5)], "updated", OPEN, 1),
    ([("firing", 0), ("info", 5)], "nothing", OPEN, 1),
    # cleared
    ([("firing", 0), ("resolved", 5), ("firing", 6)], "reopened", OPEN, 2),
    ([("firing", 0), ("resolved", 5), ("escalated", 6)], "reopened", OPEN, 2),
    ([("firing", 0), ("resolved", 5), ("firing", 5 + DAY)], "reopened", OPEN, 2),
    ([("firing", 0), ("resolved", 5), ("firing", 6 + DAY)], "opened", OPEN, 1),
    ([("firing", 0), ("resolved", 5), ("resolved", 6)], "updated", CLEARED, 1),
    ([("firing", 0), ("resolved", 5), ("resolved", 5)], "nothing", CLEARED, 1),
    ([("firing", 0), ("resolved", 5), ("acknowledged", 6)], "acknowledged", CLEARED, 1),
    ([("firing", 0), ("resolved", 5), ("update", 6)], "updated", CLEARED, 1),
    # posts that arrive late
    ([("firing", 0), ("resolved", 5), ("firing", 3)], "updated", CLEARED, 2),
    ([("firing", 0), ("resolved", 5), ("firing", 5)], "updated", CLEARED, 2),
    ([("firing", 0), ("firing", 9), ("resolved", 5)], "nothing", OPEN, 2),
    ([("firing", 0), ("acknowledged", 9), ("resolved", 5)], "cleared", CLEARED, 1),
    ([("firing", 9), ("firing", 0)], "repeated", OPEN, 2),
]


@pytest.mark.parametrize(("posts", "happened", "state", "fired"), TABLE)
def test_table(posts, happened: str, state, fired) -> None:
    step = run(*posts)
    assert step.happened.value == happened
    assert (step.life.state, step.life.fired) == (state, fired) if step.life else state is None


def test_a_new_incident_carries_what_the_alert_says() -> None:
    step = advance(None, post("firing"), T, new_id="INC-7", visibility="private:C1")
    assert step.life == Life("INC-7", "fp-1", "private:C1", OPEN, T, T, severity="critical")


def test_a_new_incident_needs_an_id() -> None:
    with pytest.raises(ValueError, match="ask `opens` first"):
        advance(None, post("firing"), T)


def test_times_are_those_of_the_posts() -> None:
    life = lived(("firing", 10), ("firing", 0), ("firing", 30), ("resolved", 40))
    assert (life.opened_at, life.last_seen_at, life.cleared_at) == (at(0), at(30), at(40))
    assert lived(("firing", 0), ("resolved", 5), ("firing", 6)).cleared_at is None
    assert lived(("firing", 0), ("resolved", 5), ("firing", 6 + DAY)).incident_id == "INC-3"


@pytest.mark.parametrize(("state", "minute", "happened"), [("firing", 11, "opened"), ("firing", 10, "nothing")])
def test_after_resolved_a_later_firing_is_a_new_incident(state: str, minute: float, happened: str) -> None:
    done = resolve(lived(("firing", 0), ("resolved", 5)), at(10))
    assert run((state, minute), life=done).happened.value == happened


@pytest.mark.parametrize("state", ["resolved", "acknowledged", "update", "info"])
@pytest.mark.parametrize("end", [resolve, dismiss])
def test_what_has_ended_is_not_changed_by_other_posts(state: str, end) -> None:
    done = end(lived(("firing", 0)), at(10))
    assert run((state, 20), life=done) == Step(Happened.NOTHING, done)


def test_resolving_keeps_the_first_end() -> None:
    done = resolve(lived(("firing", 0)), at(10))
    assert (done.state, done.resolved_at) == (RESOLVED, at(10))
    assert resolve(done, at(20)) == done
    assert dismiss(done, at(20)) == done


def test_what_was_dismissed_stays_quiet_while_it_goes_on_and_a_day_longer() -> None:
    life = dismiss(lived(("firing", 0)), at(10))
    assert life.state is DISMISSED
    for minute in (20, DAY, 2 * DAY):
        step = run(("firing", minute), life=life)
        assert (step.happened, alive(step).state) == (Happened.NOTHING, DISMISSED)
        life = alive(step)
    assert life.fired == 4
    assert run(("firing", 3 * DAY + 1), life=life).happened is Happened.OPENED


def test_what_was_dismissed_can_be_resolved() -> None:
    assert resolve(dismiss(lived(("firing", 0)), at(10)), at(20)).state is RESOLVED


def test_the_highest_severity_named_counts() -> None:
    life = alive(advance(None, post("firing", severity=None), T, new_id="INC-1"))
    for severity, expected in (
        (Severity.WARNING, "warning"),
        (None, "warning"),
        (Severity.CRITICAL, "critical"),
        (Severity.HIGH, "critical"),
    ):
        life = alive(advance(life, post("firing", severity=severity), T))
        assert life.severity == expected
    assert alive(advance(life, post("firing", severity=None), T)).severity == "critical"


@pytest.mark.parametrize(
    ("labels", "who"),
    [({"Acknowledged_By": "meera"}, "meera"), ({"by": ""}, "someone in pagerduty"), ({}, "someone in pagerduty")],
)
def test_who_acknowledged(labels, who: str) -> None:
    assert acknowledger(post("acknowledged", labels=labels, tool="pagerduty")) == who
    life = lived(("firing", 0))
    acked = alive(advance(life, post("acknowledged", labels=labels, tool="pagerduty"), at(1)))
    assert acked.acknowledged_by == who


@settings(max_examples=80, derandomize=True, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["firing", "no_data", "escalated", "resolved", "acknowledged", "update", "info"]), st.integers(1, 400)),
        max_size=4,
    )
)  # fmt: skip
def test_the_order_of_arrival_does_not_matter_within_a_day(posts) -> None:
    results = {lived(("firing", 0), *order) for order in permutations(posts)}
    assert len(results) == 1


@settings(max_examples=80, derandomize=True, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["firing", "resolved"]), st.integers(1, 400)), max_size=6))
def test_the_latest_post_decides_whether_it_is_open(posts) -> None:
    life = lived(("firing", 0), *posts)
    latest = max(minute for _, minute in [("firing", 0), *posts])
    cleared = any(state == "resolved" and minute == latest for state, minute in posts)
    assert life.state is (CLEARED if cleared else OPEN)
    assert life.fired == 1 + sum(state == "firing" for state, _ in posts)
