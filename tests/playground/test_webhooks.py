"""Incoming webhooks and response URLs answer as Slack's do."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from slack_bolt.async_app import AsyncApp

from bot.playground import LocalSlack
from tests.playground.conftest import connected


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


async def post(http: aiohttp.ClientSession, url: str, **body: Any) -> tuple[int, str]:
    async with http.post(url, **body) as response:
        return response.status, await response.text()


async def test_a_webhook_keeps_text_as_sent_and_colours_as_slack_does(
    slack: LocalSlack, http: aiohttp.ClientSession
) -> None:
    url = await slack.webhook_url("#alerts", "prom-prod")
    payload = {
        "channel": "#partners",
        "icon_url": "https://x.example/i.png",
        "text": "a &lt;b&gt; & c",
        "attachments": [
            {
                "color": "#FF7A1A",
                "fields": [],
                "actions": [{"type": "button", "text": "Runbook", "url": "https://x.example"}],
            },
            {"color": "good", "blocks": [{"type": "divider"}]},
        ],
    }
    assert await post(http, url, json=payload) == (200, "ok")
    message = slack.timeline("#partners")[0]
    assert (message["text"], message["username"]) == ("a &lt;b&gt; & c", "prom-prod")
    assert message["icons"] == {"image_48": "https://x.example/i.png"}
    one, two = message["attachments"]
    assert one == {
        "id": 1, "color": "ff7a1a", "fallback": "[no preview available]",
        "actions": [{"type": "button", "text": "Runbook", "url": "https://x.example", "id": "1"}],
    }  # fmt: skip
    assert (two["id"], two["color"], two["blocks"][0].keys()) == (2, "2eb886", {"type", "block_id"})
    assert await post(http, url, data={"payload": json.dumps({"text": "form"})}) == (200, "ok")
    assert slack.timeline("#alerts")[-1]["text"] == "form"


@pytest.mark.parametrize(
    ("payload", "answer"),
    [
        ("nonsense", (400, "invalid_payload")),
        ("[]", (400, "invalid_payload")),
        ("{}", (400, "no_text")),
        ('{"text": "x", "channel": "#nowhere"}', (404, "channel_not_found")),
        ('{"blocks": [{"type": "section"}]}', (400, "invalid_blocks")),
        ('{"text": "x", "channel": "#random"}', (410, "channel_is_archived")),
    ],
)
async def test_bad_posts_get_slacks_words(
    slack: LocalSlack, http: aiohttp.ClientSession, payload: str, answer: Any
) -> None:
    await slack.archive("#random")
    url = await slack.webhook_url("#alerts")
    assert await post(http, url, data=payload, headers={"Content-Type": "application/json"}) == answer
    assert slack.timeline("#alerts") == []


async def test_wrong_addresses_and_floods_are_refused(slack: LocalSlack, http: aiohttp.ClientSession) -> None:
    url = await slack.webhook_url("#alerts")
    for wrong, answer in (
        (url.replace(slack.team_id, "T0OTHER"), (404, "no_team")),
        (f"{slack.url}/services/{slack.team_id}/B0NO/x", (404, "no_service")),
        (url + "x", (403, "invalid_token")),
    ):
        assert await post(http, wrong, json={"text": "x"}) == answer
    await slack.limit(1, "webhook")
    assert await post(http, url, json={"text": "x"}) == (429, "rate_limited")
    assert await post(http, url, json={"text": "x"}) == (200, "ok")


async def response_url(slack: LocalSlack, app: AsyncApp, ts: str) -> str:
    """The address that a click on the message's button gives."""
    got: list[str] = []

    @app.action("go")
    async def on_go(ack: Any, body: dict[str, Any]) -> None:
        got.append(body["response_url"])
        await ack()

    async with connected(slack, app):
        await slack.click("#alerts", ts, "go")
    return got[0]


BUTTON = [
    {
        "type": "actions",
        "elements": [{"type": "button", "action_id": "go", "text": {"type": "plain_text", "text": "Go"}}],
    }
]


async def test_a_response_url_adds_replaces_and_deletes_five_times_in_all(
    slack: LocalSlack, app: AsyncApp, http: aiohttp.ClientSession
) -> None:
    ts = (await app.client.chat_postMessage(channel="C0ALERTS", text="b", blocks=BUTTON))["ts"]
    url = await response_url(slack, app, ts)
    assert (await post(http, url, json={"text": "to you"}))[0] == 200
    assert [m["text"] for m in slack.ephemerals("alice")] == ["to you"]
    assert (await post(http, url, json={"text": "to all", "response_type": "in_channel"}))[0] == 200
    added = slack.timeline("#alerts")[-1]
    assert (added["text"], added["bot_id"], "user" in added) == ("to all", slack.bot_id, False)
    assert (await post(http, url, json={"text": "new", "replace_original": True}))[0] == 200
    assert (slack.message("#alerts", ts)["text"], "blocks" in slack.message("#alerts", ts)) == ("new", False)
    assert await post(http, url, json={}) == (400, '{"ok": false, "error": "no_text"}')
    assert (await post(http, url, json={"delete_original": True}))[0] == 200
    assert [m["text"] for m in slack.timeline("#alerts")] == ["to all"]
    assert await post(http, url, json={"text": "x"}) == (404, '{"ok": false, "error": "used_url"}')


async def test_a_response_url_ends_after_half_an_hour(app: AsyncApp, http: aiohttp.ClientSession) -> None:
    clock = [1_800_000_000.0]
    async with await LocalSlack.start(now=lambda: clock[0]) as slack:
        app.client.base_url = slack.api_url
        ts = (await app.client.chat_postMessage(channel="C0ALERTS", text="b", blocks=BUTTON))["ts"]
        url = await response_url(slack, app, ts)
        clock[0] += 1801
        assert await post(http, url, json={"text": "x"}) == (404, '{"ok": false, "error": "expired_url"}')
        assert await post(http, f"{slack.url}/response/guess", json={"text": "x"}) == (
            404,
            '{"ok": false, "error": "expired_url"}',
        )


async def test_an_ephemeral_message_is_replaced_and_deleted_by_its_response_url_only(
    slack: LocalSlack, app: AsyncApp, http: aiohttp.ClientSession
) -> None:
    seen: list[dict[str, Any]] = []

    @app.action("go")
    async def on_go(ack: Any, body: dict[str, Any]) -> None:
        seen.append(body)
        await ack()

    shown = await app.client.chat_postEphemeral(channel="C0ALERTS", user="U0ALICE", text="pick", blocks=BUTTON)
    async with connected(slack, app):
        await slack.click("#alerts", shown["message_ts"], "go")
    assert seen[0]["container"]["is_ephemeral"] is True
    assert "message" not in seen[0]
    url = seen[0]["response_url"]
    assert (await post(http, url, json={"text": "picked", "replace_original": True}))[0] == 200
    assert [(m["text"], "blocks" in m) for m in slack.ephemerals("alice")] == [("picked", False)]
    bad = {"replace_original": True, "blocks": [{"type": "section"}]}
    assert await post(http, url, json=bad) == (400, '{"ok": false, "error": "invalid_blocks"}')
    assert (await post(http, url, json={"delete_original": True}))[0] == 200
    assert slack.ephemerals() == []
