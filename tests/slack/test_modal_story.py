"""The resolve modal on a local Slack: choices, lines from the thread, and recording once more."""

from __future__ import annotations

import json
from typing import Any

from bot.slack import ids
from bot.slack.views.forms import read_block_base
from tests.slack.conftest import Desk
from tests.slack.listeners.corrections_support import press_record, told

SECRET = "xoxb-" + "1234567890-abcdefghijkl"


def inputs(desk: Desk, user: str = "alice") -> dict[str, Any]:
    """The inputs of a user's modal by the block that is asked."""
    view = desk.slack.view(user) or {}
    return {read_block_base(b["block_id"]): b for b in view["blocks"] if b["type"] == "input"}


async def pressed(desk: Desk, action_id: str, user: str = "alice") -> str:
    """Press a button in the modal; what it shows then."""
    before = (desk.slack.view(user) or {})["hash"]
    assert (await desk.slack.click_view(action_id, user=user)).acked
    await desk.slack.wait_until(lambda: (desk.slack.view(user) or {"hash": before})["hash"] != before)
    return json.dumps(desk.slack.view(user), ensure_ascii=False)


async def test_known_words_lines_of_the_thread_and_what_was_recorded(office: Desk) -> None:
    await office.seed()
    ts = await office.alert()
    await office.slack.post("alerts", f"switched payouts, token {SECRET}", user="bob", thread_ts=ts)
    await press_record(office, office.brief(ts)["ts"], "alice")
    asked = inputs(office)
    assert all("initial_option" not in asked[b]["element"] for b in (ids.OUTCOME, ids.KNOWN_FIX, ids.KNOWN_CHECKS))
    assert not office.slack.counters().get("begun:conversations.replies")

    await office.slack.fill({ids.FIX: "Called the vendor"}, user="alice")
    await office.slack.fail("ratelimited", "conversations.replies")
    assert "could not be read" in await pressed(office, f"{ids.FROM_THREAD}.{ids.FIX}")
    assert "1 lines of the thread are in" in await pressed(office, f"{ids.FROM_THREAD}.{ids.FIX}")
    steps = inputs(office)[ids.FIX]["element"]["initial_value"]
    assert steps.startswith("Called the vendor\nswitched payouts, token ")
    assert SECRET not in steps

    checks = [o["value"] for o in asked[ids.KNOWN_CHECKS]["element"]["options"]][:2]
    fix = asked[ids.KNOWN_FIX]["element"]["options"][0]["value"]
    said = {ids.OUTCOME: "recovered", ids.KNOWN_FIX: fix, ids.KNOWN_CHECKS: checks, ids.ROOT_CAUSE: "their edge"}
    assert (await office.slack.submit_view(said, user="alice")).errors == {}
    await office.work()
    incident_id = await office.memory.incidents.find_incident("C0ALERTS", ts) or ""
    record, form = (
        await office.memory.incidents.read_record(incident_id),
        await office.deps.resolve.open_form(incident_id),
    )
    (attempt,) = record.attempts
    assert (attempt.fix, attempt.note) == (form.known_fixes[0].fix, steps)
    assert [c.check for c in record.failed_checks] == list(form.usual_checks[:2])

    await press_record(office, office.brief(ts)["ts"], "bob")
    assert "Recorded already" in json.dumps(office.slack.view("bob"))
    await pressed(office, ids.MORE_FIELDS, "bob")
    again = {ids.OUTCOME: "no", ids.FIX: "Restart it", ids.ROOT_CAUSE: "our proxy", ids.IMPACT: "payouts late"}
    assert (await office.slack.submit_view(again, user="bob")).errors == {}
    await office.work()
    assert "*Root cause*: their edge → our proxy" in told(office, ts)
    assert (await office.memory.incidents.read_record(incident_id)).customer_impact == "payouts late"
