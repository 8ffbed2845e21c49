"""Which stretches were read, and which threads are worth recording."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bot.domain.alerts.alert import AlertState, Severity
from bot.domain.alerts.notification import Notification
from bot.domain.incidents.lifecycle import (
    FiringPeriod,
    IncidentState,
    Lifecycle,
    classify_transition,
    find_past_end,
    is_finished,
)
from bot.domain.incidents.reconstruction import reconstruct
from bot.domain.incidents.record import Announcement, Attempt, Incident, Source, VerificationStatus
from bot.domain.operations.backfill import (
    FIRST,
    LONGEST,
    SHORTEST,
    AlertFamily,
    BackfillTally,
    ThreadActivity,
    add_span,
    add_tallies,
    choose_next_length,
    choose_threads,
    find_unread,
    group_families,
    score_thread,
)

DAY = datetime(2026, 9, 1, tzinfo=UTC)


def day(number: float) -> datetime:
    return DAY + timedelta(days=number)


def test_what_is_missing_is_what_no_stretch_covers() -> None:
    done = add_span(add_span((), (day(3), day(5))), (day(8), day(9)))
    assert done == ((day(3), day(5)), (day(8), day(9)))
    assert find_unread(done, day(1), day(10)) == ((day(1), day(3)), (day(5), day(8)), (day(9), day(10)))
    assert find_unread(done, day(4), day(8)) == ((day(5), day(8)),)
    assert find_unread(done, day(3), day(5)) == ()
    assert find_unread((), day(1), day(1)) == ()
    assert find_unread(done, day(0), day(1)) == ((day(0), day(1)),)
    joined = add_span(done, (day(5), day(8)))
    assert joined == ((day(3), day(9)),)
    assert add_span(joined, (day(4), day(6))) == joined


def test_portions_are_as_long_as_some_pages() -> None:
    assert choose_next_length(FIRST, 0) == FIRST * 4
    assert choose_next_length(FIRST, 2_000) == FIRST / 2
    assert choose_next_length(LONGEST, 1) == LONGEST
    assert choose_next_length(SHORTEST, 1_000_000) == SHORTEST


def test_counts_add_up() -> None:
    one = BackfillTally(3, 1, 1, 1, 0, 0, {"sentry": 1}, {"GitHub": 2})
    assert add_tallies(one, BackfillTally(1, 1, 1, 1, 1, 1, {"sentry": 2, "grafana": 1})) == BackfillTally(
        4, 2, 2, 2, 1, 1, {"sentry": 3, "grafana": 1}, {"GitHub": 2}
    )


def notice(at: datetime, state: AlertState = AlertState.FIRING, *, past: bool = True) -> Notification:
    ts = f"{at.timestamp():.6f}"
    return Notification(f"C/{ts}/{state}", "f", "public", at, state, "t", "C", ts, ts, past=past)


def lives(*notices: Notification) -> list[Lifecycle]:
    return [chapter.life for chapter in reconstruct(notices, ()).incidents]


def test_a_past_alert_that_nobody_saw_clear_is_over_after_a_day_and_stands_open_nowhere() -> None:
    first, second = lives(notice(day(1)), notice(day(1.5)), notice(day(3)))
    assert (first.state, first.fired, len(first.spells), first.cleared_at) == (IncidentState.PAST, 2, 1, None)
    assert (second.opened_at, second.state, find_past_end(second)) == (day(3), IncidentState.PAST, day(3))
    (live,) = lives(notice(day(1), past=False), notice(day(40), past=False))
    assert (live.state, live.fired, find_past_end(live)) == (IncidentState.OPEN, 2, None)


def test_the_order_in_which_the_past_and_the_present_arrive_does_not_matter() -> None:
    old, now = notice(day(1)), notice(day(40), past=False)
    told = lives(old, now)
    assert told == lives(now, old)
    assert [life.state for life in told] == [IncidentState.PAST, IncidentState.OPEN]
    ids = [replace(life, incident_id=f"INC-{n}", version=1) for n, life in enumerate(told, start=1)]
    kept = [replace(old, incident_id="INC-1"), replace(now, incident_id="INC-2")]
    between = reconstruct([*kept, notice(day(20))], ids)
    assert [c.life.incident_id for c in between.incidents] == ["INC-1", "", "INC-2"]


def test_what_is_heard_now_makes_of_the_past_what_it_is_now() -> None:
    (cleared,) = lives(notice(day(1)), notice(day(1.1), AlertState.RESOLVED))
    assert (cleared.state, find_past_end(cleared)) == (IncidentState.PAST, day(1.1))
    again = notice(day(1.5), past=False)
    (reopened,) = lives(notice(day(1)), notice(day(1.1), AlertState.RESOLVED), again)
    assert (reopened.state, classify_transition(cleared, reopened, again)) == (IncidentState.OPEN, "reopened")
    (over,) = lives(notice(day(1)), notice(day(4), AlertState.RESOLVED, past=False))
    assert over.state is IncidentState.CLEARED
    assert is_finished(replace(cleared, resolved_at=day(1.1)), day(1.2))
    still = notice(day(1.05))
    (known,) = lives(notice(day(1)), still, notice(day(1.1), AlertState.RESOLVED))
    assert classify_transition(cleared, known, still) == "nothing"


def incident(name: str, **facts: object) -> Incident:
    source = Source("slack", f"https://t.slack.com/archives/C1/p{name[4:]}", "C1")
    record = Incident(name, f"Alert {name}", service="api", source=source, alerts=(Announcement("f", "grafana", "x"),))
    return replace(record, **facts)  # type: ignore[arg-type]  # any field of a record


def life(name: str, fingerprint: str, at: float, **facts: object) -> Lifecycle:
    made = Lifecycle(name, fingerprint, "public", IncidentState.PAST, day(at), day(at), spells=(FiringPeriod(day(at)),))
    return replace(made, **facts)  # type: ignore[arg-type]  # any field of a life


def test_of_each_alert_the_thread_that_says_most_and_the_alerts_that_come_back_first() -> None:
    told = [
        life("INC-1", "often", 1),
        life("INC-2", "often", 2, cleared_at=day(2.5)),
        life("INC-3", "often", 3),
        life("INC-4", "once", 4, severity=Severity.CRITICAL),
        life("INC-5", "silent", 5),
        life("INC-6", "done", 6, state=IncidentState.RESOLVED),
        life("INC-7", "tried", 7),
        life("INC-8", "gone", 8),
        life("INC-9", "nobody", 9),
    ]
    records = {one.incident_id: incident(one.incident_id) for one in told if one.incident_id != "INC-8"}
    records["INC-7"] = incident("INC-7", attempts=(Attempt("restart", VerificationStatus.FAILED),))
    talks = {f"INC-{n}": (f"{n}.5", ThreadActivity(2, 6)) for n in (2, 4, 6, 7, 8)} | {
        "INC-1": ("1.5", ThreadActivity(1, 1)),
        "INC-9": ("9.5", ThreadActivity(0, 0)),
    }
    first, second = choose_threads(told, records, talks)
    assert (first.incident_id, first.fired, first.more, first.minutes) == ("INC-2", 3, 1, 720)
    assert (second.incident_id, second.fired, second.more, second.minutes) == ("INC-4", 1, 0, None)
    assert first.url == "https://t.slack.com/archives/C1/p25"
    assert score_thread(replace(second, severity=None)) < score_thread(second) < score_thread(first)
    assert choose_threads(reversed(told), records, talks) == (first, second)


@pytest.mark.parametrize("source", [Source(), Source("slack", "https://example.com/x", "C1")])
def test_a_thread_without_an_address_is_listed_without(source: Source) -> None:
    (one,) = choose_threads(
        [life("INC-1", "f", 1)], {"INC-1": incident("INC-1", source=source)}, {"INC-1": ("1.5", ThreadActivity(1, 1))}
    )
    assert one.url is None


def test_families_are_counted_by_how_often_they_fired() -> None:
    told = [
        life("INC-1", "a", 1),
        life("INC-2", "b", 1, spells=(FiringPeriod(day(1)), FiringPeriod(day(2)))),
        life("INC-3", "c", 1),
    ]
    records = {"INC-1": incident("INC-1"), "INC-2": incident("INC-2", alerts=())}
    assert group_families(told, records) == (
        AlertFamily("Alert INC-2", "unknown", "api", 1, 2),
        AlertFamily("Alert INC-1", "grafana", "api", 1, 1),
    )
