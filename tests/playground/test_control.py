"""The control API and the page's files and state."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from slack_bolt.async_app import AsyncApp

from bot.playground import LocalSlack
from bot.playground.control_api import ACTS

STATIC = Path(__file__).parents[2] / "bot" / "playground" / "static"


@pytest.fixture
async def http(slack: LocalSlack) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(slack.url) as session:
        yield session


async def act(http: aiohttp.ClientSession, act_name: str, /, **args: Any) -> tuple[int, dict[str, Any]]:
    async with http.post(f"/control/{act_name}", json=args) as response:
        return response.status, await response.json()


def test_every_act_is_a_method() -> None:
    assert [name for name in ACTS if not callable(getattr(LocalSlack, name, None))] == []
    assert len(set(ACTS)) == len(ACTS)


async def test_acts_are_carried_out_and_their_results_told(slack: LocalSlack, http: aiohttp.ClientSession) -> None:
    status, answer = await act(http, "post", channel="#alerts", text="by page", user="bob")
    assert (status, answer["ok"], answer["result"]["user"]) == (200, True, "U0BOB")
    refused = await act(http, "slash", channel="#alerts", command="/x", thread_ts=answer["result"]["ts"])
    assert refused[1]["result"]["sent"] is False
    _, new = await act(http, "add_channel", name="#db", is_private=True, members=["bob"], bot=False)
    assert slack.core.workspace.channels[new["result"]].members == ["U0BOB"]
    _, user = await act(http, "add_user", name="zoe", is_guest=True)
    assert slack.core.workspace.user("zoe").id == user["result"]
    _, thread = await act(http, "thread", channel="#alerts", ts=answer["result"]["ts"])
    assert [m["text"] for m in thread["result"]] == ["by page"]


async def test_bad_acts_are_refused(slack: LocalSlack, http: aiohttp.ClientSession) -> None:
    assert (await act(http, "stop"))[0] == 404
    assert await act(http, "post", channel="#nowhere", text="x") == (400, {"ok": False, "error": "channel_not_found"})
    assert (await act(http, "post", text="x"))[1]["error"] == "invalid_arguments"
    assert (await act(http, "post_sample", channel="#alerts", name="none"))[1]["error"] == "no_such_sample"
    async with http.post("/control/heal", data="{}", headers={"Content-Type": "text/plain"}) as response:
        assert response.status == 415
    async with http.post("/control/heal", data="[]", headers={"Content-Type": "application/json"}) as response:
        assert response.status == 400


async def test_foreign_host_names_are_refused(http: aiohttp.ClientSession) -> None:
    async with http.get("/", headers={"Host": "evil.example"}) as response:
        assert response.status == 403


async def test_the_page_runs_only_its_own_scripts(http: aiohttp.ClientSession) -> None:
    for path in ("/", "/static/app.js", "/static/blocks.js", "/static/text.js", "/static/style.css"):
        async with http.get(path) as response:
            assert response.status == 200
            assert "script-src 'self'" in response.headers["Content-Security-Policy"]
            assert "unsafe" not in response.headers["Content-Security-Policy"]
    async with http.get("/static/server.py") as response:
        assert response.status == 404


def test_the_page_asks_nobody_else_and_never_writes_markup() -> None:
    for file in STATIC.iterdir():
        text = file.read_text(encoding="utf-8")
        assert "innerHTML" not in text
        assert "http://" not in text
        assert "https://" not in text
    assert "<script>" not in (STATIC / "index.html").read_text(encoding="utf-8")
    assert "style=" not in (STATIC / "index.html").read_text(encoding="utf-8")


async def view(http: aiohttp.ClientSession, **query: str) -> dict[str, Any]:
    async with http.get("/control/view", params=query) as response:
        state: dict[str, Any] = await response.json()
        return state


async def test_each_person_sees_what_is_for_them(slack: LocalSlack, app: AsyncApp, http: aiohttp.ClientSession) -> None:
    root = await slack.post("#alerts", "root")
    await app.client.chat_postMessage(channel="C0ALERTS", text="reply", thread_ts=root["ts"])
    await app.client.chat_postEphemeral(channel="C0ALERTS", user="U0BOB", text="psst")
    alice = await view(http, user="U0ALICE", channel="C0ALERTS", thread=root["ts"])
    assert [c["name"] for c in alice["channels"]] == ["alerts", "random", "sec-incidents", "partners"]
    assert [m["text"] for m in alice["messages"]] == ["root"]
    assert [m["text"] for m in alice["thread"]] == ["root", "reply"]
    assert alice["ephemerals"] == []
    bob = await view(http, user="U0BOB", channel="C0ALERTS", thread="1.1")
    assert [c["name"] for c in bob["channels"]] == ["alerts", "random", "partners"]
    assert [m["text"] for m in bob["ephemerals"]] == ["psst"]
    assert bob["thread"] == []
    guest = await view(http, user="U0GINA")
    assert [c["name"] for c in guest["channels"]] == ["partners"]
    assert (await view(http))["me"] == "U0ALICE"


async def test_changes_are_streamed_and_traffic_is_kept(slack: LocalSlack, http: aiohttp.ClientSession) -> None:
    async with http.get("/control/stream") as stream:
        await stream.content.readuntil(b"\n\n")
        before = slack.core.version
        await slack.post("#alerts", "x")
        line = b""
        while not line or int(line.removeprefix(b"data: ")) <= before:
            line = await stream.content.readuntil(b"\n\n")
    async with http.get("/control/traffic", params={"last": "1"}) as response:
        log = await response.json()
    assert [e["kind"] for e in log["entries"]] == ["deliver"]
    assert log["counts"]["deliver:message"] == 1


async def test_how_much_traffic_is_asked_for_must_be_a_number(http: aiohttp.ClientSession) -> None:
    for last in ("abc", "-1", "0", "1.5", "9" * 5000, "²"):
        async with http.get("/control/traffic", params={"last": last}) as response:
            assert response.status == 400
            assert "whole number" in (await response.json())["detail"]
