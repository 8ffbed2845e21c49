"""Memory, time and reset, as the page switches them; and that the traffic panel gets no tokens."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.playground import LocalSlack
from bot.playground.control_api import mask_tokens
from bot.playground.page import build_page_state
from bot.playground.workspace.state import SlackRefused


class Beside:
    """An app that is started again when asked to."""

    def __init__(self) -> None:
        self.memory = True
        self.starts = 1

    async def switch_memory(self, *, on: bool) -> None:
        self.memory = on

    async def restart(self, clear: Callable[[], None]) -> None:
        clear()
        self.starts += 1


async def test_reset_puts_everything_back_and_keeps_people_and_tokens(
    slack: LocalSlack, client: AsyncWebClient
) -> None:
    app = Beside()
    slack.board.host = app
    before = build_page_state(slack, "", "", "")
    await slack.post("#alerts", "slow")
    await slack.leave("#alerts")
    await slack.add_channel("more")
    await slack.limit(3)
    await slack.later(72)
    await slack.switch_memory(on=False)
    assert app.memory is False
    shown = build_page_state(slack, "", "", "")["switches"]
    assert shown == {"hosted": True, "memory": False, "hours_later": 72.0}
    later = await slack.post("#random", "three days on")
    await slack.reset()
    after = build_page_state(slack, "", "", "")
    assert app.starts == 2
    assert {k: v for k, v in after.items() if k not in ("version", "switches")} == {
        k: v for k, v in before.items() if k not in ("version", "switches")
    }
    assert after["switches"] == {"hosted": True, "memory": True, "hours_later": 0.0}
    assert slack.counters() == {}
    now = await slack.post("#alerts", "again")
    assert float(later["ts"]) - float(now["ts"]) > 71 * 3600
    assert (await client.auth_test())["ok"]


async def test_without_an_app_of_its_own_nothing_can_be_switched(slack: LocalSlack) -> None:
    for act in (slack.reset(), slack.switch_memory(on=False)):
        with pytest.raises(SlackRefused, match="no_host"):
            await act
    for hours in (0, -1, float("nan"), 1e9):
        with pytest.raises(ValueError, match="hours"):
            await slack.later(hours)


async def test_what_is_unread_is_told_for_each_person(slack: LocalSlack) -> None:
    mine = await slack.post("#alerts", "mine", user="alice")
    to_bob = await slack.post("#alerts", "<@U0BOB> look", user="alice")
    seen = {
        user: next(c for c in build_page_state(slack, user, "", "")["channels"] if c["name"] == "alerts")
        for user in ("U0ALICE", "U0BOB")
    }
    assert (seen["U0ALICE"]["recent"], seen["U0ALICE"]["mentions"]) == ([], [])
    assert seen["U0BOB"]["recent"] == [mine["ts"], to_bob["ts"]]
    assert seen["U0BOB"]["mentions"] == [to_bob["ts"]]


def test_tokens_tickets_and_secret_addresses_are_covered() -> None:
    said = {
        "args": {"token": "xoxb-1", "text": "my xapp-1-A-b and xoxp-2 leaked", "trigger_id": "1.2"},
        "list": ["ws://x/link/?ticket=ticket-4&app_id=A", ("http://x/response/r01", "http://x/upload/F1/ab12")],
        "n": 3,
    }
    assert mask_tokens(said) == {
        "args": {"token": "[hidden]", "text": "my [hidden] and [hidden] leaked", "trigger_id": "[hidden]"},
        "list": [
            "ws://x/link/?ticket=[hidden]&app_id=A",
            ["http://x/response/[hidden]", "http://x/upload/[hidden]"],
        ],
        "n": 3,
    }
