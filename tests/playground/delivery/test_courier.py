"""How events reach the app: who gets them, what they carry, retries, duplicates, both modes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from slack_bolt.async_app import AsyncApp
from slack_sdk.signature import SignatureVerifier
from slack_sdk.web.async_client import AsyncWebClient

from bot.playground import LocalSlack, SlackRefused
from bot.playground.delivery.socket_mode import MAX_SOCKETS
from tests.playground.conftest import connected


async def sent(slack: LocalSlack, name: str) -> list[dict[str, Any]]:
    await slack.idle()
    return [d["payload"]["event"] for d in slack.deliveries(name) if d["attempt"] == 0]


@pytest.fixture
async def deaf() -> AsyncIterator[LocalSlack]:
    """Nobody listens, and nothing is tried again."""
    async with await LocalSlack.start(ack_timeout_s=0.01, retry_delays_s=()) as slack:
        yield slack


async def test_a_person_an_app_and_a_webhook_look_different(deaf: LocalSlack) -> None:
    await deaf.post(
        "#alerts",
        "look at <https://x.example|this> &amp; <@U0BOB> in <#C0RANDOM> <!here> https://y.example now",
        user="alice",
    )
    await deaf.post_as_app("#alerts", {"text": "", "attachments": [{"title": "Down"}]}, app="Datadog")
    await deaf.post_alert(
        "#alerts",
        {"username": "Alertmanager", "icon_emoji": ":bell:", "attachments": [{"color": "warning", "title": ""}]},
    )
    person, app, hook = await sent(deaf, "message")
    assert (person["user"], person["channel_type"], "bot_id" in person) == ("U0ALICE", "channel", False)
    rich = person["blocks"][0]["elements"][0]["elements"]
    assert [e["type"] for e in rich] == [
        "text",
        "link",
        "text",
        "user",
        "text",
        "channel",
        "text",
        "broadcast",
        "text",
        "link",
        "text",
    ]
    assert (rich[1]["url"], rich[2]["text"]) == ("https://x.example", " & ")
    assert app["user"] != deaf.bot_user
    assert app["bot_profile"]["name"] == "Datadog"
    assert app["app_id"] == app["bot_profile"]["app_id"]
    assert "subtype" not in app
    assert (hook["subtype"], hook["username"], "user" in hook) == ("bot_message", "Alertmanager", False)
    assert hook["icons"] == {"emoji": ":bell:"}
    assert hook["attachments"] == [{"color": "daa038", "id": 1, "fallback": "[no preview available]"}]


async def test_the_envelope_says_team_app_and_authorization(deaf: LocalSlack) -> None:
    await deaf.post("#partners", "hi")
    await deaf.idle()
    payload = deaf.deliveries("message")[0]["payload"]
    assert payload["type"] == "event_callback"
    assert payload["team_id"] == deaf.team_id
    assert payload["authorizations"][0]["user_id"] == deaf.bot_user
    assert payload["is_ext_shared_channel"] is True
    assert isinstance(payload["event_time"], int)


async def test_a_mention_comes_besides_the_message(deaf: LocalSlack) -> None:
    await deaf.post("#alerts", f"<@{deaf.bot_user}> why?")
    assert (await sent(deaf, "message"))[0]["ts"] == (await sent(deaf, "app_mention"))[0]["ts"]
    await deaf.post(deaf.dm("alice"), f"<@{deaf.bot_user}> hi", user="alice")
    assert (await sent(deaf, "message"))[1]["channel_type"] == "im"
    assert len(await sent(deaf, "app_mention")) == 1


async def test_only_channels_with_the_bot_send_events_an_invitation_is_one(deaf: LocalSlack) -> None:
    await deaf.post("#random", "unheard")
    await deaf.idle()
    assert deaf.deliveries() == []
    await deaf.invite("#random", inviter="bob")
    joined = (await sent(deaf, "member_joined_channel"))[0]
    assert (joined["user"], joined["inviter"]) == (deaf.bot_user, "U0BOB")
    await deaf.post("#random", "heard")
    await deaf.leave("#random")
    await deaf.post("#random", "unheard again")
    assert [e["text"] for e in (await sent(deaf, "message"))] == ["heard"]
    with pytest.raises(SlackRefused, match="already_in_channel"):
        await deaf.invite("#alerts")
    with pytest.raises(SlackRefused, match="not_in_channel"):
        await deaf.post("#sec-incidents", "x", user="bob")


async def test_edits_unfurls_deletions_and_reactions_are_told(deaf: LocalSlack) -> None:
    ts = (await deaf.post("#alerts", "one", user="alice"))["ts"]
    edited = await deaf.edit("#alerts", ts, text="two")
    assert edited["blocks"][0]["elements"][0]["elements"][0]["text"] == "two"
    await deaf.unfurl("#alerts", ts)
    await deaf.edit_raw("#alerts", ts, {"text": "three", "ts": "ignored"})
    await deaf.react("#alerts", ts, "eyes", user="bob")
    await deaf.unreact("#alerts", ts, "eyes", user="bob")
    await deaf.delete("#alerts", ts)
    events = await sent(deaf, "message")
    assert [e.get("subtype") for e in events] == [
        None,
        "message_changed",
        "message_changed",
        "message_changed",
        "message_deleted",
    ]
    assert events[1]["message"]["edited"]["user"] == "U0ALICE"
    assert events[2]["message"] == events[2]["previous_message"]
    assert events[3]["message"]["ts"] == ts
    assert (events[4]["deleted_ts"], events[4]["previous_message"]["text"]) == (ts, "three")
    added = (await sent(deaf, "reaction_added"))[0]
    assert (added["item"]["ts"], added["item_user"], added["user"]) == (ts, "U0ALICE", "U0BOB")
    assert len(await sent(deaf, "reaction_removed")) == 1


async def test_a_recorded_event_is_delivered_as_it_was_with_a_fresh_ts(deaf: LocalSlack) -> None:
    recorded = {
        "type": "message", "ts": "1795981242.000140", "channel": "C0ELSEWHERE", "channel_type": "group", "text": "&lt;raw&gt;",
        "team": "T0OTHER", "bot_id": "B08037BOT", "subtype": "bot_message", "attachments": [{"id": 1, "color": "8e8e8e"}],
    }  # fmt: skip
    posted = await deaf.deliver_message("#alerts", recorded)
    event = (await sent(deaf, "message"))[0]
    assert event["ts"] == posted["ts"] != recorded["ts"]
    assert (event["channel"], event["channel_type"], event["team"]) == ("C0ALERTS", "channel", deaf.team_id)
    assert {k: event[k] for k in ("text", "bot_id", "subtype", "attachments")} == {
        k: recorded[k] for k in ("text", "bot_id", "subtype", "attachments")
    }
    reply = await deaf.deliver_message("#alerts", recorded, thread_ts=posted["ts"])
    assert reply["thread_ts"] == posted["ts"]
    with pytest.raises(SlackRefused, match="not_a_post"):
        await deaf.deliver_message("#alerts", {"subtype": "message_changed"})


async def test_only_subscribed_events_are_delivered() -> None:
    manifest = {"settings": {"event_subscriptions": {"bot_events": ["message.channels"]}}}
    async with await LocalSlack.start(manifest=manifest, ack_timeout_s=0.01, retry_delays_s=()) as slack:
        await slack.post("#alerts", f"<@{slack.bot_user}>")
        await slack.post("#sec-incidents", "private")
        await slack.open_home()
        await slack.idle()
        assert [d["name"] for d in slack.deliveries()] == ["message"]


async def test_without_a_socket_an_event_is_given_up_after_three_retries(slack: LocalSlack) -> None:
    slack.hub.ack_timeout_s = 0.01
    await slack.post("#alerts", "anybody?")
    await slack.idle()
    assert [(d["attempt"], d["reason"]) for d in slack.deliveries()] == [
        (0, ""),
        (1, "timeout"),
        (2, "timeout"),
        (3, "timeout"),
    ]
    assert slack.counters()["no_ack:message"] == 4


async def test_an_event_can_come_several_times_with_one_id(slack: LocalSlack, app: AsyncApp) -> None:
    ids: list[str] = []

    @app.event("message")
    async def on_message(body: dict[str, Any]) -> None:
        ids.append(body["event_id"])

    async with connected(slack, app):
        await slack.duplicate(3)
        await slack.post("#alerts", "x")
        await slack.wait_until(lambda: len(ids) == 3)
    assert len(set(ids)) == 1


async def test_each_envelope_goes_to_one_socket(slack: LocalSlack, app: AsyncApp) -> None:
    heard: list[str] = []

    @app.event("message")
    async def on_message(event: dict[str, Any]) -> None:
        heard.append(event["text"])

    async with connected(slack, app), connected(slack, app):
        await slack.wait_until(lambda: len(slack.hub.sockets) == 2)
        for i in range(6):
            await slack.post("#alerts", str(i))
        await slack.idle()
    assert sorted(heard) == [str(i) for i in range(6)]


async def test_sockets_need_a_ticket_and_are_at_most_ten(slack: LocalSlack) -> None:
    client = AsyncWebClient(token=slack.app_token, base_url=slack.api_url)
    async with aiohttp.ClientSession() as session:
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await session.ws_connect(f"{slack.url.replace('http', 'ws')}/link/?ticket=guess")
        sockets = [
            await session.ws_connect((await client.apps_connections_open(app_token=slack.app_token))["url"])
            for _ in range(MAX_SOCKETS + 1)
        ]
        greetings = [json.loads((await s.receive()).data) for s in sockets]
        assert [g["type"] for g in greetings] == ["hello"] * MAX_SOCKETS + ["disconnect"]
        assert greetings[-1]["reason"] == "too_many_websockets"
        await sockets[0].send_str("ping")
        await sockets[0].send_json({"envelope_id": "unknown"})
        await slack.close_sockets()
        await slack.wait_until(lambda: not slack.connected)


@asynccontextmanager
async def served(app: web.Application) -> AsyncIterator[str]:
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events"
    finally:
        await runner.cleanup()


async def test_a_bolt_app_works_in_http_mode(slack: LocalSlack, app: AsyncApp) -> None:
    @app.event("message")
    async def on_message(event: dict[str, Any], say: Any) -> None:
        if "bot_id" not in event:
            await say(text="heard", thread_ts=event["ts"])

    @app.command("/recall")
    async def on_recall(ack: Any) -> None:
        await ack({"response_type": "in_channel", "text": "here"})

    @app.shortcut("rec")
    async def on_shortcut(ack: Any) -> None:
        await ack()

    async with served(app.web_app(path="/slack/events")) as target:
        slack.use_http(target)
        assert slack.http_target == target
        assert await slack.verify_url()
        root = await slack.post("#alerts", "hi")
        await slack.wait_until(lambda: slack.replies("#alerts", root["ts"]))
        outcome = await slack.slash("#alerts", "/recall")
        assert outcome.acked
        assert slack.timeline("#alerts")[-1]["text"] == "here"
        assert (await slack.shortcut("rec", "#alerts", root["ts"])).acked
        await slack.idle()


@pytest.fixture
async def hasty() -> AsyncIterator[LocalSlack]:
    """Takes half a second for too late."""
    async with await LocalSlack.start(ack_timeout_s=0.5, retry_delays_s=(0.01, 0.01, 0.01)) as slack:
        yield slack


async def test_http_requests_are_signed_and_retries_say_why(hasty: LocalSlack) -> None:
    slack = hasty
    requests: list[tuple[dict[str, str], bytes]] = []
    answers = [500, 0, 200]

    async def receive(request: web.Request) -> web.Response:
        body = await request.read()
        requests.append((dict(request.headers), body))
        status = answers.pop(0)
        if status == 0:
            await asyncio.sleep(5)
        return web.Response(status=status or 200)

    application = web.Application()
    application.router.add_post("/slack/events", receive)
    async with served(application) as target:
        slack.use_http(target)
        await slack.post("#alerts", "x")
        await slack.idle()
        assert [(h.get("X-Slack-Retry-Num"), h.get("X-Slack-Retry-Reason")) for h, _ in requests] == [
            (None, None), ("1", "http_error"), ("2", "http_timeout"),
        ]  # fmt: skip
        verifier = SignatureVerifier(slack.signing_secret)
        assert all(verifier.is_valid_request(body, headers) for headers, body in requests)
        assert not verifier.is_valid_request(requests[0][1] + b" ", requests[0][0])
        answers[:] = [500, 200]
        requests.clear()
        await slack.hide_retries()
        await slack.post("#alerts", "y")
        await slack.idle()
        assert ["X-Slack-Retry-Num" in h for h, _ in requests] == [False, False]


async def test_an_app_can_ask_not_to_be_asked_again(slack: LocalSlack) -> None:
    async def receive(_request: web.Request) -> web.Response:
        return web.Response(status=500, headers={"X-Slack-No-Retry": "1"})

    application = web.Application()
    application.router.add_post("/slack/events", receive)
    async with served(application) as target:
        slack.use_http(target)
        await slack.post("#alerts", "x")
        await slack.idle()
        assert len(slack.deliveries()) == 1
    await slack.post("#alerts", "nobody there")
    await slack.idle()
    assert slack.deliveries()[-1]["reason"] == "connection_failed"
    slack.use_http(None)
    with pytest.raises(SlackRefused, match="no_http_target"):
        await slack.verify_url()


async def test_waiting_ends_with_an_error(deaf: LocalSlack) -> None:
    with pytest.raises(TimeoutError):
        await deaf.wait_until(lambda: False, timeout_s=0.05)
    with pytest.raises(TimeoutError):
        await deaf.wait_connected(timeout_s=0.01)
