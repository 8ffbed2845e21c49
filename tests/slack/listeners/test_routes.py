"""The tables of routes: which listener answers what, and the help that is made of them."""

from __future__ import annotations

import json

import pytest

from bot.slack import ids
from bot.slack.listeners import nudge, routes
from bot.slack.listeners.routes import ACTIONS, COMMANDS, HELP, MENU, SUBCOMMANDS, SUBMISSIONS, find_action
from bot.slack.views.help import render_help
from tests.slack.conftest import Desk, pressed


def test_the_help_has_a_line_for_every_command_and_every_word() -> None:
    usages = [line.usage for line in HELP]
    assert [usage.split()[0] for usage in usages[: len(COMMANDS)]] == list(COMMANDS)
    assert [usage.split()[1] for usage in usages[len(COMMANDS) :]] == list(SUBCOMMANDS)
    text = json.dumps(render_help(HELP).blocks, ensure_ascii=False)
    assert "• `/precedent purge INC-…` remove a record for good" in text
    assert "• `/recall &lt;text&gt; [vendor:" in text


@pytest.mark.parametrize(
    ("action_id", "listener"),
    [
        (ids.FIXED, ACTIONS[ids.FIXED]),
        (f"{ids.AGAIN}.partly", ACTIONS[ids.AGAIN]),
        (f"{ids.NUDGE}.record", nudge.open_resolve),
        (f"{ids.NUDGE}.worked", nudge.answer),
        (f"{ids.FROM_THREAD}.root_cause", ACTIONS[ids.FROM_THREAD]),
        ("precedent.frobnicate", None),
        ("", None),
    ],
)
def test_a_button_is_found_by_its_id_or_by_what_is_before_its_answer(action_id: str, listener: object) -> None:
    assert find_action(action_id) is listener


def test_every_view_that_can_be_submitted_has_a_listener() -> None:
    views = {value for name, value in vars(ids).items() if name.endswith("_VIEW")} - {ids.INFO_VIEW}
    assert views == set(SUBMISSIONS)
    assert set(MENU) == {ids.WRONG, ids.COMPARE, ids.MUTE, ids.POSTMORTEM, ids.NOT_ALERT}


async def test_an_unknown_word_is_answered_with_the_help(unconnected: Desk) -> None:
    it, told = pressed({}, text="Frobnicate now", command="/precedent")
    await routes.run_command(unconnected.deps, it)
    assert "I do not know “frobnicate”" in json.dumps(told, ensure_ascii=False)
    assert "/precedent retract INC-…" in json.dumps(told, ensure_ascii=False)
