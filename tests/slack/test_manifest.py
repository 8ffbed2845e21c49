"""The app manifest states what the code listens to, within Slack's limits."""

from __future__ import annotations

from bot.doctor.examine import NEEDED_SCOPES
from bot.slack import ids
from bot.slack.listeners.routes import COMMANDS
from tests.slack.conftest import MANIFEST, ROOT

SCOPES = MANIFEST["oauth_config"]["scopes"]
# What each subscription of the Events API needs.
NEEDED = {
    "app_mention": "app_mentions:read", "message.channels": "channels:history", "message.groups": "groups:history",
    "message.im": "im:history", "reaction_added": "reactions:read", "member_joined_channel": "channels:read",
    "channel_archive": "channels:read",
}  # fmt: skip


def test_every_command_of_the_code_is_in_the_manifest_and_the_other_way_round() -> None:
    stated = {c["command"] for c in MANIFEST["features"]["slash_commands"]}
    assert stated == {*COMMANDS, "/precedent"}


def test_the_shortcuts_are_the_codes() -> None:
    stated = {s["callback_id"]: s for s in MANIFEST["features"]["shortcuts"]}
    assert set(stated) == {ids.RESOLVE_FROM_MESSAGE, ids.RECALL_FROM_MESSAGE}
    assert all(s["type"] == "message" and len(s["name"]) <= 24 for s in stated.values())


def test_the_texts_fit() -> None:
    about = MANIFEST["display_information"]
    assert len(about["name"]) <= 35
    assert len(about["description"]) <= 140
    assert all(len(c["description"]) <= 2000 for c in MANIFEST["features"]["slash_commands"])


def test_every_event_has_its_scope_and_optional_ones_are_asked_for_too() -> None:
    events = MANIFEST["settings"]["event_subscriptions"]["bot_events"]
    assert {NEEDED[e] for e in events if e in NEEDED} <= set(SCOPES["bot"])
    assert set(SCOPES["bot_optional"]) < set(SCOPES["bot"])
    assert not set(SCOPES["bot_optional"]) & set(NEEDED_SCOPES)
    assert not any(scope.startswith(("users:read.email", "search:", "admin")) for scope in SCOPES["bot"])


def test_every_scope_and_event_says_what_it_is_for() -> None:
    lines = (ROOT / "manifest.yml").read_text(encoding="utf-8").splitlines()
    stated = {*SCOPES["bot"], *MANIFEST["settings"]["event_subscriptions"]["bot_events"]}
    bare = sorted(line.strip().removeprefix("- ") for line in lines if line.strip().removeprefix("- ") in stated)
    assert bare == sorted(SCOPES["bot_optional"])  # where they are marked, not where they are asked for


def test_socket_mode_and_buttons_are_on() -> None:
    assert MANIFEST["settings"]["socket_mode_enabled"] is True
    assert MANIFEST["settings"]["interactivity"]["is_enabled"] is True
