"""The question what ended an incident, in a direct message of the local Slack: its buttons, and who may press them."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.domain.resolutions.nudge import SHOWN, Nudge, NudgedIncident
from bot.playground.blocks.validate import validate_message
from bot.ports.errors import RecordRejected
from bot.slack import ids
from bot.slack.listeners.nudge import answer
from bot.slack.payload import decode
from bot.slack.views.nudge import BY_ITSELF, RECORD, STOP, WORKED, render_nudge, replace_buttons
from tests.slack import cases
from tests.slack.conftest import Desk, pressed
from tests.slack.listeners.nudge_support import EVENING, MORNING, ask, at, cleared

LEDGER = "unknown-ledger-drift"


async def press(desk: Desk, ts: str, answer: str, incident_id: str) -> str:
    """Press a button; the message as it is then."""
    direct = desk.slack.dm("alice")
    before = desk.slack.message(direct, ts)
    block = f"{ids.NUDGE}.{incident_id}"
    assert (await desk.slack.click(direct, ts, f"{ids.NUDGE}.{answer}", user="alice", block_id=block)).acked
    await desk.slack.wait_until(lambda: desk.slack.message(direct, ts) != before)
    await desk.work()
    return json.dumps(desk.slack.message(direct, ts), ensure_ascii=False)


async def test_a_person_is_asked_once_and_answers_with_a_press(office: Desk) -> None:
    at(office, EVENING)
    await office.seed()
    payment, ledger = await cleared(office, "payment-gateway-504", "alice"), await cleared(office, LEDGER, "alice")
    asked = await ask(office)
    text = json.dumps(asked, ensure_ascii=False)
    assert text.count("Suggested:") == text.count("The suggested fix worked") == 1
    assert office.slack.messages("C0ALERTS")[-1]["ts"] < asked["ts"]

    assert "recorded: it fixed it" in await press(office, asked["ts"], WORKED, payment)
    (attempt,) = (await office.memory.incidents.read_record(payment)).attempts
    assert (attempt.status, attempt.by, attempt.suggested) == ("VERIFIED", "U0ALICE", True)
    direct = office.slack.dm("alice")
    await office.slack.click(direct, asked["ts"], f"{ids.NUDGE}.{RECORD}", user="alice")
    view = await office.slack.wait_until(lambda: office.slack.view("alice"))
    assert decode((view or {})["private_metadata"])["i"] == ledger
    await office.slack.close_view(user="alice")
    assert "Not asked any more" not in text
    assert "has Undo" in await press(office, asked["ts"], STOP, ledger)
    await office.slack.slash("alerts", "/precedent", "rules", user="bob")
    assert "Not asked any more what ended it" in await office.whisper("bob")


async def test_a_guest_does_not_verify_and_what_fires_again_is_not_closed(office: Desk) -> None:
    at(office, EVENING)
    await office.seed()
    payment = await cleared(office, "payment-gateway-504", "alice")
    ledger, heap = [await cleared(office, name, "alice") for name in (LEDGER, "grafana-search-heap")]
    asked = await ask(office)
    assert "it cleared by itself" in await press(office, asked["ts"], BY_ITSELF, heap)
    value = {"i": heap, "c": "C0ALERTS"}
    message = {"text": "asked", "blocks": [{"type": "actions", "block_id": f"{ids.NUDGE}.{heap}"}]}
    it, told = pressed(value, action_id=f"{ids.NUDGE}.{BY_ITSELF}", message=message)
    await answer(office.deps, it)
    assert "Nothing was changed" in json.dumps(told)
    with pytest.raises(RecordRejected, match="older message"):
        await answer(office.deps, pressed(value, action_id=f"{ids.NUDGE}.other")[0])
    office.slack.core.workspace.user("alice").is_guest = True
    at(office, MORNING + timedelta(minutes=6))  # who people are is kept for five
    assert "not verified yet" in await press(office, asked["ts"], WORKED, payment)
    assert [a.status for a in (await office.memory.incidents.read_record(payment)).attempts] == ["UNVERIFIED"]
    await office.alert(LEDGER)
    assert (await office.memory.incidents.read_lifecycle(ledger)).state == "open"
    direct = office.slack.dm("alice")
    await office.slack.click(direct, asked["ts"], f"{ids.NUDGE}.{BY_ITSELF}", user="alice")
    assert "fires again" in await office.whisper("alice")
    assert (await office.memory.incidents.read_lifecycle(ledger)).state == "open"


def test_the_message_keeps_slacks_limits_and_its_buttons_go_one_by_one() -> None:
    one = NudgedIncident(
        "INC-81", "<!channel> *x*", "C0ALERTS", cases.NOW, "https://x.example/1", "Restart it; wait " * 200
    )
    many = tuple(replace(one, incident_id=f"INC-{n}") for n in range(SHOWN + 3))
    message = render_nudge(Nudge("U1", many))
    assert validate_message({"text": message.text, "blocks": list(message.blocks)}) == []
    said = json.dumps(message.blocks)
    assert "<!channel>" not in said
    assert "+3 more" in said
    assert said.count("precedent.nudge.worked") == SHOWN
    left = replace_buttons(message.blocks, "INC-1", "done")
    assert json.dumps(left).count("precedent.nudge.worked") == SHOWN - 1
    assert len(left) == len(message.blocks)
    assert "worked" not in json.dumps(render_nudge(Nudge("U1", (replace(one, suggested=None),))).blocks)
