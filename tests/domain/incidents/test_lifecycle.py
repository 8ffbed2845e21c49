"""The life of an incident: transitions as a table, late arrivals, and permutations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.alerts.alert import AlertState, PostDelivery, Severity
from bot.domain.alerts.notification import Notification
from bot.domain.incidents.lifecycle import (
    FiringPeriod,
    IncidentState,
    Lifecycle,
    Transition,
    advance,
    classify_transition,
    count_flaps,
    dismiss,
    find_past_end,
    is_finished,
    resolve,
)
from bot.domain.incidents.reconstruction import Timeline, reconstruct
from tests.builders import on_day

T = on_day(1)
Said = tuple[str, float]


def at(minutes: float) -> datetime:
    return T + timedelta(minutes=minutes)


def notice(state: str, minute: float, **fields) -> Notification:
    """A notice as a post of its own, unless said otherwise."""
    ts = fields.pop("ts", f"{minute:.3f}")
    usual = Notification(
        f"C1/{ts}/{minute:.3f}/{state}", "fp-1", "public", at(minute), AlertState(state), "alertmanager", "C1", ts, ts
    )
    return replace(usual, **fields)


class Arriving:
    """Notices as they arrive: what is kept is told again each time, as the workflow does it."""

    def __init__(self, *lives: Lifecycle) -> None:
        self.lives = {life.incident_id: life for life in lives}
        self.notices: dict[str, Notification] = {}
        self.did = Transition.NOTHING

    def arrive(self, new: Notification) -> Lifecycle | None:
        if new.key in self.notices:
            self.did = Transition.NOTHING
            return None
        told = reconstruct((*self.notices.values(), new), tuple(self.lives.values()))
        self.notices |= {n.key: n for n in told.early}
        for chapter in told.incidents:
            before = self.lives.get(chapter.life.incident_id)
            named = replace(chapter.life, incident_id=chapter.life.incident_id or f"INC-{len(self.lives) + 1}")
            self.lives[named.incident_id] = named
            self.notices |= {n.key: replace(n, incident_id=named.incident_id) for n in chapter.notifications}
            for key in chapter.dropped:
                self.notices.pop(key, None)
            if any(n.key == new.key for n in chapter.notifications):
                self.did = classify_transition(before, named, new)
        if self.notices[new.key].incident_id is None:
            self.did = Transition.NOTHING
        return self.latest()

    def latest(self) -> Lifecycle | None:
        return max(self.lives.values(), key=lambda life: life.opened_at, default=None)


def run(*posts: Said, lives: Sequence[Lifecycle] = ()) -> Arriving:
    """Posts (state, minute of the post) one after another, in the order of arrival."""
    arriving = Arriving(*lives)
    for state, minute in posts:
        arriving.arrive(notice(state, minute))
    return arriving


def lived(*posts: Said) -> Lifecycle:
    """The life after these posts."""
    life = run(*posts).latest()
    assert life is not None
    return life


OPEN, CLEARED, RESOLVED, DISMISSED, _ = IncidentState
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
    ([("firing", 0), ("resolved", 5), ("acknowledged", 6)], "acknowledged", CLEARED, 1),
    ([("firing", 0), ("resolved", 5), ("update", 6)], "updated", CLEARED, 1),
    # posts that arrive late
    ([("firing", 0), ("resolved", 5), ("firing", 3)], "updated", CLEARED, 2),
    ([("firing", 0), ("resolved", 5), ("firing", 5)], "updated", CLEARED, 2),
    ([("firing", 0), ("firing", 9), ("resolved", 5)], "updated", OPEN, 2),
    ([("firing", 0), ("acknowledged", 9), ("resolved", 5)], "cleared", CLEARED, 1),
    ([("firing", 9), ("firing", 0)], "updated", OPEN, 2),
    # posts that arrive before what they speak of
    ([("resolved", 5), ("firing", 0)], "opened", CLEARED, 1),
    ([("resolved", 5), ("firing", 9)], "opened", OPEN, 1),
    ([("acknowledged", 5), ("firing", 0)], "opened", OPEN, 1),
    # the same post twice
    ([("firing", 0), ("firing", 0)], "nothing", OPEN, 1),
    ([("firing", 0), ("resolved", 5), ("resolved", 5)], "nothing", CLEARED, 1),
]


@pytest.mark.parametrize(("posts", "did", "state", "fired"), TABLE)
def test_table(posts, did: str, state, fired) -> None:
    told = run(*posts)
    life = told.latest()
    assert told.did.value == did
    assert (life.state, life.fired) == (state, fired) if life else state is None


def test_a_new_incident_carries_what_the_notice_says() -> None:
    life = Arriving().arrive(notice("firing", 0, visibility="private:C1", severity=Severity.CRITICAL))
    assert life == Lifecycle(
        "INC-1", "fp-1", "private:C1", OPEN, T, T, severity=Severity.CRITICAL, spells=(FiringPeriod(T),)
    )


def test_times_are_those_of_the_posts() -> None:
    life = lived(("firing", 10), ("firing", 0), ("firing", 30), ("resolved", 40))
    assert (life.opened_at, life.last_seen_at, life.cleared_at) == (at(0), at(30), at(40))
    assert lived(("firing", 0), ("resolved", 5), ("firing", 6)).cleared_at is None
    assert lived(("firing", 0), ("resolved", 5), ("firing", 6 + DAY)).incident_id == "INC-2"


def test_an_early_resolve_of_a_long_ended_incident_makes_two_of_one() -> None:
    told = run(("firing", 0), ("firing", 3 * DAY))
    assert [life.fired for life in told.lives.values()] == [2]
    told.arrive(notice("resolved", 10))
    first, second = told.lives.values()
    assert (first.state, first.fired, first.cleared_at) == (CLEARED, 1, at(10))
    assert (second.state, second.fired, second.opened_at) == (OPEN, 1, at(3 * DAY))


def test_two_incidents_that_people_know_stay_two_whatever_arrives_late() -> None:
    told = run(("firing", 0), ("resolved", 10), ("firing", 2 * DAY), ("firing", DAY))
    assert {i: (life.opened_at, life.fired) for i, life in told.lives.items()} == {
        "INC-1": (at(0), 2),
        "INC-2": (at(2 * DAY), 1),
    }


@pytest.mark.parametrize(("minute", "did"), [(11, "opened"), (10, "nothing")])
def test_after_resolved_a_later_firing_is_a_new_incident(minute: float, did: str) -> None:
    done = resolve(lived(("firing", 0), ("resolved", 5)), at(10))
    assert run(("firing", minute), lives=[done]).did.value == did


def test_what_comes_late_of_a_resolved_incident_does_not_end_the_next_one() -> None:
    told = run(("firing", 0))
    told.lives["INC-1"] = resolve(told.lives["INC-1"], at(10))
    for state, minute in (("firing", 12), ("resolved", 9), ("firing", 8)):
        told.arrive(notice(state, minute))
    first, second = told.lives.values()
    assert (first.state, first.fired, first.cleared_at) == (RESOLVED, 2, at(9))
    assert (second.state, second.fired) == (OPEN, 1)


@pytest.mark.parametrize("state", ["resolved", "acknowledged", "update", "info"])
@pytest.mark.parametrize("end", [resolve, dismiss])
def test_what_has_ended_is_not_changed_by_other_posts(state: str, end) -> None:
    done = end(lived(("firing", 0)), at(10))
    told = run((state, 20), lives=[done])
    assert told.did is Transition.NOTHING
    life = told.latest()
    assert life is not None
    assert (life.state, life.resolved_at, life.dismissed_at) == (done.state, done.resolved_at, done.dismissed_at)


def test_resolving_keeps_the_first_end() -> None:
    done = resolve(lived(("firing", 0)), at(10))
    assert (done.state, done.resolved_at) == (RESOLVED, at(10))
    assert resolve(done, at(20)) == done
    assert dismiss(done, at(20)) == done


def test_what_was_dismissed_stays_quiet_while_it_goes_on_and_a_day_longer() -> None:
    told = run(("firing", 0))
    told.lives["INC-1"] = dismiss(told.lives["INC-1"], at(10))
    for minute in (20, DAY, 2 * DAY):
        life = told.arrive(notice("firing", minute))
        assert life is not None
        assert (told.did, life.state) == (Transition.NOTHING, DISMISSED)
    assert told.lives["INC-1"].fired == 4
    told.arrive(notice("firing", 3 * DAY + 1))
    assert told.did is Transition.OPENED


def test_what_was_dismissed_can_be_resolved() -> None:
    assert resolve(dismiss(lived(("firing", 0)), at(10)), at(20)).state is RESOLVED


def test_the_highest_severity_named_counts() -> None:
    told = Arriving()
    said = (None, Severity.WARNING, None, Severity.CRITICAL, Severity.HIGH)
    for minute, severity in enumerate(said):
        told.arrive(notice("firing", minute, severity=severity))
    life = told.latest()
    assert life is not None
    assert life.severity == "critical"


def test_the_latest_acknowledgement_counts_whenever_it_arrives() -> None:
    told = run(("firing", 0))
    for minute, who in ((9, "meera"), (5, "ravi")):
        told.arrive(notice("acknowledged", minute, by=who))
        life = told.latest()
        assert life is not None
        assert life.acknowledged_by == "meera"


# groups


def group(*counts: tuple[int, int | None]) -> Lifecycle:
    told = Arriving()
    for minute, (firing, cleared) in enumerate(counts):
        told.arrive(notice("firing", minute, firing=firing, cleared=cleared))
    life = told.latest()
    assert life is not None
    return life


@pytest.mark.parametrize(
    ("counts", "firing", "members"),
    [
        ([(3, None)], 3, 3),
        ([(1, None), (3, None)], 3, 3),
        ([(3, None), (2, None), (1, None)], 1, 3),
        ([(2, 1)], 2, 3),
        ([(3, 0), (1, 2)], 1, 3),
    ],
)
def test_a_part_resolved_group_stays_open_and_says_how_much_has_cleared(counts, firing: int, members: int) -> None:
    life = group(*counts)
    assert (life.state, life.firing, life.members) == (OPEN, firing, members)


def test_a_group_that_fires_again_is_counted_anew() -> None:
    told = Arriving()
    for minute, (state, firing) in enumerate([("firing", 3), ("resolved", None), ("firing", 1)]):
        told.arrive(notice(state, minute, firing=firing))
    life = told.latest()
    assert life is not None
    assert (life.firing, life.members) == (1, 1)


# no data, flapping


def test_no_data_is_told_apart_from_firing_by_the_latest_of_both() -> None:
    assert lived(("firing", 0), ("no_data", 5)).no_data
    assert not lived(("no_data", 0), ("firing", 5)).no_data
    assert not lived(("firing", 5), ("no_data", 0)).no_data


def rounds(number: int, every: float) -> list[Said]:
    return [(state, n * every + (every / 2 if state == "resolved" else 0)) for n in range(number) for state in ("firing", "resolved")]  # fmt: skip


def test_flapping_is_named_with_its_count_and_time() -> None:
    assert count_flaps(lived(*rounds(5, 4))) == (5, 18)
    assert count_flaps(lived(*reversed(rounds(5, 4)))) == (5, 18)
    assert count_flaps(lived(*rounds(2, 4))) is None
    assert count_flaps(lived(*rounds(5, 40))) is None
    assert count_flaps(lived(*rounds(5, 4), ("firing", 21), ("firing", 200))) is None


# edits and answers


def test_an_edit_that_says_again_what_fires_is_no_new_firing_but_one_after_the_end_is() -> None:
    told = run(("firing", 0))
    edit = {"ts": "0.000", "delivery": PostDelivery.EDIT}
    told.arrive(notice("firing", 2, **edit))
    assert told.lives["INC-1"].fired == 1
    told.arrive(notice("resolved", 3, **edit))
    told.arrive(notice("firing", 4, **edit))
    assert (told.did, told.lives["INC-1"].fired, told.lives["INC-1"].state) == (Transition.REOPENED, 2, OPEN)


def test_an_edit_of_an_older_incident_does_not_touch_the_newer_one() -> None:
    told = run(("firing", 0), ("resolved", 5), ("firing", 2 * DAY))
    told.arrive(notice("resolved", 2 * DAY + 5, ts="0.000", delivery=PostDelivery.EDIT))
    first, second = told.lives.values()
    assert (first.state, second.state) == (CLEARED, OPEN)


@pytest.mark.parametrize(
    ("fields", "state", "fired"),
    [
        ({"tool": "generic", "state": "firing"}, CLEARED, 1),
        ({"tool": "generic", "state": "resolved"}, CLEARED, 1),
        ({"fingerprint": "fp-2", "state": "escalated"}, OPEN, 2),
        ({"state": "firing"}, OPEN, 2),
    ],
)
def test_an_answer_in_the_thread_counts_only_from_the_tool_that_posted(fields, state, fired: int) -> None:
    reply = notice(fields["state"], 7, root_ts="0.000", delivery=PostDelivery.THREAD_REPLY)
    reply = replace(reply, **{key: value for key, value in fields.items() if key != "state"})
    said = [notice("firing", 0), notice("resolved", 5), reply]
    for order in permutations(said):
        told = Arriving()
        for one in order:
            told.arrive(one)
        life = told.latest()
        assert life is not None
        assert (len(told.lives), life.state, life.fired) == (1, state, fired)


def test_an_answer_that_tells_of_another_alert_is_a_remark_where_the_thread_is_known() -> None:
    told = run(("firing", 0), ("resolved", 5))
    told.arrive(notice("firing", 7, root_ts="0.000", delivery=PostDelivery.THREAD_REPLY, fingerprint="fp-2"))
    assert (told.did, told.lives["INC-1"].state) == (Transition.NOTHING, CLEARED)


# orders


ALIKE = (
    "state", "fired", "opened_at", "last_seen_at", "cleared_at", "acknowledged_by", "severity", "firing", "members",
    "no_data", "spells",
)  # fmt: skip


def ends(told: Arriving) -> list[tuple[object, ...]]:
    """What every incident of the alert came to, oldest first, but for its id."""
    by_time = sorted(told.lives.values(), key=lambda life: life.opened_at)
    return [tuple(getattr(life, name) for name in ALIKE) for life in by_time]


A_LIFE = (
    notice("firing", 0, severity=Severity.WARNING, firing=3),
    notice("escalated", 4, severity=Severity.CRITICAL, ts="0.000", delivery=PostDelivery.EDIT),
    notice("acknowledged", 6, by="meera", root_ts="0.000", delivery=PostDelivery.THREAD_REPLY),
    notice("resolved", 20),
    notice("firing", 30, severity=Severity.HIGH, firing=2),
    notice("resolved", 50, ts="30.000", delivery=PostDelivery.EDIT),
)


def test_all_720_orders_of_a_life_of_six_end_alike() -> None:
    expected = None
    for order in permutations(A_LIFE):
        told = Arriving()
        for one in order:
            told.arrive(one)
        expected = expected or ends(told)
        assert ends(told) == expected
    assert expected == [
        (CLEARED, 3, at(0), at(30), at(50), "meera", "critical", None, None, False, (FiringPeriod(at(0), at(20)), FiringPeriod(at(30), at(50))))
    ]  # fmt: skip


STATES = ["firing", "no_data", "escalated", "resolved", "acknowledged", "update", "info"]
SAID = st.builds(
    lambda state, minute, how, about, size: notice(
        state,
        minute,
        ts=f"{about:.3f}" if how is PostDelivery.EDIT else f"{minute:.3f}",
        root_ts=f"{about if how is not PostDelivery.POST else minute:.3f}",
        delivery=how,
        firing=size,
        by=f"who{minute}",
    ),
    st.sampled_from(STATES),
    st.integers(1, 400),
    st.sampled_from([PostDelivery.POST, PostDelivery.POST, PostDelivery.EDIT, PostDelivery.THREAD_REPLY]),
    st.sampled_from([0, 100]),
    st.sampled_from([None, 1, 3]),
)


@settings(max_examples=60, derandomize=True, deadline=None)
@given(st.lists(SAID, min_size=5, max_size=5, unique_by=lambda n: n.at), st.randoms(use_true_random=False))
def test_the_order_of_arrival_does_not_matter_and_neither_do_repetitions(posts, random) -> None:
    posts = [notice("firing", 0), *posts]
    in_order = Arriving()
    for one in sorted(posts, key=lambda n: n.sort_key):
        in_order.arrive(one)
    for _ in range(5):
        shuffled = posts + random.sample(posts, 3)
        random.shuffle(shuffled)
        told = Arriving()
        for one in shuffled:
            told.arrive(one)
        assert ends(told) == ends(in_order)


@settings(max_examples=80, derandomize=True, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["firing", "resolved"]), st.integers(1, 400)), max_size=6, unique=True))
def test_the_latest_post_decides_whether_it_is_open(posts) -> None:
    life = lived(("firing", 0), *posts)
    latest = max(minute for _, minute in [("firing", 0), *posts])
    cleared = any(state == "resolved" and minute == latest for state, minute in posts)
    assert life.state is (CLEARED if cleared else OPEN)
    assert life.fired == 1 + sum(state == "firing" for state, _ in posts)


# what is kept


def test_a_very_long_life_is_kept_short_and_comes_to_the_same() -> None:
    said = [
        notice("firing" if n % 5 else "resolved", n, severity=Severity.HIGH if n == 7 else None) for n in range(1, 401)
    ]
    told = Arriving()
    most = 0
    for one in said:
        told.arrive(one)
        most = max(most, len(told.notices))
    assert most <= 100
    life = told.latest()
    assert life is not None
    assert (life.fired, life.severity, life.opened_at) == (320, "high", at(1))
    assert life.spells[-1] == FiringPeriod(at(396), at(400))
    assert len(life.spells) == 80


def test_a_life_of_an_older_version_goes_on_from_where_it_was() -> None:
    old = Lifecycle("INC-9", "fp-1", "public", CLEARED, at(0), at(10), fired=7, cleared_at=at(20), version=3)
    told = run(("firing", 25), ("firing", 15), ("resolved", 30), lives=[old])
    life = told.lives["INC-9"]
    assert (len(told.lives), life.state, life.fired, life.cleared_at) == (1, CLEARED, 9, at(30))
    before = run(("firing", -5), lives=[old]).lives["INC-9"]
    assert (before.opened_at, before.fired, before.state) == (at(-5), 8, CLEARED)


def test_nothing_told_is_nothing() -> None:
    assert reconstruct((), ()) == Timeline()
    assert Timeline().find("none") is None


def test_what_comes_from_before_all_that_is_kept_changes_no_state() -> None:
    old = Lifecycle(
        "INC-9", "fp-1", "public", OPEN, at(0), at(50), acknowledged_by="meera", acknowledged_at=at(40)
    )  # fmt: skip
    told = run(("resolved", 20), lives=[old])
    told.arrive(notice("acknowledged", 30, by="ravi"))
    life = told.lives["INC-9"]
    assert (life.state, life.acknowledged_by, life.cleared_at) == (OPEN, "meera", None)


def test_a_chapter_begins_with_its_opening_notice() -> None:
    told = reconstruct([notice("resolved", 5), notice("firing", 0), notice("acknowledged", -3)], ())
    (chapter,) = told.incidents
    assert (chapter.first_notification.state, [n.state for n in told.early]) == (
        AlertState.FIRING,
        [AlertState.ACKNOWLEDGED],
    )
    assert told.find(notice("resolved", 5).key) is chapter


def test_a_clearing_of_the_very_moment_of_its_firing_counts() -> None:
    assert lived(("firing", 0), ("resolved", 0)).state is CLEARED


def test_flapping_is_measured_up_to_the_last_clearing_also_while_it_fires_again() -> None:
    flaps = lived(*(("firing" if n % 2 == 0 else "resolved", 5 * n) for n in range(6)), ("firing", 50))
    assert count_flaps(flaps) == (3, 25)


def test_a_past_alert_that_nobody_saw_clear_is_over_a_day_after_it_was_last_seen() -> None:
    past = replace(lived(("firing", 0)), past=True)
    assert not is_finished(past, at(DAY))
    assert is_finished(past, at(DAY + 1))


def test_a_past_incident_ended_when_it_cleared_and_any_other_has_no_such_end() -> None:
    cleared = lived(("firing", 0), ("resolved", 10))
    assert find_past_end(cleared) is None
    assert find_past_end(replace(cleared, state=IncidentState.PAST)) == at(10)
    assert find_past_end(replace(lived(("firing", 5)), state=IncidentState.PAST)) == at(5)


def test_rounds_count_as_flapping_from_the_very_first_moment_of_the_hour() -> None:
    rounds_of_an_hour = (
        ("firing", 0),
        ("resolved", 5),
        ("firing", 20),
        ("resolved", 25),
        ("firing", 40),
        ("resolved", 60),
    )
    assert count_flaps(lived(*rounds_of_an_hour)) == (3, 60)


def test_what_comes_at_the_very_moment_of_a_resolution_still_counts_and_nothing_after_it() -> None:
    life = resolve(lived(("firing", 0)), at(10))
    assert advance(life, notice("resolved", 10)).cleared_at == at(10)
    assert advance(life, notice("resolved", 11)) is life


def test_flapping_within_seconds_is_told_as_one_minute() -> None:
    flaps = lived(*(("firing" if n % 2 == 0 else "resolved", n / 20) for n in range(6)))
    assert count_flaps(flaps) == (3, 1)
