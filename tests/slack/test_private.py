"""What is private to a channel: told to nobody outside, not even that it is there, and changed by members alone."""

from __future__ import annotations

import json
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from bot.slack import ids
from tests.slack.conftest import Desk, SteppingClock, wait
from tests.slack.listeners.listeners_support import BASE, dispatch

SECRET = "C0SECRET"
SAID = {"outcome": "recovered", "fix": "Flush the ledger cache"}
OUTSIDER = "bob"


def link(channel: str, ts: str, more: str = "") -> str:
    return f"https://playground.slack.com/archives/{channel}/p{ts.replace('.', '')}{more}"


async def asked(desk: Desk, said: str) -> str:
    """What an outsider is told who asks to resolve something, without what was typed."""
    before = len(desk.slack.ephemerals(OUTSIDER))
    await desk.slack.slash("alerts", "/resolve", said, user=OUTSIDER)
    await desk.slack.wait_until(lambda: len(desk.slack.ephemerals(OUTSIDER)) > before)
    told = str(desk.slack.ephemerals(OUTSIDER)[-1]["text"])
    assert said in told
    return told.replace(said, "…")


async def test_a_private_incident_is_like_one_that_is_not_there(office: Desk) -> None:
    ts = await office.alert("unknown-ledger-drift", SECRET)
    incident_id = await office.memory.incidents.find_incident(SECRET, ts) or ""
    typed = [link(SECRET, ts), link(SECRET, "1700000000.000100"), link("C0NOSUCH", ts), incident_id, "INC-999",
             incident_id.removeprefix("INC-"), link(SECRET, "1.1".zfill(17), f"?thread_ts={ts}")]  # fmt: skip
    assert {await asked(office, said) for said in typed} == {"There is no incident … that you may see from here."}


async def test_forged_ids_are_answered_like_unknown_ones(office: Desk) -> None:
    ts = await office.alert("unknown-ledger-drift", SECRET)
    incident_id = await office.memory.incidents.find_incident(SECRET, ts) or ""
    said: dict[str, set[str]] = {"C0ALERTS": set(), SECRET: set()}
    for channel, told in said.items():
        for name in (incident_id, "INC-999"):
            metadata = json.dumps({"i": name, "c": channel})
            view = {"type": "modal", "callback_id": ids.RESOLVE_VIEW, "id": "V1", "private_metadata": metadata}
            answer = await dispatch(office, OUTSIDE | {"type": "view_submission", "view": view})
            told.add(str(answer.body).replace(name, "…"))
    assert [len(told) for told in said.values()] == [1, 1]
    assert "no incident" in said["C0ALERTS"].pop()
    assert "only members of that channel" in said[SECRET].pop().lower()
    assert (await office.memory.incidents.read_record(incident_id)).attempts == ()


OUTSIDE: dict[str, Any] = BASE | {"user": {"id": "U0BOB"}}


@pytest.mark.parametrize("action", [ids.FIXED, ids.RECORD])
async def test_buttons_with_forged_ids(office: Desk, action: str) -> None:
    ts = await office.alert("unknown-ledger-drift", SECRET)
    incident_id = await office.memory.incidents.find_incident(SECRET, ts) or ""
    told = set()
    for count, name in enumerate((incident_id, "INC-999"), start=1):
        ts = (await office.slack.post_as_app("alerts", {"text": "x", "blocks": [forged(action, name)]}))["ts"]
        await office.slack.click("alerts", ts, action, user="bob")
        await office.slack.wait_until(partial(has_heard, office, count))
        told.add(str(office.slack.ephemerals("bob")[-1]["text"]).replace(name, "…"))
    assert told == {"There is no incident … that you may see from here."}


def has_heard(desk: Desk, count: int) -> bool:
    return len(desk.slack.ephemerals(OUTSIDER)) == count


def forged(action: str, name: str) -> dict[str, Any]:
    element = {"type": "button", "action_id": action, "value": json.dumps({"i": name, "f": "x"})}
    return {"type": "actions", "block_id": "b", "elements": [element | {"text": {"type": "plain_text", "text": "x"}}]}


async def test_who_has_left_the_channel_can_no_longer_record(office: Desk) -> None:
    await office.seed()
    ts = await office.alert("payment-gateway-504", SECRET)
    talk = await office.slack.post("sec-incidents", "slow", user="alice")
    brief = office.brief(ts, SECRET)
    views = []
    for open_it in (
        office.slack.click("sec-incidents", brief["ts"], ids.RECORD, user="alice"),
        office.slack.shortcut(ids.RESOLVE_FROM_MESSAGE, "sec-incidents", talk["ts"], user="alice"),
    ):
        await open_it
        view = await office.slack.wait_until(lambda: office.slack.view("alice"))
        assert view is not None
        views.append(dict(view))
        await office.slack.close_view(user="alice")
    office.slack.core.workspace.channel("sec-incidents").members.remove("U0ALICE")
    later(office)
    for view in views:
        view["state"] = {"values": {k: {ids.INPUT: {"value": v}} for k, v in SAID.items()}}
        answer = await dispatch(office, BASE | {"type": "view_submission", "view": view})
        assert "Only members of that channel" in answer.body
    action = {"type": "button", "action_id": ids.FIXED, "value": fixed_value(brief)}
    told = {"type": "block_actions", "channel": {"id": SECRET}, "actions": [action], "message": {"ts": brief["ts"]}}
    await dispatch(office, BASE | told)
    await wait()
    incident_id = await office.memory.incidents.find_incident(SECRET, ts) or ""
    assert (await office.memory.incidents.read_record(incident_id)).attempts == ()
    assert await office.memory.incidents.find_incident(SECRET, talk["ts"]) is None


async def test_a_member_records_as_ever(office: Desk) -> None:
    ts = await office.alert("unknown-ledger-drift", SECRET)
    await office.slack.click("sec-incidents", office.brief(ts, SECRET)["ts"], ids.RECORD, user="alice")
    await office.slack.wait_until(lambda: office.slack.view("alice"))
    assert (await office.slack.submit_view(SAID, user="alice")).errors == {}


def later(desk: Desk) -> None:
    assert isinstance(desk.deps.clock, SteppingClock)
    desk.deps.clock.at += timedelta(minutes=2)


def fixed_value(brief: dict[str, Any]) -> str:
    elements = [e for b in brief["blocks"] if b["type"] == "actions" for e in b["elements"]]
    return next(str(e["value"]) for e in elements if e["action_id"] == ids.FIXED)


async def test_a_secret_in_a_message_is_masked_before_it_is_shown_or_recorded(office: Desk) -> None:
    posted = await office.slack.post("alerts", "ledger down, password=hunter2secret was wrong", user="bob")
    await office.slack.shortcut(ids.RESOLVE_FROM_MESSAGE, "alerts", posted["ts"], user="alice")
    view = await office.slack.wait_until(lambda: office.slack.view("alice"))
    assert "hunter2secret" not in json.dumps(view)
    assert (await office.slack.submit_view(SAID, user="alice")).errors == {}
    incident_id = await office.memory.incidents.find_incident("C0ALERTS", posted["ts"]) or ""
    title = (await office.memory.incidents.read_record(incident_id)).title
    assert title.startswith("ledger down")
    assert "hunter2secret" not in title
    await office.slack.shortcut(ids.RECALL_FROM_MESSAGE, "alerts", posted["ts"], user="alice")
    assert "hunter2secret" not in await office.whisper()
