"""Buttons, menus, modals, shortcuts, slash commands and the Home tab, as a Bolt app gets them."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from slack_bolt.async_app import AsyncApp
from slack_bolt.response import BoltResponse
from slack_sdk.errors import SlackApiError

from bot.playground import LocalSlack, SlackRefused
from bot.playground.modals import NO_ANSWER
from tests.playground.conftest import connected

ALERTS = "C0ALERTS"


def plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text}


def option(value: str) -> dict[str, Any]:
    return {"text": plain(value.title()), "value": value}


MENUS: list[dict[str, Any]] = [
    {
        "type": "section",
        "block_id": "pick",
        "text": plain("pick"),
        "accessory": {"type": "static_select", "action_id": "one", "placeholder": plain("…"), "options": [option("a"), option("b")]},
    },
    {
        "type": "actions",
        "block_id": "more",
        "elements": [
            {"type": "overflow", "action_id": "menu", "options": [option("mute"), option("compare")]},
            {"type": "multi_static_select", "action_id": "many", "option_groups": [{"label": plain("g"), "options": [option("x"), option("y")]}]},
            {"type": "datepicker", "action_id": "day", "initial_date": "2026-11-29"},
            {"type": "button", "action_id": "go", "text": plain("Go"), "value": "v", "style": "primary"},
        ],
    },
]  # fmt: skip


def modal(**more: Any) -> dict[str, Any]:
    text = {"type": "plain_text_input", "action_id": "text", "min_length": 2, "max_length": 5, "initial_value": "abc"}
    chosen = {
        "type": "checkboxes",
        "action_id": "boxes",
        "options": [option("x"), option("y")],
        "initial_options": [option("y")],
    }
    return {
        "type": "modal",
        "callback_id": "form",
        "title": plain("Form"),
        "submit": plain("Save"),
        "blocks": [
            {"type": "input", "block_id": "words", "label": plain("Words"), "element": text},
            {"type": "input", "block_id": "ticks", "label": plain("Ticks"), "element": chosen, "optional": True},
            {"type": "actions", "block_id": "row", "elements": [{"type": "button", "action_id": "next", "text": plain("Next")}]},
        ],
        **more,
    }  # fmt: skip


class Bodies(list[dict[str, Any]]):
    """What the app received, and how it answers view submissions and views.open."""

    answer: dict[str, Any]
    view: dict[str, Any]
    method = "views_open"


@pytest.fixture
async def bodies(slack: LocalSlack, app: AsyncApp) -> AsyncIterator[Bodies]:
    got = Bodies()
    got.answer, got.view = {}, modal()

    async def keep(ack: Any, body: dict[str, Any]) -> None:
        got.append(body)
        await ack()

    async def opener(ack: Any, body: dict[str, Any]) -> None:
        got.append(body)
        await ack()
        await getattr(app.client, got.method)(trigger_id=body["trigger_id"], view=got.view)

    async def submitted(ack: Any, body: dict[str, Any]) -> None:
        got.append(body)
        await ack(**got.answer)

    for name in ("one", "menu", "many", "day"):
        app.action(name)(keep)
    for name in ("go", "next"):
        app.action(name)(opener)
    for name in ("from_message", "everywhere"):
        app.shortcut(name)(keep)
    app.view("form")(submitted)
    app.view_closed("form")(keep)
    async with connected(slack, app):
        yield got


async def menus(app: AsyncApp, thread_ts: str | None = None) -> str:
    posted = await app.client.chat_postMessage(channel=ALERTS, text="menus", blocks=MENUS, thread_ts=thread_ts)
    return str(posted["ts"])


async def opened(slack: LocalSlack, app: AsyncApp, user: str = "alice") -> dict[str, Any]:
    await slack.click("#alerts", await menus(app), "go", user=user)
    view = await slack.wait_until(lambda: slack.view(user))
    assert view is not None
    return view


async def test_a_click_carries_message_container_state_and_choice(
    slack: LocalSlack, app: AsyncApp, bodies: Bodies
) -> None:
    root = await slack.post("#alerts", "root")
    ts = await menus(app, root["ts"])
    await slack.click("#alerts", ts, "one", choice="b", user="bob")
    await slack.click("#alerts", ts, "many", choice=["x", "y"], user="bob")
    await slack.click("#alerts", ts, "menu", choice="mute", block_id="more", user="bob")
    first, second, third = bodies
    assert first["user"]["id"] == "U0BOB"
    assert first["container"] == {
        "type": "message",
        "message_ts": ts,
        "channel_id": ALERTS,
        "is_ephemeral": False,
        "thread_ts": root["ts"],
    }
    assert first["message"]["blocks"][0]["block_id"] == "pick"
    assert first["actions"][0]["selected_option"]["value"] == "b"
    assert first["channel"] == {"id": ALERTS, "name": "alerts"}
    assert second["state"]["values"]["more"]["day"] == {"type": "datepicker", "selected_date": "2026-11-29"}
    assert second["state"]["values"]["pick"]["one"]["selected_option"]["value"] == "b"
    assert [o["value"] for o in second["actions"][0]["selected_options"]] == ["x", "y"]
    assert third["actions"][0]["selected_option"]["text"]["text"] == "Mute"
    for action, choice, error in (("nothing", None, "no_such_action"), ("one", "z", "no_such_option")):
        with pytest.raises(SlackRefused, match=error):
            await slack.click("#alerts", ts, action, choice=choice)


async def test_the_channel_of_a_private_one_is_called_privategroup(
    slack: LocalSlack, app: AsyncApp, bodies: Bodies
) -> None:
    posted = await app.client.chat_postMessage(channel="C0SECRET", text="m", blocks=MENUS)
    await slack.click("#sec-incidents", posted["ts"], "one", choice="a")
    assert bodies[0]["channel"]["name"] == "privategroup"


async def test_without_a_handler_there_is_no_ack(slack: LocalSlack, app: AsyncApp, bodies: Bodies) -> None:
    block = {"type": "actions", "elements": [{"type": "button", "action_id": "unknown", "text": plain("?")}]}
    posted = await app.client.chat_postMessage(channel=ALERTS, text="m", blocks=[block])
    slack.hub.ack_timeout_s = 0.1
    outcome = await slack.click("#alerts", posted["ts"], "unknown")
    assert (outcome.acked, outcome.notice) == (False, NO_ANSWER)
    assert len(slack.deliveries("block_actions")) == 1  # interactions are not tried again


async def test_slacks_own_client_checks_inputs_first(slack: LocalSlack, app: AsyncApp, bodies: Bodies) -> None:
    await opened(slack, app)
    for text, error in (("", "required"), ("a", "at least 2"), ("abcdef", "at most 5")):
        outcome = await slack.submit_view({"words": text})
        assert error in outcome.errors["words"]
        assert not outcome.sent
    outcome = await slack.submit_view({"words.text": "abcd", "boxes": ["x"]})
    assert outcome.acked
    values = bodies[-1]["view"]["state"]["values"]
    assert values["words"]["text"] == {"type": "plain_text_input", "value": "abcd"}
    assert [o["value"] for o in values["ticks"]["boxes"]["selected_options"]] == ["x"]
    assert slack.views() == []
    with pytest.raises(SlackRefused, match="no_view_open"):
        await slack.submit_view()


async def test_initial_values_are_sent_and_unknown_inputs_refused(
    slack: LocalSlack, app: AsyncApp, bodies: Bodies
) -> None:
    await opened(slack, app)
    with pytest.raises(SlackRefused, match="no_such_input"):
        await slack.fill({"nowhere": "x"})
    await slack.submit_view()
    values = bodies[-1]["view"]["state"]["values"]
    assert values["words"]["text"]["value"] == "abc"
    assert [o["value"] for o in values["ticks"]["boxes"]["selected_options"]] == ["y"]


async def test_errors_are_shown_only_at_inputs_that_are_there(slack: LocalSlack, app: AsyncApp, bodies: Bodies) -> None:
    await opened(slack, app)
    bodies.answer = {"response_action": "errors", "errors": {"words": "no", "elsewhere": "?"}}
    outcome = await slack.submit_view()
    assert (outcome.errors, outcome.notice) == ({"words": "no"}, NO_ANSWER)
    assert slack.view_errors() == {"words": "no"}
    bodies.answer = {"response_action": "errors", "errors": {"words": "still no"}}
    outcome = await slack.submit_view()
    assert (outcome.errors, outcome.notice) == ({"words": "still no"}, "")


async def test_a_submission_can_update_push_and_clear(slack: LocalSlack, app: AsyncApp, bodies: Bodies) -> None:
    first = await opened(slack, app)
    bodies.answer = {"response_action": "update", "view": modal(title=plain("Second"))}
    await slack.submit_view({"words": "keep"})
    second = slack.view()
    assert second is not None
    assert (second["id"], second["title"]["text"], second["hash"] != first["hash"]) == (first["id"], "Second", True)
    assert second["state"]["values"]["words"]["text"]["value"] == "keep"
    bodies.answer = {"response_action": "push", "view": modal(title=plain("Third"))}
    await slack.submit_view()
    stack = slack.views()
    assert [v["title"]["text"] for v in stack] == ["Second", "Third"]
    assert (stack[1]["previous_view_id"], stack[1]["root_view_id"]) == (first["id"], first["id"])
    bodies.answer = {}
    await slack.submit_view()
    assert [v["title"]["text"] for v in slack.views()] == ["Second"]
    bodies.answer = {"response_action": "clear"}
    await slack.submit_view()
    assert slack.views() == []


@pytest.mark.parametrize(
    "answer",
    [
        {"response_action": "update", "view": {"type": "modal"}},
        {"response_action": "dance"},
        {"response_action": "errors", "errors": {}},
    ],
)
async def test_answers_that_slack_cannot_use_are_told_to_the_user(
    slack: LocalSlack, app: AsyncApp, bodies: Bodies, answer: dict[str, Any]
) -> None:
    @app.view("raw")
    async def on_raw(ack: Any) -> None:
        ack.response = BoltResponse(status=200, body=answer)  # Bolt itself would not send such an answer

    bodies.view = modal(callback_id="raw")
    await opened(slack, app)
    outcome = await slack.submit_view()
    assert (outcome.acked, outcome.notice) == (True, NO_ANSWER)
    assert len(slack.views()) == 1


async def test_a_push_onto_a_full_stack_is_told_to_the_user(slack: LocalSlack, app: AsyncApp, bodies: Bodies) -> None:
    await opened(slack, app)
    bodies.answer = {"response_action": "push", "view": modal()}
    assert [(await slack.submit_view()).notice for _ in range(3)] == ["", "", NO_ANSWER]
    assert len(slack.views()) == 3


async def test_a_submission_without_ack_keeps_the_modal(slack: LocalSlack, app: AsyncApp, bodies: Bodies) -> None:
    bodies.view = modal(callback_id="nobody")
    await opened(slack, app)
    slack.hub.ack_timeout_s = 0.1
    outcome = await slack.submit_view()
    assert (outcome.acked, outcome.notice) == (False, NO_ANSWER)
    assert len(slack.views()) == 1


async def test_a_trigger_opens_once_within_three_seconds(app: AsyncApp) -> None:
    clock = [1_800_000_000.0]
    async with await LocalSlack.start(now=lambda: clock[0], ack_timeout_s=0.01) as slack:
        app.client.base_url = slack.api_url
        triggers = [(await slack.slash("#alerts", "/x")).trigger_id for _ in range(2)]
        await app.client.views_open(trigger_id=triggers[0], view=modal())
        clock[0] += 3.1
        for trigger, error in (
            (triggers[0], "exchanged_trigger_id"),
            (triggers[1], "expired_trigger_id"),
            ("1.2.3", "invalid_trigger_id"),
        ):
            with pytest.raises(SlackApiError, match=error):
                await app.client.views_open(trigger_id=trigger, view=modal())


def _deep(slack: LocalSlack, depth: int) -> Callable[[], bool]:
    return lambda: len(slack.views()) == depth


async def test_the_stack_has_three_views_at_most_and_closes_from_the_top(
    slack: LocalSlack, app: AsyncApp, bodies: Bodies
) -> None:
    bodies.view = modal(notify_on_close=True)
    await opened(slack, app)
    bodies.method = "views_push"
    for depth in (2, 3):
        await slack.click_view("next")
        await slack.wait_until(_deep(slack, depth))
    trigger = (await slack.shortcut("everywhere")).trigger_id
    with pytest.raises(SlackApiError, match="push_limit_reached"):
        await app.client.views_push(trigger_id=trigger, view=modal())
    await slack.close_view()
    assert (len(slack.views()), bodies[-1]["type"], bodies[-1]["is_cleared"]) == (2, "view_closed", False)
    await slack.close_view(clear=True)
    assert (slack.views(), bodies[-1]["is_cleared"]) == ([], True)
    trigger = (await slack.shortcut("everywhere")).trigger_id
    with pytest.raises(SlackApiError, match="not_found"):
        await app.client.views_push(trigger_id=trigger, view=modal())


async def test_a_view_that_does_not_ask_is_closed_in_silence(slack: LocalSlack, app: AsyncApp, bodies: Bodies) -> None:
    await opened(slack, app)
    assert not (await slack.close_view()).sent
    assert [b["type"] for b in bodies] == ["block_actions"]


async def test_views_are_updated_by_id_or_external_id_with_the_right_hash(
    slack: LocalSlack, app: AsyncApp, bodies: Bodies
) -> None:
    bodies.view = modal(external_id="ext")
    view = await opened(slack, app)
    updated = await app.client.views_update(external_id="ext", view=modal(external_id="ext", private_metadata="m"))
    assert updated["view"]["private_metadata"] == "m"
    with pytest.raises(SlackApiError, match="hash_conflict"):
        await app.client.views_update(view_id=view["id"], hash=view["hash"], view=modal())
    await app.client.views_update(view_id=view["id"], hash=updated["view"]["hash"], view=modal(external_id="ext"))
    with pytest.raises(SlackApiError, match="not_found"):
        await app.client.views_update(view_id="V0NO", view=modal())
    trigger = (await slack.shortcut("everywhere", user="bob")).trigger_id
    with pytest.raises(SlackApiError, match="duplicate_external_id"):
        await app.client.views_open(trigger_id=trigger, view=modal(external_id="ext"))
    for bad in ({"type": "home", "blocks": []}, "x"):
        with pytest.raises(SlackApiError, match="invalid_arguments"):
            await app.client.api_call("views.open", json={"trigger_id": trigger, "view": bad})
    with pytest.raises(SlackApiError, match="invalid_arguments"):
        await app.client.views_open(trigger_id=trigger, view=modal(title=plain("x" * 25)))


async def test_each_user_has_an_own_screen(slack: LocalSlack, app: AsyncApp, bodies: Bodies) -> None:
    await opened(slack, app, "bob")
    assert slack.view("alice") is None
    await slack.click_view("next", user="bob")
    assert bodies[-1]["container"]["type"] == "view"
    assert bodies[-1]["view"]["state"]["values"]["words"]["text"]["value"] == "abc"


async def test_the_home_tab_is_opened_published_updated_and_clicked(
    slack: LocalSlack, app: AsyncApp, bodies: Bodies
) -> None:
    home = {"type": "home", "blocks": [{"type": "actions", "elements": [{"type": "datepicker", "action_id": "day"}]}]}

    @app.event("app_home_opened")
    async def on_home(event: dict[str, Any]) -> None:
        bodies.append(event)
        await app.client.views_publish(user_id=event["user"], view=copy.deepcopy(home))

    with pytest.raises(SlackRefused, match="not_found"):
        await slack.click_view("day", home=True)
    await slack.open_home(user="bob")
    shown = await slack.wait_until(lambda: slack.home("bob"))
    assert shown is not None
    await slack.click_view("day", home=True, user="bob", choice="2026-12-01")
    assert bodies[-1]["actions"][0]["selected_date"] == "2026-12-01"
    await slack.open_home(user="bob")
    await slack.idle()
    assert [b.get("view", {}).get("id") for b in bodies if b["type"] == "app_home_opened"] == [None, shown["id"]]
    await app.client.views_update(view_id=shown["id"], view=home)
    with pytest.raises(SlackApiError, match="hash_conflict"):
        await app.client.views_publish(user_id="U0BOB", view=home, hash="old")
    with pytest.raises(SlackApiError, match="user_not_found"):
        await app.client.views_publish(user_id="U0NO", view=home)
    assert slack.home("alice") is None


async def test_shortcuts_come_with_their_message_or_without(slack: LocalSlack, bodies: Bodies) -> None:
    ts = (await slack.post("#alerts", "this one"))["ts"]
    assert (await slack.shortcut("from_message", "#alerts", ts, user="bob")).acked
    assert (await slack.shortcut("everywhere")).acked
    assert (bodies[0]["type"], bodies[0]["message"]["text"], bodies[0]["message_ts"]) == (
        "message_action",
        "this one",
        ts,
    )
    assert bodies[1]["type"] == "shortcut"
    assert "channel" not in bodies[1]


async def test_invite_is_slacks_own_command(slack: LocalSlack) -> None:
    channel = slack.core.workspace.channel(await slack.add_channel("new", bot=False))
    assert slack.core.workspace.bot_user not in channel.members
    told = [await slack.slash("#new", "/invite", whom) for whom in ("@Nobody", "@Precedent", "@precedent", "")]
    assert [one.acked for one in told] == [False, True, False, False]
    assert "no one called @Nobody here" in told[0].notice
    assert "in this channel already" in told[2].notice
    assert slack.core.workspace.bot_user in channel.members


async def test_a_command_that_nobody_answers_or_knows_fails(slack: LocalSlack, bodies: Bodies) -> None:
    slack.hub.ack_timeout_s = 0.1
    outcome = await slack.slash("#alerts", "/lost", "x")
    assert (outcome.sent, outcome.acked) == (True, False)
    assert "operation_timeout" in outcome.notice
    slack.core.installed.commands = ({"command": "/recall"},)
    outcome = await slack.slash("#alerts", "/lost", "x")
    assert (outcome.sent, outcome.notice) == (False, "/lost is not a valid command.")


async def test_an_ephemeral_message_can_be_dismissed(slack: LocalSlack, app: AsyncApp) -> None:
    shown = await app.client.chat_postEphemeral(channel=ALERTS, user="U0BOB", text="x")
    await slack.dismiss(shown["message_ts"])
    assert slack.ephemerals() == []
