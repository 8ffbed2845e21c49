"""A 📝 on a message in an incident's thread: asked, answered, recorded once."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.domain.alerts.alert import NotAlert
from bot.slack.inbound.events import OwnIdentity, receive
from tests.slack.conftest import Desk
from tests.slack.listeners.corrections_support import told
from tests.slack.listeners.memo_reaction_support import marked, press

SECRET = "xoxb-" + "1234567890-abcdefghijkl"
NAME = "unknown-ledger-drift"


async def test_a_marked_message_is_recorded_once_after_it_was_answered(office: Desk) -> None:
    ts = await office.alert(NAME)
    said = await office.slack.post("alerts", f"flushed the *ledger* cache\ntoken {SECRET}", user="bob", thread_ts=ts)
    outside = await office.slack.post("alerts", "lunch?", user="bob")
    for other in (outside["ts"], office.brief(ts)["ts"], ts):
        await office.slack.react("alerts", other, "memo", user="alice")
    await office.slack.react("alerts", said["ts"], "eyes", user="alice")
    await office.work()
    assert office.slack.ephemerals("alice") == []

    asked = await marked(office, said["ts"], "alice")
    assert (asked["text"], asked["thread_ts"]) == ("Record this as the fix of INC-1?", ts)
    assert SECRET not in json.dumps(asked)
    second = await marked(office, said["ts"], "bob")
    assert (await office.memory.incidents.read_record("INC-1")).attempts == ()
    assert "INC-1" in await press(office, asked, "not_sure", "alice")
    assert "is recorded for *INC-1* already" in await press(office, second, "recovered", "bob")
    (attempt,) = (await office.memory.incidents.read_record("INC-1")).attempts
    assert (attempt.status, attempt.by, attempt.how) == ("UNVERIFIED", "U0ALICE", "reaction")
    assert attempt.fix.startswith("flushed the *ledger* cache\ntoken ")
    assert SECRET not in attempt.fix
    assert "recorded by <@U0ALICE>" in told(office, ts)
    await office.slack.unreact("alerts", said["ts"], "memo", user="bob")
    assert "already, by <@U0ALICE>: not verified" in json.dumps(await marked(office, said["ts"], "bob"))


async def test_what_a_message_says_after_it_was_changed_is_another_fix(office: Desk) -> None:
    ts = await office.alert(NAME)
    said = await office.slack.post("alerts", "flushed the cache", user="bob", thread_ts=ts)
    await press(office, await marked(office, said["ts"], "alice"), "not_sure", "alice")
    await office.slack.edit("alerts", said["ts"], text="restarted it, too")
    await press(office, await marked(office, said["ts"], "bob"), "recovered", "bob")
    fixes = [a.fix for a in (await office.memory.incidents.read_record("INC-1")).attempts]
    assert fixes == ["flushed the cache", "restarted it, too"]


async def test_what_was_changed_meanwhile_or_is_not_the_fix_is_not_recorded(office: Desk) -> None:
    ts = await office.alert(NAME)
    said = await office.slack.post("alerts", "flushed the cache", user="bob", thread_ts=ts)
    asked = await marked(office, said["ts"], "alice")
    await office.slack.edit("alerts", said["ts"], text="no, that was nothing")
    assert "changed or deleted since" in await press(office, asked, "recovered", "alice")
    asked = await marked(office, said["ts"], "bob")
    assert "Nothing was recorded" in await press(office, asked, "none", "bob")
    assert (await office.memory.incidents.read_record("INC-1")).attempts == ()


@pytest.mark.parametrize(
    "changed",
    [
        {"reaction": "eyes"},
        {"item": {"type": "file", "file": "F1"}},
        {"item": None},
        {"item": {"type": "message", "channel": "C1", "ts": "now"}},
        {"user": "UBOT"},
        {"user": None},
    ],
)
def test_only_a_persons_memo_on_a_message_is_kept(changed: dict[str, Any]) -> None:
    event = {"type": "reaction_added", "user": "U1", "reaction": "memo", "event_ts": "3.1"}
    event["item"] = {"type": "message", "channel": "C1", "ts": "1.2"}  # type: ignore[assignment]  # JSON of any shape
    own = OwnIdentity("BBOT", "UBOT")
    kept = receive({"event_id": "Ev1", "event": event}, lambda _: NotAlert("chatter", ""), own)
    assert kept is not None
    assert (kept.kind, (kept.body or {})["event"]["ts"]) == ("memo", "1.2")
    other = receive({"event_id": "Ev2", "event": event | changed}, lambda _: NotAlert("chatter", ""), own)
    assert other is not None
    assert (other.kind, other.body) == ("reaction_added", None)
