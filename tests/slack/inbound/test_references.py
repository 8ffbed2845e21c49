"""Messages that speak of an alert belong to its incident; nothing of what they say is kept, and none opens an incident."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.domain.recall.query import OPERATOR
from bot.slack.inbound.references import find_references
from tests.slack.conftest import ROOT, Desk

TITLE = "[FIRING:1] PaymentGatewayErrorRateHigh payments-api (ap-south-1 prod razorpay critical)"


def permalink(channel: str, ts: str) -> str:
    return f"https://playground.slack.com/archives/{channel}/p{ts.replace('.', '')}"


def forward(ts: str, channel: str = "C0ALERTS") -> dict[str, Any]:
    return {"is_share": True, "is_msg_unfurl": True, "channel_id": channel, "ts": ts, "text": ""}


async def say(office: Desk, text: str, channel: str = "alerts", **more: Any) -> str:
    posted = await office.slack.post(channel, text, user="alice", **more)
    await office.work()
    return str(posted["ts"])


async def incident_of(office: Desk, ts: str, channel: str = "C0ALERTS") -> str | None:
    return await office.memory.incidents.find_incident(channel, ts)


@pytest.mark.parametrize("said", ["look at <{url}>", "look at <{url}|this one>", "{url} again?"])
async def test_a_message_with_a_permalink_belongs_to_the_alerts_incident(office: Desk, said: str) -> None:
    alert = await office.alert()
    ts = await say(office, said.format(url=permalink("C0ALERTS", alert)))
    assert await incident_of(office, ts) == "INC-1"


async def test_a_paste_of_the_alert_belongs_to_its_incident(office: Desk) -> None:
    await office.alert()
    ts = await say(office, f"```{TITLE}```\nthis one again")
    assert await incident_of(office, ts) == "INC-1"
    assert len(await office.memory.incidents.list_open_lifecycles(OPERATOR)) == 1


async def test_what_is_said_is_not_kept(office: Desk) -> None:
    alert = await office.alert()
    await say(office, f"my secret opinion of {permalink('C0ALERTS', alert)}")
    await say(office, f"```{TITLE}```\nmy secret opinion of this")
    kept = [row for row in office.inbox.kept if row.kind == "reference"]
    assert len(kept) == 2
    assert "secret opinion" not in json.dumps([row.body for row in kept if row.body])


async def test_a_link_to_what_is_no_alert_or_private_elsewhere_leaves_nothing(office: Desk) -> None:
    hidden = await office.alert(channel="C0SECRET")
    for url in (permalink("C0SECRET", hidden), permalink("C0ALERTS", "1700000000.000100")):
        assert await incident_of(office, await say(office, url)) is None


async def test_an_unknown_bots_note_with_a_permalink_opens_nothing(office: Desk) -> None:
    alert = await office.alert()
    url = permalink("C0ALERTS", alert)
    note = {"username": "Watcher", "text": f":red_circle: CRITICAL: the alert <{url}|above> is firing because of 504"}
    posted = await office.slack.post_alert("C0ALERTS", note)
    await office.work()
    assert await incident_of(office, str(posted["ts"])) == "INC-1"
    assert [life.incident_id for life in await office.memory.incidents.list_open_lifecycles(OPERATOR)] == ["INC-1"]


def test_references_are_places_of_forwards_and_links_without_the_message_itself() -> None:
    sample = json.loads((ROOT / "tests/slack/forwarded.json").read_text())
    assert find_references(sample) == (("C0ALERTSPRD", "1795981217.000117"),)
    own = {"channel": "C1", "ts": "1700000000.000100", "text": permalink("C1", "1700000000.000100")}
    assert find_references(own) == ()
    many = {"text": " ".join(permalink("C1", f"17000000{n:02}.000100") for n in range(20))}
    assert len(find_references(many)) == 5


@pytest.mark.parametrize("odd", [None, 5, "x", [None], [{"is_share": True, "channel_id": 1, "ts": None}], {"a": 1}])
def test_references_of_odd_messages_are_none(odd: Any) -> None:
    assert find_references({"attachments": odd, "blocks": odd}) == ()


async def test_another_bots_note_does_not_join_a_private_incident_from_outside(office: Desk) -> None:
    hidden = await office.alert(channel="C0SECRET")
    url = permalink("C0SECRET", hidden)
    posted = await office.slack.post_alert(
        "C0ALERTS", {"username": "triage", "text": f"CRITICAL: ledger-db down, see {url}"}
    )
    await office.work()
    assert await incident_of(office, hidden, "C0SECRET") == "INC-1"
    assert await incident_of(office, str(posted["ts"])) != "INC-1"
