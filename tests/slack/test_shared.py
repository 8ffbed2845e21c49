"""Channels that are shared with another organisation: the bot is silent there, and says why to whoever asks it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from bot.domain.access.visibility import Viewer
from bot.slack import ids
from tests.slack.conftest import Desk, SteppingClock, wait

PARTNERS = "C0PARTNERS"
SAID = {"outcome": "recovered", "fix": "Flush the ledger cache"}


def ours(desk: Desk) -> list[Any]:
    """What the bot posted in the shared channel."""
    return [m for m in desk.slack.timeline(PARTNERS) if m.get("bot_id") == desk.slack.bot_id]


async def test_no_hello_no_help_and_no_brief(office: Desk) -> None:
    await office.slack.leave("partners")
    await office.slack.invite("partners", inviter="alice")
    await office.slack.post("partners", f"<@{office.slack.bot_user}> help", user="alice")
    await office.alert("unknown-ledger-drift", PARTNERS)
    assert ours(office) == []


async def test_no_help_where_slack_does_not_say_what_a_channel_is(office: Desk) -> None:
    await office.slack.fail("channel_not_found", "conversations.info")
    await office.slack.post("alerts", f"<@{office.slack.bot_user}> help", user="alice")
    await office.work()
    assert office.slack.calls("chat.postMessage") == []
    assert list(await office.memory.inbox.claim(5)) == []


@pytest.mark.parametrize(
    ("command", "said"),
    [("/recall", "ledger"), ("/recall", ""), ("/digest", "7d"), ("/digest", "x"), ("/incidents", ""), ("/resolve", ""),
     ("/resolve", "INC-1"), ("/resolve", "INC-99"), ("/precedent", "status")],
)  # fmt: skip
async def test_commands_are_refused_with_the_reason(office: Desk, command: str, said: str) -> None:
    await office.alert("unknown-ledger-drift")
    await office.slack.slash("partners", command, said, user="alice")
    told = await office.whisper()
    assert "shared with another organisation" in told
    assert "INC-" not in told
    assert office.slack.view("alice") is None


@pytest.mark.parametrize("shortcut", [ids.RESOLVE_FROM_MESSAGE, ids.RECALL_FROM_MESSAGE])
async def test_message_menus_are_refused(office: Desk, shortcut: str) -> None:
    posted = await office.slack.post("partners", "ledger drifts", user="alice")
    await office.slack.shortcut(shortcut, "partners", posted["ts"], user="alice")
    assert "shared with another organisation" in await office.whisper()
    assert office.slack.view("alice") is None


@pytest.mark.parametrize("button", [ids.FIXED, ids.RECORD])
async def test_buttons_of_a_brief_are_refused_once_its_channel_is_shared(office: Desk, button: str) -> None:
    await office.seed()
    ts = await office.alert()
    share(office)
    await office.slack.click("alerts", office.brief(ts)["ts"], button, user="alice")
    assert "shared with another organisation" in await office.whisper()
    assert office.slack.view("alice") is None


async def test_a_modal_that_was_open_when_its_channel_became_shared_records_nothing(office: Desk) -> None:
    ts = await office.alert("unknown-ledger-drift")
    talk = await office.slack.post("alerts", "slow", user="bob")
    await office.slack.click("alerts", office.brief(ts)["ts"], ids.RECORD, user="alice")
    await office.slack.shortcut(ids.RESOLVE_FROM_MESSAGE, "alerts", talk["ts"], user="bob")
    await office.slack.wait_until(lambda: office.slack.view("alice") and office.slack.view("bob"))
    share(office)
    for user in ("alice", "bob"):
        (said,) = (await office.slack.submit_view(SAID, user=user)).errors.values()
        assert "shared with another organisation" in said
        assert "try again" not in said
    await wait()
    incident_id = await office.memory.incidents.find_incident("C0ALERTS", ts) or ""
    assert (await office.memory.incidents.read_record(incident_id)).attempts == ()
    assert await office.memory.incidents.find_incident("C0ALERTS", talk["ts"]) is None


def share(desk: Desk) -> None:
    """The alerts' channel becomes shared, and what the bot knew of it is old."""
    desk.slack.core.workspace.channel("alerts").is_ext_shared = True
    assert isinstance(desk.deps.clock, SteppingClock)
    desk.deps.clock.at += timedelta(minutes=11)


async def test_nobody_sees_anything_there(office: Desk) -> None:
    assert await office.deps.access.find_viewer(PARTNERS) == Viewer(frozenset())
