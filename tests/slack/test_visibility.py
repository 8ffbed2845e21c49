"""What was resolved in a private channel, through every place that shows memory: there for its members, nowhere else.

Each case is asked by a member in the channel, who must see it, and elsewhere or by others, who must not: neither text
nor number.
"""

from __future__ import annotations

import json
from functools import partial

import pytest

from bot.slack import ids
from tests.slack.conftest import Desk

SECRET, ALERTS = "C0SECRET", "C0ALERTS"
FIX = "Flush the zebra cache"
ASKED = "ledger drift zebra"


async def resolved_in_private(desk: Desk) -> str:
    ts = await desk.alert("unknown-ledger-drift", SECRET)
    await desk.slack.click("sec-incidents", desk.brief(ts, SECRET)["ts"], ids.RECORD, user="alice")
    await desk.slack.wait_until(lambda: desk.slack.view("alice"))
    said = {"outcome": "recovered", "fix": FIX, "root_cause": "zebra cache held old entries"}
    assert (await desk.slack.submit_view(said, user="alice")).errors == {}
    await desk.work()
    return await desk.memory.incidents.find_incident(SECRET, ts) or ""


async def whispered(desk: Desk, channel: str, command: str, text: str, user: str) -> str:
    before = len(desk.slack.ephemerals(user))
    await desk.slack.slash(channel, command, text, user=user)
    await desk.slack.wait_until(lambda: len(desk.slack.ephemerals(user)) > before)
    return json.dumps(desk.slack.ephemerals(user)[-1], ensure_ascii=False)


def more_than(desk: Desk, number: int) -> bool:
    return len(desk.slack.ephemerals("alice")) > number


@pytest.mark.parametrize(
    ("command", "text", "inside"), [("/recall", ASKED, "INC-1"), ("/digest", "30d", "1 incident, 1 resolved")]
)
async def test_commands_show_it_to_members_in_their_channel_alone(
    desk: Desk, command: str, text: str, inside: str
) -> None:
    incident_id = await resolved_in_private(desk)
    assert inside in await whispered(desk, "sec-incidents", command, text, "alice")
    for channel, user in (("alerts", "alice"), ("alerts", "bob")):
        outside = await whispered(desk, channel, command, text, user)
        assert incident_id not in outside
        assert "zebra cache" not in outside
        assert "1 incident" not in outside


async def test_recall_of_a_message_shows_it_to_members_in_their_channel_alone(desk: Desk) -> None:
    incident_id = await resolved_in_private(desk)
    told = {}
    for name, channel in (("sec-incidents", SECRET), ("alerts", ALERTS)):
        posted = await desk.slack.post(name, "ledger drift again, zebra cache?", user="alice")
        before = len(desk.slack.ephemerals("alice"))
        await desk.slack.shortcut(ids.RECALL_FROM_MESSAGE, name, posted["ts"], user="alice")
        await desk.slack.wait_until(partial(more_than, desk, before))
        told[channel] = json.dumps(desk.slack.ephemerals("alice")[-1])
    assert incident_id in told[SECRET]
    assert incident_id not in told[ALERTS]


async def test_home_lists_private_incidents_to_nobody_who_is_no_member(desk: Desk) -> None:
    ts = await desk.alert("unknown-ledger-drift", SECRET)
    private = await desk.memory.incidents.find_incident(SECRET, ts) or ""
    ts = await desk.alert("payment-gateway-504", ALERTS)
    public = await desk.memory.incidents.find_incident(ALERTS, ts) or ""
    await desk.slack.open_home(user="bob")
    await desk.work()
    shown = json.dumps(desk.slack.home("bob"))
    assert public in shown
    assert "ledger" not in shown.lower()
    assert f"{private}:" not in shown.replace(public, "")


async def test_an_alert_elsewhere_is_not_told_of_it(desk: Desk) -> None:
    incident_id = await resolved_in_private(desk)
    ts = await desk.alert("unknown-ledger-drift", ALERTS)
    shown = json.dumps(desk.brief(ts, ALERTS))
    assert incident_id not in shown
    assert "zebra cache" not in shown
    assert "INSUFFICIENT_MEMORY" in shown
