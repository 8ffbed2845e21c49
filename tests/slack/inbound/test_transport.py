"""Requests over real HTTP: the signature first, then the body; and what Socket Mode delivers in odd shapes."""

from __future__ import annotations

import hashlib
import hmac
import io
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from bot.playground.delivery.courier import EVENT, INTERACTIVE, SLASH, Parcel
from bot.slack.inbound.transport import MAX_BODY, HttpTransport
from tests.slack.conftest import Desk

JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
PING = b'{"type":"event_callback","event_id":"Ev1","team_id":"T1","event":{"type":"message","channel":"C1","ts":"1.1"}}'


def signature(secret: str, stamp: str, body: bytes) -> str:
    return "v0=" + hmac.new(secret.encode(), b"v0:" + stamp.encode() + b":" + body, hashlib.sha256).hexdigest()


class Door:
    """The bot's own server, and a client that signs as told."""

    def __init__(self, url: str, secret: str, http: aiohttp.ClientSession) -> None:
        self.url, self.secret, self.http = url, secret, http

    async def knock(self, body: Any, kind: str = JSON, *, stamp: str | None = None, sign: str | None = None) -> Any:
        """(status, text) of a request signed now, or with these headers."""
        stamp = str(int(time.time())) if stamp is None else stamp
        made = signature(self.secret, stamp, body) if sign is None else sign
        headers = {"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": made, "Content-Type": kind}
        async with self.http.post(self.url, data=body, headers=headers) as answer:
            return answer.status, await answer.text()


@asynccontextmanager
async def opened(desk: Desk, limit: int = MAX_BODY) -> AsyncIterator[Door]:
    server = web.Application(client_max_size=limit)
    inward = HttpTransport(desk.app, server, desk.slack.signing_secret)
    runner = web.AppRunner(server)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    await inward.start()
    try:
        async with aiohttp.ClientSession() as http:
            yield Door(f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events", desk.slack.signing_secret, http)
    finally:
        await runner.cleanup()


async def test_what_slack_did_not_sign_is_refused_before_it_is_read(unconnected: Desk) -> None:
    async with opened(unconnected) as door:
        now = str(int(time.time()))
        for body in (PING, b"{", b"\xff\xfe", b"[1]", b"[" * 200_000, b"ssl_check=1&token=x"):
            for sign in ("", "v0=" + "0" * 64, "v0=é", "x" * 5000, signature("another secret", now, body)):
                assert (await door.knock(body, sign=sign))[0] == 401
        for stamp in (
            "",
            "abc",
            "-1",
            "1e9",
            "9" * 30,
            "9" * 5000,
            "٣",
            "1_0",
            str(int(now) - 400),
            str(int(now) + 400),
        ):
            assert (await door.knock(PING, stamp=stamp))[0] == 401
    assert unconnected.inbox.kept == []


@pytest.mark.parametrize(
    ("body", "kind", "says"),
    [
        (b"{", JSON, "not JSON"),
        (b"", JSON, "not JSON"),
        (b'{"a":NaN}', JSON, "not JSON"),
        (b'{"a":' + b"9" * 5000 + b"}", JSON, "not JSON"),
        (b"[" * 100_000 + b"]" * 100_000, JSON, "not JSON"),
        (b'{"a":' * 200 + b"1" + b"}" * 200, JSON, "too deep"),
        (b"[1]", JSON, "not a JSON object"),
        (b"null", JSON, "not a JSON object"),
        (b'"a"', JSON, "not a JSON object"),
        (b'\xff\xfe{"a":1}', JSON, "not UTF-8"),
        (PING, "text/plain", "content type"),
        (PING, "multipart/form-data; boundary=x", "content type"),
        (b"payload=%7B", FORM, "not JSON"),
        (b"payload=%5B1%5D", FORM, "not a JSON object"),
        (b"text=%ff", FORM, "form cannot be read"),
        (b"a=1&" * 300, FORM, "form cannot be read"),
    ],
)
async def test_a_signed_body_that_cannot_be_read_is_a_bad_request(
    unconnected: Desk, caplog: pytest.LogCaptureFixture, body: bytes, kind: str, says: str
) -> None:
    async with opened(unconnected) as door:
        status, text = await door.knock(body, kind)
    assert (status, says in text, "\n" in text) == (400, True, False)
    assert not [r for r in caplog.records if r.exc_info or r.levelname == "ERROR"]


async def test_a_body_over_the_limit_is_refused_as_too_large(unconnected: Desk) -> None:
    for limit in (MAX_BODY, 2 * MAX_BODY):
        async with opened(unconnected, limit) as door:
            assert (await door.knock(io.BytesIO(b"x" * (MAX_BODY + 1)), sign="v0="))[0] == 413


async def test_good_requests_arrive_in_both_forms_whatever_charset_they_claim(unconnected: Desk) -> None:
    async with opened(unconnected) as door:
        assert (await door.knock(PING, "application/json; charset=nonsense"))[0] == 200
        challenge = await door.knock(b'{"type":"url_verification","challenge":"c1"}')
        command = b"command=%2Fprecedent&text=&channel_id=C0ALERTS&user_id=U1&team_id=T0&trigger_id=1&response_url=http%3A%2F%2F127.0.0.1%3A9"
        assert (await door.knock(command, FORM))[0] == 200
    assert (challenge[0], "c1" in challenge[1]) == (200, True)
    assert [r.event_id for r in unconnected.inbox.kept] == ["Ev1"]


ODD_EVENTS: tuple[Any, ...] = (
    None, 1, "x", [], {}, {"type": ["message"]}, {"type": "message"}, {"type": "message", "channel": 5, "ts": 5, "text": 5},
    {"type": "message", "channel": "C1", "ts": "1.1", "subtype": ["bot_message"], "bot_id": 7},
    {"type": "message", "channel": "C1", "ts": "1.1", "subtype": {"a": 1}, "user": 5},
    {"type": "message", "subtype": "message_changed", "message": [1]},
    {"type": "app_mention", "channel": {"a": 1}, "ts": [1], "text": 5},
    {"type": "member_joined_channel", "user": "U0PRECEDENT", "channel": [1]},
    {"type": "app_home_opened", "user": None},
    {"type": "reaction_added", "item": [1], "user": {"id": 5}},
)  # fmt: skip
ODD_REQUESTS: tuple[dict[str, Any], ...] = (
    {"type": "zzz"},
    {"type": "block_actions", "actions": []},
    {"type": "block_actions", "actions": [5], "user": {"id": "U0ALICE"}},
    {"type": "block_actions", "actions": [{"action_id": "precedent.fixed", "type": "button", "value": ["a"]}]},
    {"type": "block_actions", "actions": [{"action_id": "precedent.record", "type": "button"}], "message": [1]},
    {"type": "view_submission", "view": 5},
    {"type": "view_submission", "view": {"id": "V1", "callback_id": "precedent.resolve"}},
    {"type": "view_submission", "user": {"id": "U1"}, "view": {"callback_id": "precedent.resolve", "blocks": [None]}},
    {"type": "message_action", "callback_id": "resolve_from_message", "user": {"id": "U1"}, "trigger_id": "t"},
    {"type": "message_action", "callback_id": "recall_from_message", "user": "U1", "message": "x"},
    {"type": "interactive_message", "callback_id": "x"},
    {"type": "workflow_step_edit", "callback_id": "x"},
    {"type": "view_submission", "user": {"id": "U1"}, "view": {"callback_id": "x", "type": "workflow_step"}},
    {"type": "block_suggestion", "action_id": "a"},
    {"command": "/recall", "text": 5},
    {"command": "/resolve", "channel_id": "C0ALERTS"},
)


async def test_odd_shapes_are_acknowledged_over_http(unconnected: Desk, logged: list[Any]) -> None:
    answerable = {"response_url": f"{unconnected.slack.url}/response/none"}
    async with opened(unconnected) as door:
        for number, event in enumerate(ODD_EVENTS):
            body = {"type": "event_callback", "event_id": f"Ev{number}", "authorizations": [5], "event": event}
            assert (await door.knock(json.dumps(body).encode()))[0] == 200, event
        for request in ODD_REQUESTS:
            assert (await door.knock(json.dumps(answerable | request).encode()))[0] == 200, request
    assert not [line for line in logged if line["log_level"] == "error"]
    assert all(r.body is None for r in unconnected.inbox.kept)


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


async def test_odd_shapes_are_acknowledged_over_the_socket(office: Desk, logged: list[Any]) -> None:
    transport = office.slack.core.courier.transport
    assert transport is not None
    for number, event in enumerate(ODD_EVENTS):
        told = {"type": "event_callback", "event_id": f"Ev{number}", "team_id": "T1", "event": event}
        assert (await transport(Parcel(EVENT, told))).ok, event
    answerable = {"response_url": f"{office.slack.url}/response/none"}
    for request in ODD_REQUESTS:
        kind = SLASH if "command" in request else INTERACTIVE
        assert (await transport(Parcel(kind, answerable | request))).ok, request
    unreadable: tuple[dict[str, Any], ...] = ({}, {"a": [[[]]]}, {"event": nested(100)})
    for nothing in unreadable:
        assert (await transport(Parcel(EVENT, nothing))).ok, nothing
    assert not [line for line in logged if line["log_level"] == "error"]
