"""Which incident a notification belongs to; the lifecycles themselves are in test_lifecycle."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from bot.domain.alerts.alert import AlertState, PostDelivery
from bot.domain.alerts.notification import Notification
from bot.domain.incidents.reconstruction import interpret_reply, reconstruct
from tests.builders import on_day

T = on_day(1)
DAY = 24 * 60


def post(state: str, minute: int, *, root: int | None = None, tool: str = "alertmanager") -> Notification:
    """A post of its own, or a reply in the thread of the post of minute `root`."""
    ts, thread = f"{minute}.0", f"{minute if root is None else root}.0"
    delivery = PostDelivery.POST if root is None else PostDelivery.THREAD_REPLY
    return Notification(
        f"{ts}/{state}", "fp-1", "public", T + timedelta(minutes=minute), AlertState(state), tool, "C1", ts, thread, delivery
    )  # fmt: skip


def test_a_reply_belongs_to_the_incident_of_its_thread_also_when_another_has_opened_since() -> None:
    first, clearing, second = post("firing", 0), post("resolved", 5), post("firing", 2 * DAY)
    late = post("acknowledged", 2 * DAY + 5, root=0)
    old, new = reconstruct([first, clearing, second, late], ()).incidents
    assert [n.key for n in old.notifications] == [first.key, clearing.key, late.key]
    assert [n.key for n in new.notifications] == [second.key]


def test_the_incident_of_a_notification_is_found_by_its_key() -> None:
    first, clearing, second = post("firing", 0), post("resolved", 5), post("firing", 2 * DAY)
    timeline = reconstruct([first, clearing, second], ())
    old, new = timeline.incidents
    assert (timeline.find(clearing.key), timeline.find(second.key), timeline.find("elsewhere")) == (old, new, None)


def test_only_in_a_thread_another_tools_words_are_a_remark() -> None:
    opening, reply = post("firing", 0), post("resolved", 5, root=0, tool="pagerduty")
    assert interpret_reply(reply, opening).state is AlertState.UPDATE
    assert interpret_reply(reply, None) == reply
    own = replace(reply, delivery=PostDelivery.POST)
    assert interpret_reply(own, opening) == own
