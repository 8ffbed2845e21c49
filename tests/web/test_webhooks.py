"""Direct intake over real HTTP: who is let in, what is refused with which words, what is kept before the 200."""

from __future__ import annotations

import io
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.domain.alerts.alert import Alert, AlertState, NotAlert, Severity, Symptom
from bot.parsers import read
from bot.parsers.intake.given import build_alert
from bot.ports.errors import ChatRejected, NotAllowedHere, StoreUnavailable
from bot.slack.views.alert import render_alert
from bot.web.payloads import AlertmanagerBody, GenericBody
from bot.web.webhooks import MAX_BODY, RequestRefused, WebhookIntake, add_webhooks, read_intake
from tests.web.bodies import GENERIC, sent

TOKEN = "s3cret-token-of-the-tests"
AUTH = {"Authorization": f"Bearer {TOKEN}"}
SLACK = Path(__file__).parent.parent / "e2e" / "alertmanager"


@dataclass
class Kept:
    """What the routes handed over; `problem` is raised instead."""

    alerts: list[tuple[Alert, str, str]] = field(default_factory=list)
    problem: Exception | None = None

    async def __call__(self, alert: Alert, channel: str, digest: str) -> bool:
        if self.problem:
            raise self.problem
        new = all(d != digest for _, _, d in self.alerts)
        self.alerts.append((alert, channel, digest))
        return new


@asynccontextmanager
async def served(kept: Kept, token: str | None = TOKEN, channel: str | None = "C0ALERTS") -> AsyncIterator[Any]:
    app = web.Application(client_max_size=2 * 1024 * 1024)
    add_webhooks(app, WebhookIntake(kept, token, channel))
    async with TestClient(TestServer(app)) as client:
        yield client


async def asked(client: Any, path: str, body: Any, headers: dict[str, str] | None = None) -> tuple[int, dict[str, Any]]:
    data = io.BytesIO(body if isinstance(body, bytes) else json.dumps(body).encode())
    answer = await client.post(path, data=data, headers=AUTH if headers is None else headers)
    found: dict[str, Any] = await answer.json()
    return answer.status, found


async def test_an_alert_is_kept_for_the_channel_and_the_answer_names_it() -> None:
    kept = Kept()
    async with served(kept) as client:
        status, said = await asked(client, "/webhook/alertmanager?channel=C0PAY", sent("firing"))
        again = await asked(client, "/webhook/alertmanager", sent("firing"))
    (alert, channel, _), (_, default, _) = kept.alerts
    assert (status, said) == (
        200,
        {"accepted": True, "repeated": False, "channel": "C0PAY", "fingerprint": alert.fingerprint},
    )
    assert (channel, default) == ("C0PAY", "C0ALERTS")
    assert again[1]["repeated"] is True


@pytest.mark.parametrize("path", ["/webhook/alertmanager", "/webhook/generic"])
@pytest.mark.parametrize("header", ["", TOKEN, f"Bearer {TOKEN}x", "Bearer ", f"Basic {TOKEN}", "Bearer pässword"])
async def test_without_the_token_nothing_is_read(path: str, header: str) -> None:
    kept = Kept()
    async with served(kept) as client:
        status, said = await asked(client, path, b"not even json", {"Authorization": header} if header else {})
    assert (status, kept.alerts) == (401, [])
    assert "Authorization: Bearer" in said["fix"]


async def test_without_a_token_setting_the_routes_say_how_to_switch_them_on() -> None:
    async with served(Kept(), token=None) as client:
        status, said = await asked(client, "/webhook/generic", GENERIC, {"Authorization": "Bearer "})
    assert status == 404
    assert "WEBHOOK_TOKEN" in said["fix"]


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("/webhook/generic", b"{oops", 400, "not JSON"),
        ("/webhook/generic", b"[" * 100_000, 400, "not JSON"),
        ("/webhook/generic", b"\xff\xfe", 400, "not JSON"),
        ("/webhook/generic", b'{"title": ' + b"9" * 5_000 + b"}", 400, "not JSON"),
        ("/webhook/generic", [1], 400, "list"),
        ("/webhook/generic", {}, 422, "title"),
        ("/webhook/generic", {**GENERIC, "colour": "red"}, 422, "colour"),
        ("/webhook/generic", {**GENERIC, "state": "broken"}, 422, "state"),
        ("/webhook/generic", {**GENERIC, "links": {"runbook": "javascript:alert(1)"}}, 422, "links.runbook"),
        ("/webhook/generic", {**GENERIC, "title": " "}, 422, "title"),
        ("/webhook/generic?channel=alerts", GENERIC, 422, "no channel id"),
        ("/webhook/alertmanager", {**sent("firing"), "version": "3"}, 422, "version"),
        ("/webhook/alertmanager", {**sent("firing"), "alerts": []}, 422, "alerts"),
        ("/webhook/alertmanager", GENERIC, 422, "version"),
        ("/webhook/generic", b" " * (MAX_BODY + 1), 413, "larger"),
    ],
)
async def test_a_wrong_request_is_told_what_is_wrong(path: str, body: Any, status: int, words: str) -> None:
    kept = Kept()
    async with served(kept) as client:
        got, said = await asked(client, path, body)
    assert (got, kept.alerts) == (status, [])
    assert words in said["error"]
    assert said["fix"]


async def test_a_large_body_without_a_length_is_cut_off() -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(MAX_BODY // 65_536 + 2):
            yield b" " * 65_536

    async with served(Kept()) as client:
        answer = await client.post("/webhook/generic", data=endless(), headers=AUTH)
        assert answer.status == 413


async def test_a_body_that_is_not_compressed_as_it_says_is_refused() -> None:
    async with served(Kept()) as client:
        headers = AUTH | {"Content-Encoding": "gzip"}
        answer = await client.post("/webhook/generic?channel=C0ALERTS", data=b"garbage", headers=headers)
        assert answer.status == 400
        assert (await answer.json())["fix"]


async def test_no_channel_at_all_is_told() -> None:
    async with served(Kept(), channel=None) as client:
        status, said = await asked(client, "/webhook/generic", GENERIC)
    assert (status, "WEBHOOK_CHANNEL" in said["fix"]) == (422, True)


@pytest.mark.parametrize(
    ("problem", "status"),
    [(StoreUnavailable("the disk is full"), 503), (ChatRejected("Invite it.", "channel_not_found"), 422), (NotAllowedHere("shared"), 403)],
)  # fmt: skip
async def test_what_cannot_be_kept_is_not_acknowledged(problem: Exception, status: int) -> None:
    async with served(Kept(problem=problem)) as client:
        answer = await client.post("/webhook/generic", json=GENERIC, headers=AUTH)
        assert answer.status == status
        assert ("Retry-After" in answer.headers) is (status == 503)


async def test_a_heartbeat_and_a_test_are_taken_and_nothing_is_kept() -> None:
    kept = Kept()
    async with served(kept) as client:
        for title in ("Watchdog", "TestAlert"):
            status, said = await asked(client, "/webhook/generic", {"title": title})
            assert (status, said["accepted"]) == (200, False)
    assert kept.alerts == []


def alertmanager(name: str) -> Alert:
    found = build_alert(AlertmanagerBody.model_validate(sent(name)).to_intake())
    assert isinstance(found, Alert)
    return found


def slack_post(name: str) -> Alert:
    body = json.loads(next(SLACK.glob(f"*{name}.json")).read_text())["body"]
    found = read({"type": "message", "bot_id": "B1", "subtype": "bot_message", "ts": "1.0", **body})
    assert isinstance(found, Alert)
    return found


@pytest.mark.parametrize(
    ("webhook", "slack"),
    [
        ("firing", "006_default_PaymentGatewayErrorRateHigh_firing1"),
        ("resolved", "default_PaymentGatewayErrorRateHigh_resolved"),
        ("group_firing3", "default_KubePodCrashLooping_firing3"),
        ("group_partly", "default_KubePodCrashLooping_firing2"),
        ("group_resolved", "default_KubePodCrashLooping_resolved"),
    ],
)
def test_a_group_is_the_same_alert_by_webhook_and_by_slack(webhook: str, slack: str) -> None:
    direct, posted = alertmanager(webhook), slack_post(slack)
    same = ("fingerprint", "state", "title", "severity", "environment", "region", "vendor")
    assert {f: getattr(direct, f) for f in same} == {f: getattr(posted, f) for f in same}


def test_a_groups_members_keep_their_own_state() -> None:
    partly = alertmanager("group_partly")
    assert [m.state for m in partly.alerts].count(AlertState.RESOLVED) == 1
    assert partly.state is AlertState.FIRING
    assert partly.links["runbook"].startswith("https://runbooks.")


def test_a_large_group_is_counted_whole() -> None:
    alerts = [
        {"status": "resolved" if n < 60 else "firing", "labels": {"alertname": "A", "pod": f"p{n}"}} for n in range(65)
    ]
    body = {"version": "4", "status": "firing", "groupLabels": {"alertname": "A"}, "alerts": alerts}
    alert = build_alert(AlertmanagerBody.model_validate(body).to_intake())
    assert isinstance(alert, Alert)
    assert (alert.firing, alert.cleared) == (5, 60)
    assert "5 of 65 firing" in str(render_alert(alert).blocks)


def generic(**changes: Any) -> Alert:
    found = build_alert(GenericBody.model_validate({**GENERIC, **changes}).to_intake())
    assert isinstance(found, Alert)
    return found


def test_the_generic_json_is_read_field_by_field() -> None:
    found = generic()
    assert (found.tool, found.state, found.title, found.severity) == ("webhook", AlertState.FIRING, GENERIC["title"], Severity.CRITICAL)  # fmt: skip
    assert (found.service, found.vendor, found.region, found.environment) == (
        "checkout-api",
        "stripe",
        "eu-west-1",
        "prod",
    )
    assert Symptom("metric", "error rate", "18%", ">", "5%") in found.symptoms
    assert {s.code for s in found.symptoms} >= {"504", "HTTP 504"}
    assert (found.labels["attempts"], found.labels["paged"]) == ("3", "true")
    assert found.links["runbook"] == "https://runbooks.example/cards"


def test_identity_of_the_generic_json() -> None:
    assert generic().fingerprint == generic(state="resolved", severity="P3", symptoms=[]).fingerprint
    assert generic().fingerprint != generic(service="ledger").fingerprint
    assert generic(fingerprint="a", title="x y").fingerprint == generic(fingerprint="a", vendor=None).fingerprint
    assert generic().fingerprint == generic(title="Card payments time out 18%").fingerprint
    assert generic(fingerprint="a").fingerprint != generic(fingerprint="b").fingerprint


def test_secrets_do_not_get_in() -> None:
    secret = "Zq9Xw7LeAk12"
    assert secret not in repr(generic(labels={"password": secret}, description=f"password={secret}"))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*GenericBody.model_fields, *AlertmanagerBody.model_fields, "annotations", "code"]), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from([AlertmanagerBody, GenericBody]), JSON, st.dictionaries(st.sampled_from([*GENERIC]), JSON))
def test_any_body_is_an_alert_or_a_clear_refusal(model: Any, body: Any, changes: Any) -> None:
    base: Any = sent("firing") if model is AlertmanagerBody else GENERIC
    for one in (body, {**base, **changes}, {**base, "labels": body, "alerts": [body]}):
        found = read_or_refused(json.dumps(one).encode(), model)
        assert isinstance(found, Alert | NotAlert) or (found.status in {400, 422} and found.error)


def read_or_refused(raw: bytes, model: Any) -> Alert | NotAlert | RequestRefused:
    try:
        return build_alert(read_intake(raw, model))
    except RequestRefused as refused:
        return refused
