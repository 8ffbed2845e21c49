"""Details and Compare on a local Slack: everything behind a brief, and nothing that the asker may not see any more."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from bot.domain.incidents.record import Source
from bot.domain.recall.query import OPERATOR
from bot.domain.recall.ranking import OutsideMemory
from bot.ports.unit_of_work import Changes
from bot.slack import ids
from bot.slack.payload import decode, encode
from bot.slack.views.details_modal import MOST_BLOCKS, build_details_view
from bot.workflows.recall.details import BriefDetails
from tests.slack import cases
from tests.slack.conftest import Desk
from tests.slack.listeners.channel_support import choose, go_on
from tests.slack.listeners.corrections_support import recorded, refused
from tests.slack.listeners.details_support import LEDGER, details, text_of

SECRET = "C0SECRET"


async def test_details_show_every_source_and_why_it_counts(desk: Desk) -> None:
    await desk.seed()
    ts = await desk.alert()
    shown = await details(desk, ts)
    incident_id = await desk.memory.incidents.find_incident("C0ALERTS", ts) or ""
    (posted,) = await desk.memory.incidents.list_briefs(incident_id)
    brief = posted.brief
    assert len(brief.sources) >= 3
    for line in (*brief.sources, *brief.possible):
        assert line.incident_id in shown
        assert all(reason.split(" ")[0] in shown for reason in line.why)
    for number, _ in enumerate(brief.steps, 1):
        assert f"{number}. " in shown
    for rated in brief.alternatives:
        assert rated.fix.splitlines()[0][:40] in shown
    assert "why: " in shown
    assert "POSSIBLE, never counted" in shown or not brief.possible
    assert "Computed anew" not in shown
    trace = shown.partition("*TRACE*")[2]
    steps = [
        trace.find(step)
        for step in ("> alert", "> read", f"— recalled: {len(brief.sources)} strong", "> decided", "> posted: ")
    ]
    assert -1 not in steps
    assert steps == sorted(steps)


async def test_compare_shows_both_briefs(office: Desk) -> None:
    await office.seed()
    ts = await office.alert()
    await choose(office, ts, ids.COMPARE)
    await office.slack.wait_until(lambda: office.slack.view("bob"))
    shown = text_of(office.slack.view("bob"))
    first, second = shown.split("Without memory", 1)
    assert "RESOLUTION STEPS" in first
    assert "RESOLUTION STEPS" not in second
    assert "INC-" not in second.replace(await office.memory.incidents.find_incident("C0ALERTS", ts) or "", "")
    assert "COLLECT" in second


async def test_who_left_the_private_channel_sees_nothing(office: Desk) -> None:
    await recorded(office, channel=SECRET)
    ts = await office.alert(LEDGER, SECRET)
    assert "Flush the ledger cache of quagga" in await details(office, ts, "alice", SECRET)
    await office.slack.close_view(user="alice")
    message = office.brief(ts, SECRET)
    await office.slack.leave(SECRET, "alice")
    go_on(office, minutes=5)
    value = encode({"i": await office.memory.incidents.find_incident(SECRET, ts)})
    for action in (ids.DETAILS, ids.MORE):
        before = len(office.slack.ephemerals("alice"))
        posted = await office.slack.post_as_app("alerts", {"text": "x", "blocks": [forged(action, value)]})
        choice = encode(decode(value) | {"do": ids.COMPARE})
        await office.slack.click(
            "alerts", posted["ts"], action, user="alice", **({"choice": choice} if action == ids.MORE else {})
        )
        found = await office.slack.wait_until(lambda before=before: office.slack.ephemerals("alice")[before:])  # type: ignore[misc]  # mypy cannot infer a lambda with a default
        assert "that you may see from here" in found[-1]["text"]
        assert office.slack.view("alice") is None
    assert "quagga" in json.dumps(message)


def forged(action: str, value: str) -> dict[str, Any]:
    element: dict[str, Any] = {"type": "button", "action_id": action, "value": value}
    element["text"] = {"type": "plain_text", "text": "x"}
    if action == ids.MORE:
        choice = {
            "text": {"type": "plain_text", "text": "x"},
            "value": encode(decode(value) | {"do": "compare"}),
        }
        element = {"type": "overflow", "action_id": action, "options": [choice]}
    return {"type": "actions", "elements": [element]}


async def test_what_the_channel_may_not_see_any_more_is_not_in_its_details(office: Desk) -> None:
    """A record that became private since the brief was posted; and one that is gone."""
    first = await recorded(office)
    ts = await office.alert(LEDGER)
    assert first in await details(office, ts)
    record = await office.memory.incidents.read_record(first)
    hidden = replace(record, source=Source("slack", None, SECRET, f"private:{SECRET}"))
    await office.memory.incidents.commit(Changes(records=(hidden,)))
    await office.slack.close_view(user="bob")
    shown = await details(office, ts)
    assert "Computed anew" in shown
    for word in (first, "quagga"):
        assert word not in shown
    await office.memory.incidents.commit(Changes(retracted=(first,)))
    await office.slack.close_view(user="bob")
    assert "quagga" not in await details(office, ts)
    assert await office.memory.incidents.list_records(OPERATOR, recallable_only=True) == ()
    assert "no record" in await refused(office, f"edit {first}", "alice")


def test_a_modal_holds_what_it_can() -> None:
    brief = cases.high()
    many = replace(brief, alternatives=brief.alternatives + tuple(
        replace(brief.recommendation, fix=f"fix {n}\n" + "long step " * 300) for n in range(80) if brief.recommendation
    ))  # fmt: skip
    outside = (OutsideMemory("doc-1", "what *others* wrote <!channel>"),)
    view = build_details_view(BriefDetails(many, True, outside))
    assert len(view["blocks"]) == MOST_BLOCKS + 1
    assert "which a modal has no room for" in text_of(view)
    few = text_of(build_details_view(BriefDetails(brief, False, outside)))
    assert "OUTSIDE MEMORY" in few
    assert "<!channel>" not in few
    for block in view["blocks"]:
        assert len(json.dumps(block.get("text", {}).get("text", ""))) < 6000
        assert len(block.get("text", {}).get("text", "")) <= 3000
