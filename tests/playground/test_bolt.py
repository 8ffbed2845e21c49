"""A real Bolt app runs against the local Slack unchanged."""

from __future__ import annotations

from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.playground import LocalSlack
from tests.playground.bolt_support import BUTTONS, MODAL
from tests.playground.conftest import connected


def _brief(app: AsyncApp, seen: list[dict[str, Any]]) -> None:
    @app.event("message")
    async def on_message(event: dict[str, Any], client: AsyncWebClient) -> None:
        seen.append(event)
        if not event.get("thread_ts") and not event.get("hidden"):
            await client.chat_postMessage(channel=event["channel"], thread_ts=event["ts"], text="brief", blocks=BUTTONS)


async def test_it_answers_an_alert_in_its_thread_with_buttons_and_records_in_a_modal(
    slack: LocalSlack, app: AsyncApp
) -> None:
    seen: list[dict[str, Any]] = []
    submitted: list[dict[str, Any]] = []
    _brief(app, seen)

    @app.action("record")
    async def on_record(ack: Any, body: dict[str, Any], client: AsyncWebClient) -> None:
        await ack()
        assert body["actions"][0]["value"] == "7"
        await client.views_open(trigger_id=body["trigger_id"], view=MODAL)

    @app.view("record")
    async def on_submit(ack: Any, view: dict[str, Any]) -> None:
        values = view["state"]["values"]
        submitted.append(values)
        if len(values["cause"]["cause_text"]["value"]) < 5:
            await ack(response_action="errors", errors={"cause": "say more"})
        else:
            await ack()

    async with connected(slack, app):
        alert = await slack.post_alert("#alerts", {"attachments": [{"color": "danger", "title": "Down"}]})
        reply = (await slack.wait_until(lambda: slack.replies("#alerts", alert["ts"])))[0]
        assert seen[0]["attachments"] == [
            {"color": "a30200", "title": "Down", "id": 1, "fallback": "[no preview available]"}
        ]
        assert seen[0]["subtype"] == "bot_message"

        assert (await slack.click("#alerts", reply["ts"], "record")).acked
        await slack.wait_until(slack.view)
        unsent = await slack.submit_view({})
        assert not unsent.sent
        assert unsent.errors.keys() == {"cause"}
        refused = await slack.submit_view({"cause_text": "db", "fixed": "yes"})
        assert refused.errors == {"cause": "say more"}
        assert slack.view() is not None
        taken = await slack.submit_view({"cause.cause_text": "certificate expired"})
        assert taken.acked
        assert slack.view() is None
        assert submitted[1]["fixed"]["fixed_choice"]["selected_option"]["value"] == "yes"


async def test_an_update_is_echoed_as_message_changed(slack: LocalSlack, client: AsyncWebClient) -> None:
    slack.hub.ack_timeout_s = 0.01  # nobody listens
    posted = await client.chat_postMessage(channel="C0ALERTS", text="one")
    await client.chat_update(channel="C0ALERTS", ts=posted["ts"], text="two")
    await slack.idle()
    changed = [d["payload"]["event"] for d in slack.deliveries("message") if d["attempt"] == 0][1]
    assert changed["subtype"] == "message_changed"
    assert (changed["previous_message"]["text"], changed["message"]["text"]) == ("one", "two")
    assert changed["message"]["bot_id"] == slack.bot_id


async def test_without_an_ack_an_event_is_delivered_again_up_to_three_times(slack: LocalSlack, app: AsyncApp) -> None:
    attempts: list[list[str] | None] = []

    @app.event("message")
    async def on_message(req: Any = None, request: Any = None) -> None:
        attempts.append((req or request).headers.get("x-slack-retry-num"))

    async with connected(slack, app):
        await slack.drop_acks(2)
        await slack.post("#alerts", "hello")
        await slack.idle()
        assert [d["attempt"] for d in slack.deliveries("message")] == [0, 1, 2]
        assert attempts == [["0"], ["1"], ["2"]]  # Socket Mode counts the first attempt, too
        assert slack.counters()["ack:message"] == 1


async def test_a_slash_command_works_in_a_channel_and_is_refused_in_a_thread(slack: LocalSlack, app: AsyncApp) -> None:
    texts: list[str] = []

    @app.command("/recall")
    async def on_recall(ack: Any, command: dict[str, Any], respond: Any) -> None:
        texts.append(command["text"])
        await ack("searching")
        await respond("found 3")

    async with connected(slack, app):
        root = await slack.post("#alerts", "hm")
        refused = await slack.slash("#alerts", "/recall", "razorpay 504", thread_ts=root["ts"])
        assert (refused.sent, refused.notice) == (False, "/recall is not supported in threads. Sorry!")
        assert texts == []
        assert (await slack.slash("#alerts", "recall", "razorpay 504", user="bob")).acked
        await slack.wait_until(lambda: len(slack.ephemerals("bob")) == 2)
        assert {m["text"] for m in slack.ephemerals("bob", "#alerts")} == {"searching", "found 3"}
        assert slack.ephemerals("alice") == []
        assert texts == ["razorpay 504"]


async def test_a_refresh_makes_the_app_connect_again(slack: LocalSlack, app: AsyncApp) -> None:
    seen: list[dict[str, Any]] = []
    _brief(app, seen)
    async with connected(slack, app):
        await slack.refresh_sockets()
        await slack.wait_connected()
        root = await slack.post("#alerts", "after")
        await slack.wait_until(lambda: slack.replies("#alerts", root["ts"]))
        assert [e["text"] for e in seen if e.get("client_msg_id")] == ["after"]
