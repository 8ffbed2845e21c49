"""Reading whole messages: who posted, what arrived how, what leaves masked, and that no JSON breaks it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.alerts.alert import Alert, AlertState, NotAlert, PostDelivery, Severity
from bot.parsers import read
from bot.parsers.shape import build_shape
from tests.parsers.reading_support import JSON, SLACK_KEYS, VALUES


def post(text: str = "", **more: Any) -> dict[str, Any]:
    return {
        "type": "message",
        "ts": "1.0",
        "bot_id": "B1",
        "subtype": "bot_message",
        "username": "hook",
        "text": text,
        **more,
    }


def alert(event: dict[str, Any], **how: Any) -> Alert:
    found = read(event, **how)
    assert isinstance(found, Alert), found
    return found


def refused(event: dict[str, Any], **how: Any) -> NotAlert:
    found = read(event, **how)
    assert isinstance(found, NotAlert), found
    return found


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(SLACK_KEYS), VALUES, max_size=8))
def test_any_json_reads_as_something(event: dict[str, Any]) -> None:
    found = read(event)
    assert isinstance(found, Alert | NotAlert)
    json.dumps(build_shape(found), ensure_ascii=False).encode("utf-8")


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text(max_size=8), JSON, max_size=4))
def test_any_object_reads_as_something(event: dict[str, Any]) -> None:
    assert isinstance(read(event), Alert | NotAlert)


def test_deep_nesting_and_a_megabyte_are_read() -> None:
    deep: dict[str, Any] = {"type": "rich_text"}
    for _ in range(400):
        deep = {"type": "rich_text_section", "elements": [deep]}
    assert isinstance(read(post(blocks=[{"type": "rich_text", "elements": [deep]}])), NotAlert)
    big = alert(post("🔴 ALERT disk full on db-1\n" + "x" * 1_000_000))
    assert big.truncated
    assert len(big.text.encode()) <= 64 * 1024


def test_short_posts_are_not_called_truncated_and_a_cut_character_is_dropped() -> None:
    assert not alert(post("🔴 db-1 is down")).truncated
    cut = alert(post("🔴 db-1 is down " + "é" * 40_000))
    assert cut.truncated
    assert "\ufffd" not in cut.text


def test_broken_surrogates_and_control_characters_do_not_leave() -> None:
    text = alert(post("🔴 db-1 is down \ud800\x00 now")).text
    assert text == "🔴 db-1 is down ? now"


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ({"type": "message", "user": "U1", "text": "🚨 [P1] prod is down, 500s everywhere"}, "chatter"),
        ({"type": "message", "user": "U1", "text": "hm", "attachments": [{"is_share": True}]}, "shared_alert"),
        ({"type": "message", "subtype": "message_deleted"}, "deleted"),
        ({"type": "message", "subtype": "channel_topic", "user": "U1", "text": "RESOLVED"}, "chatter"),
        (post("🔴 db-1 is down", metadata={"event_type": "precedent_brief"}), "self"),
        (post("Test notification from Zabbix"), "test_notification"),
        (post(":tada: shop-api 1.2.3 was deployed to production by ana"), "deploy"),
        (post("Daily cost report: $412 (+4%)"), "digest"),
        (post("*On-call report* 12 alerts fired, 🔴 3 critical, 9 resolved"), "digest"),
        (post("Monitor Checkout p95 latency was muted by ana until 22:00"), "housekeeping"),
        (post("heartbeat ok from db-1"), "heartbeat"),
        (post("Good morning! What did you do yesterday?"), "bot_noise"),
        (post("we would like an answer about the warning"), "chatter"),
        (post("How we survived an outage", username="blog"), "chatter"),
        (post("Terraform: run-abc applied successfully"), "bot_noise"),
        (post("*Likely root cause:* a lock\n*Suggested fix:* restart"), "agent_note"),
        (post("New incident declared: INC-4"), "incident_announcement"),
    ],
)
def test_what_is_no_alert_says_what_it_is(event: dict[str, Any], kind: str) -> None:
    found = refused(event)
    assert (found.kind, bool(found.reason)) == (kind, True)


@pytest.mark.parametrize(
    "text",
    [
        "🔴 Nightly sales report failed",
        ":x: Pipeline failed for merge request !12",
        "🚨 kafka consumer poll: timeout on orders",
        "🔴 orders-api down\nHow to treat it: wiki\nThis alert can be silenced for an hour",
        "🔴 orders-api down\nRegion: x\nEnvironment: testing",
        "🔴 NMI watchdog timer expired on node-3",
        "🔴 Disk full on db-1\n\n\nSee the weekly capacity report",
    ],
)
def test_words_of_noise_do_not_hide_an_alert(text: str) -> None:
    assert alert(post(text)).state is AlertState.FIRING


def test_a_failing_deploy_is_an_alert() -> None:
    assert alert(post(":x: deployment of shop-api to production failed")).state is AlertState.FIRING


@pytest.mark.parametrize("key", ["bot_id", "user", "app_id"])
def test_our_own_posts_are_known_by_any_of_our_ids(key: str) -> None:
    assert refused(post("🔴 db-1 is down") | {key: "OURS"}, own_bot_ids=frozenset({"OURS"})).kind == "self"


@pytest.mark.parametrize(
    ("more", "delivery"),
    [
        ({}, PostDelivery.POST),
        ({"thread_ts": "1.0"}, PostDelivery.POST),
        ({"thread_ts": "0.5"}, PostDelivery.THREAD_REPLY),
        ({"thread_ts": "0.5", "subtype": "thread_broadcast"}, PostDelivery.THREAD_BROADCAST),
    ],
)
def test_delivery(more: dict[str, Any], delivery: PostDelivery) -> None:
    assert alert(post("🔴 db-1 is down", **more)).delivery is delivery


def test_an_edit_is_read_as_its_new_content() -> None:
    edit = {
        "type": "message",
        "subtype": "message_changed",
        "message": post("✅ db-1 is up again"),
        "previous_message": post("🔴 db-1 is down"),
    }
    found = alert(edit)
    assert (found.state, found.delivery) == (AlertState.RESOLVED, PostDelivery.EDIT)
    assert found.fingerprint == alert(post("🔴 db-1 is down")).fingerprint


def test_a_broadcast_reply_is_the_alert_that_it_answers() -> None:
    root = post("🔴 cart-service replica lag is 300s")
    reply = post("✅ this is over", thread_ts="0.5", subtype="thread_broadcast", root=root)
    assert alert(reply).fingerprint == alert(root).fingerprint
    lone = post("✅ this is over", thread_ts="0.5", subtype="thread_broadcast", root={"text": "lunch?"})
    assert alert(lone).fingerprint != alert(root).fingerprint


def test_secrets_do_not_leave_the_reader() -> None:
    secret = "gh" + "p_" + "a1B2c3D4" * 5
    event = post(
        f"🔴 ALERT deploy failed token={secret}\npassword: hunter2hunter",
        attachments=[
            {
                "title": f"failed {secret}",
                "title_link": f"https://u:{secret}@ci.example/1?token=abc&a=1",
                "fields": [{"title": "secret", "value": secret}],
            }
        ],
    )
    printed = json.dumps(build_shape(read(event)))
    assert secret not in printed
    assert "hunter2hunter" not in printed
    assert secret not in alert(event).text
    assert "https://[masked:url_password]@ci.example/1?token=[masked:secret]&a=1" in alert(event).links.values()


def test_severity_is_not_invented() -> None:
    assert alert(post("🔴 db-1 is down")).severity is None
    assert alert(post("🔴 [P2] db-1 is down")).severity is Severity.HIGH


def test_vendors_of_the_records_are_recognised() -> None:
    event = post("🔴 settlement file of HDX Bank failed")
    assert alert(event).vendor is None
    assert alert(event, vendor_names=frozenset({"HDX Bank"})).vendor == "hdx bank"


def test_a_rich_text_post_is_read_with_its_link() -> None:
    elements = [
        {"type": "emoji", "name": "red_circle"},
        {"type": "text", "text": " orders-db replica lag "},
        {"type": "text", "text": "312s", "style": {"bold": True}},
        {"type": "text", "text": " (threshold 60s) "},
        {"type": "link", "url": "https://dash.example/d/abc", "text": "dashboard"},
        {"type": "user", "user_id": "U1"},
        {"type": "broadcast", "range": "here"},
        {"type": "link", "url": "https://dash.example/bare"},
    ]
    section = {"type": "rich_text_section", "elements": elements}
    quoted = {"type": "rich_text_quote", "elements": [{"type": "text", "text": "region: eu-west-1"}]}
    found = alert(
        {
            "type": "message",
            "ts": "1",
            "bot_id": "B1",
            "user": "U9",
            "text": "",
            "blocks": [{"type": "rich_text", "elements": [section, quoted]}],
        }
    )
    assert (found.state, found.service, found.region) == (AlertState.FIRING, "orders-db", "eu-west-1")
    assert found.links["dashboard"] == "https://dash.example/d/abc"
    assert [(s.name, s.value, s.threshold) for s in found.symptoms] == [("orders-db replica lag", "312s", "60s")]
