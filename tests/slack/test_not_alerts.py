"""Posts that are no alerts: the bot neither answers nor marks them, and keeps nothing of their text."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.domain.recall.query import OPERATOR
from tests.slack.conftest import ROOT, Desk

CASES = ROOT / "tests" / "parsers" / "cases"
# Told by what happens to the message, not by a post of its own.
NO_POSTS = {"deleted", "self"}


def no_alerts() -> list[str]:
    found = []
    for path in sorted(CASES.glob("*/*.alert.json")):
        facts = json.loads(path.read_text(encoding="utf-8"))
        if facts["is_alert"] is False and facts["kind"] not in NO_POSTS:
            found.append(str(path.relative_to(CASES))[: -len(".alert.json")])
    return found


def event(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))
    return loaded


async def unanswered(desk: Desk, before: int) -> None:
    assert [m for m in desk.slack.timeline("C0ALERTS") if m.get("bot_id") == desk.slack.bot_id] == []
    said = ("chat.postMessage", "chat.update", "chat.postEphemeral", "reactions.add")
    assert [call for name in said for call in desk.slack.calls(name)][before:] == []


def said(desk: Desk) -> int:
    return sum(len(desk.slack.calls(n)) for n in ("chat.postMessage", "chat.update", "reactions.add"))


async def test_what_is_no_alert_is_not_answered(office: Desk) -> None:
    names = no_alerts()
    assert len(names) > 15
    for name in names:
        posted = event(name)
        if posted.get("subtype") in {"message_changed", "message_deleted"}:
            continue
        await office.slack.deliver_message("C0ALERTS", posted)
    await office.work()
    await unanswered(office, 0)
    kept = {r.kind: r.body["event"] for r in office.inbox.kept if r.body is not None}
    assert kept.keys() <= {"reference"}  # a link to a message may belong to an incident
    words = {"text", "blocks", "attachments", "files"}
    assert [e for e in kept.values() if words & {*e, *e.get("message", {})}] == []
    assert await office.memory.incidents.list_open_lifecycles(OPERATOR) == ()


@pytest.mark.parametrize(
    "text", ["Dead man's switch: Watchdog is alive", "lunch?", "deploying payments-api v3.2 :rocket:"]
)
async def test_people_talking_are_left_alone(office: Desk, text: str) -> None:
    await office.slack.post("alerts", text, user="bob")
    await office.work()
    await unanswered(office, 0)


async def test_a_heartbeat_is_no_incident(office: Desk) -> None:
    await office.slack.deliver_message("C0ALERTS", event("alertmanager/watchdog"))
    await office.work()
    await unanswered(office, 0)


async def test_our_own_posts_are_no_alerts(office: Desk) -> None:
    await office.seed()
    ts = await office.alert()
    brief = office.brief(ts)
    before = said(office)
    await office.slack.edit("alerts", brief["ts"], text="CRITICAL: [FIRING:1] GatewayErrors payments-api")
    payload = {"text": ":rotating_light: [FIRING:1] GatewayErrors payments-api critical"}
    own = office.slack.core.workspace.bot.name
    await office.slack.post_as_app("alerts", payload, app=own)
    await office.work()
    assert said(office) == before
    assert len(office.slack.replies("C0ALERTS", ts)) == 1
