"""What a post says of an alert, as a notice."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.domain.alerts.alert import AlertMember, AlertState, PostDelivery
from bot.domain.alerts.notification import Notification, build_notification, find_acknowledger
from bot.domain.incidents.lifecycle import IncidentState
from bot.domain.incidents.reconstruction import reconstruct
from tests.builders import an_alert, on_day

FIRING, RESOLVED = AlertMember(AlertState.FIRING), AlertMember(AlertState.RESOLVED)


def noticed(**fields) -> Notification:
    return build_notification(an_alert(**fields), on_day(1), "private:G1", "C1", "1.1", "0.9")


def test_a_notice_holds_what_the_alert_says_and_no_text() -> None:
    found = noticed(text="customer 4711 cannot pay")
    assert (found.fingerprint, found.severity, found.tool, found.root_ts) == ("fp-1", "critical", "alertmanager", "0.9")
    assert "4711" not in repr(found)


def test_the_same_post_has_the_same_key_and_an_edit_of_it_another() -> None:
    assert noticed().key == noticed(severity=None).key
    later = build_notification(an_alert(), on_day(2), "public", "C1", "1.1", "0.9")
    assert later.key != noticed().key


@pytest.mark.parametrize(
    ("fields", "counts"),
    [
        ({}, (None, None)),
        ({"alerts": (FIRING, FIRING, RESOLVED)}, (2, 1)),
        ({"alerts": (FIRING,), "firing": 3}, (3, None)),
        ({"firing": 2, "cleared": 1}, (2, 1)),
    ],
)
def test_a_groups_members_are_counted_as_the_post_counts_them_else_as_it_lists_them(fields, counts) -> None:
    found = noticed(**fields)
    assert (found.firing, found.cleared) == counts


@pytest.mark.parametrize(
    ("labels", "who"),
    [({"Acknowledged_By": "meera"}, "meera"), ({"by": ""}, "someone in pagerduty"), ({}, "someone in pagerduty")],
)
def test_who_acknowledged(labels, who: str) -> None:
    alert = an_alert(state=AlertState.ACKNOWLEDGED, labels=labels, tool="pagerduty")
    assert find_acknowledger(alert) == who
    assert build_notification(alert, on_day(1), "public", "C1", "1.1", "1.1").by == who
    assert noticed(labels=labels).by is None


@pytest.mark.parametrize(
    ("tool", "delivery", "state", "may"),
    [
        ("generic", PostDelivery.POST, "firing", True),
        ("generic", PostDelivery.THREAD_REPLY, "firing", False),
        ("coroot", PostDelivery.THREAD_BROADCAST, "firing", True),
        ("datadog", PostDelivery.THREAD_REPLY, "no_data", True),
        ("datadog", PostDelivery.POST, "resolved", False),
    ],
)
def test_what_may_open_an_incident(tool: str, delivery: PostDelivery, state: str, may: bool) -> None:
    assert noticed(tool=tool, delivery=delivery, state=AlertState(state)).may_open is may


@pytest.mark.parametrize("keys", [("a", "b"), ("b", "a")])
def test_of_one_moment_the_firing_comes_before_its_end(keys: tuple[str, str]) -> None:
    at = datetime(2026, 11, 29, 3, tzinfo=UTC)
    fires = Notification(keys[0], "fp", "public", at, AlertState.FIRING)
    ends = Notification(keys[1], "fp", "public", at, AlertState.RESOLVED)
    for told in ((fires, ends), (ends, fires)):
        (chapter,) = reconstruct(told, ()).incidents
        assert chapter.life.state is IncidentState.CLEARED
