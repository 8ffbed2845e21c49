"""Parsers on the shapes that the golden cases do not hold: tests of a tool, odd templates, missing parts."""

from __future__ import annotations

from typing import Any

import pytest

from bot.domain.alerts.alert import Alert, AlertState, NotAlert, Severity
from bot.parsers import read, sentry_metric
from bot.parsers.common.draft import Refusal
from bot.parsers.common.labels import find_equals_pairs
from bot.parsers.common.symptoms import find_metrics, remove_duplicates
from bot.parsers.common.titles import clean_title
from bot.parsers.message import parse_message
from bot.parsers.text.markup import read_plain
from bot.parsers.vocabulary.states import read_color_state

AM = "https://am.example/#/alerts?receiver=x"


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


def card(title: str, **more: Any) -> dict[str, Any]:
    return post(attachments=[{"title": title, "fallback": title, **more}])


def alert(event: dict[str, Any]) -> Alert:
    found = read(event)
    assert isinstance(found, Alert), found
    return found


def kind_of(event: dict[str, Any]) -> str:
    found = read(event)
    assert isinstance(found, NotAlert), found
    return found.kind


@pytest.mark.parametrize(
    "event",
    [
        card("[FIRING:1] TestAlert (critical)", title_link=AM),
        card("[FIRING:1] TestAlert Video (Grafana)", footer="Grafana v11.4.0"),
        card(
            "[FIRING:1] TestAlert",
            footer="Grafana v11.4.0",
            text="**Firing**\n\nValue: [no value]\nLabels:\n - alertname = TestAlert\n",
        ),
        card("[TEST] Triggered: CPU on host:a", title_link="https://app.datadoghq.com/monitors/1"),
        card("Test: CPU", title_link="https://app.datadoghq.com/monitors/1"),
        card("Triggered: this is a test notification", title_link="https://app.datadoghq.com/monitors/1"),
    ],
)
def test_a_tool_that_tries_itself_is_no_alert(event: dict[str, Any]) -> None:
    assert kind_of(event) == "test_notification"


def test_a_grafana_title_over_an_alertmanager_shape_is_grafanas() -> None:
    found = alert(
        card(
            "[FIRING:1] Lag Video (prod)",
            title_link="https://grafana.example/alerting/grafana/u/view",
            text="custom text",
        )
    )
    assert (found.tool, found.title, found.alerts) == ("grafana", "Lag Video", ())


def test_a_bracket_title_of_something_with_grafanas_marks_is_not_alertmanagers() -> None:
    assert alert(card("[FIRING:1] DiskFull (prod)", footer="sent by grafana-agent")).tool == "generic"


def test_the_dead_mans_switch_is_a_heartbeat_that_opens_nothing() -> None:
    found = alert(card("[FIRING:1] Watchdog (none)", title_link=AM))
    assert (found.kind, found.state) == ("heartbeat", AlertState.INFO)


def test_alertmanager_without_a_bracket_goes_by_the_colour() -> None:
    shown = {"title_link": AM, "fallback": "x", "title": ":boom: DiskFull"}
    assert alert(post(attachments=[{**shown, "color": "danger"}])).state is AlertState.FIRING
    assert alert(post(attachments=[{**shown, "color": "good"}])).state is AlertState.RESOLVED


def test_alertmanagers_title_as_message_text() -> None:
    found = alert(post("[RESOLVED] DiskFull db-eu-1 (prod eu-west-1 orders critical)"))
    assert (found.tool, found.state, found.title, found.severity) == (
        "alertmanager",
        AlertState.RESOLVED,
        "DiskFull",
        Severity.CRITICAL,
    )
    assert (found.environment, found.region, found.service) == ("prod", "eu-west-1", "orders")


def test_a_growing_group_keeps_its_fingerprint_and_another_group_has_another() -> None:
    one = alert(card("[FIRING:1] DiskFull eu-1 (db-1:9100 prod warning)", title_link=AM)).fingerprint
    three = alert(card("[FIRING:3] DiskFull eu-1 (prod)", title_link=AM)).fingerprint
    other = alert(card("[FIRING:1] DiskFull eu-2 (db-1:9100 prod warning)", title_link=AM)).fingerprint
    assert one == three != other


def chatbot(first: str, **fields: str) -> dict[str, Any]:
    pairs = [{"type": "mrkdwn", "text": f"*{k.replace('_', ' ')}*\n{v}"} for k, v in fields.items()]
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": first}}, {"type": "section", "fields": pairs}]
    return post(app_id="A6L22LZNH", attachments=[{"fallback": "x", "blocks": blocks}])


@pytest.mark.parametrize(
    ("mark", "state"), [(":white_check_mark:", AlertState.RESOLVED), (":rotating_light:", AlertState.FIRING)]
)
def test_an_alarm_of_the_chatbot_without_a_state_field_goes_by_its_mark(mark: str, state: AlertState) -> None:
    found = alert(chatbot(f"{mark} CloudWatch Alarm | api-5xx | eu-west-1 | Account: 111122223333"))
    assert (found.state, found.region, found.labels["account"]) == (state, "eu-west-1", "111122223333")


def test_other_events_of_the_chatbot() -> None:
    closed = alert(chatbot("AWS Health Event | eu-west-1 | Account: 111122223333", Status="closed"))
    assert (closed.state, closed.kind, closed.vendor) == (AlertState.RESOLVED, "vendor_status", "aws")
    other = alert(chatbot("CodePipeline failed | eu-west-1 | Account: 111122223333"))
    assert (other.title, other.kind, other.vendor) == ("CodePipeline failed", "alert", None)


def test_backup_jobs_and_findings_of_the_lambda() -> None:
    done = {"title": "⚠️ An AWS Backup job completed", "value": ""}
    assert kind_of(post(attachments=[{"fields": [done]}])) == "job"
    finding = {"title": "Finding", "value": "x"}
    found = alert(
        post(
            attachments=[
                {
                    "text": "AWS GuardDuty Finding - Port scan of i-0a",
                    "fallback": "x",
                    "color": "danger",
                    "fields": [finding],
                }
            ]
        )
    )
    assert (found.tool, found.title, found.kind) == ("cloudwatch_lambda", "Port scan of i-0a", "security")


def test_sentrys_metric_parser_refuses_what_holds_none() -> None:
    assert isinstance(sentry_metric.parse(parse_message(post("hello"))), Refusal)


@pytest.mark.parametrize(
    ("title", "state"),
    [
        ("Alert acknowledged: #7", AlertState.ACKNOWLEDGED),
        ("Alert snoozed: #7", AlertState.UPDATE),
        ("Alert closed: #7", AlertState.RESOLVED),
        ("Alert bumped: #7", AlertState.FIRING),
    ],
)
def test_opsgenies_actions(title: str, state: AlertState) -> None:
    found = alert(card(title, title_link="https://opsg.in/a/i/x/1", text='ana did it to alert "[Checkly] Quotes fail"'))
    assert (found.tool, found.state, found.title, found.labels["tiny_id"]) == ("opsgenie", state, "Quotes fail", "7")


@pytest.mark.parametrize(
    ("word", "state"),
    [
        ("escalated", AlertState.ESCALATED),
        ("reassigned", AlertState.UPDATE),
        ("reopened", AlertState.FIRING),
        ("resolved", AlertState.RESOLVED),
    ],
)
def test_pagerdutys_notes(word: str, state: AlertState) -> None:
    found = alert(post(f"Incident #40213 was {word} by ana", username="PagerDuty", thread_ts="0.5"))
    assert (found.tool, found.state, found.title) == ("pagerduty", state, None)


def test_datadog_without_a_monitor_link_keys_on_name_and_scope() -> None:
    def named(scope: str) -> str:
        return alert(card(f"Triggered: CPU high on {scope}", text="Notified: @ops")).fingerprint

    assert named("host:a") == named("host:a") != named("host:b")


@pytest.mark.parametrize(
    ("color", "state"),
    [
        ("2eb886", AlertState.RESOLVED),
        ("a30200", AlertState.FIRING),
        ("e01e5a", AlertState.FIRING),
        ("daa038", None),
        ("808080", None),
        ("3498db", None),
        ("8e44ff", None),
        ("f39", None),
        ("zzzzzz", None),
        ("", None),
    ],
)
def test_colours(color: str, state: AlertState | None) -> None:
    assert read_color_state(color) is state


def test_slack_markup() -> None:
    text, links = read_plain(
        "*a* &lt;b&gt; `c` <https://x.example/?a=1&amp;b=2|the *page*> <mailto:q@x.example|q> <@U1> <#C1|ops> <!here> <!date^1^{date}|now> <raw>"
    )
    assert text == "a <b> c the page q @U1 #ops  now <raw>"
    assert [(link.label, link.url) for link in links] == [("the page", "https://x.example/?a=1&b=2")]
    assert [link.url for link in read_plain("see https://y.example/a, and <https://z.example>")[1]] == [
        "https://z.example",
        "https://y.example/a",
    ]


def test_pairs_keep_quoted_and_spaced_values() -> None:
    assert find_equals_pairs('a="b c" d=HDX Bank e=5 f=, g=(x) https://h.example/?z=1') == [
        ("a", "b c"),
        ("d", "HDX Bank"),
        ("e", "5"),
        ("g", "(x"),
    ]


def test_metrics_in_other_wordings() -> None:
    def first(text: str) -> tuple[str | None, ...]:
        sign = remove_duplicates(find_metrics(text))[0]
        return sign.name, sign.value, sign.op, sign.threshold

    assert first("支付网关错误率 12.5% 超过阈值 5%") == ("支付网关错误率", "12.5%", ">", "5%")
    assert first("Redis memory above 90%") == ("Redis memory", "90%", ">", "90%")
    assert first("free space below 5 GB") == ("free space", "5 GB", "<", "5 GB")
    assert first("Success rate: 61.2% (baseline 94%)") == ("Success rate", "61.2%", "<", "94%")
    assert first("queue depth 1.2.3 (limit 5)") == ("queue depth", "1.2.3", None, "5")


def test_a_region_label_may_name_a_region_that_no_cloud_has() -> None:
    assert alert(post("🔴 db is down\nregion: Mumbai-DC2")).region == "mumbai-dc2"


def test_an_error_host_of_nobody_listed_is_no_vendor_and_a_later_one_is() -> None:
    text = "🔴 payouts failing\nPOST https://pay.acme.example/x 503\nPOST https://api.stripe.com/v1 503"
    assert alert(post(text)).vendor == "stripe"


def test_a_status_pages_owner_is_the_vendor() -> None:
    links = "<https://wiki.acme.example/x|notes> <https://status.paylink.example/incidents/1|UPI failing>"
    assert alert(post(f"*Investigating* - {links}")).vendor == "paylink"
    assert alert(post("*Investigating* - webhooks delayed", username="Twilio status")).vendor == "twilio"


def test_titles_lose_every_prefix_that_states_something() -> None:
    assert clean_title("[FIRING] [P1] Critical: Alert: ALERT: disk full") == "disk full"


def test_fields_without_label_or_value_and_long_ones() -> None:
    fields = [{"title": "", "value": ""}, {"title": "Only", "value": ""}]
    blocks = [
        {
            "type": "section",
            "fields": [{"type": "mrkdwn", "text": "a sentence without any label in it"}, "bare: string", 5],
        }
    ]
    found = alert(post("🔴 db-1 is down", blocks=blocks, attachments=[{"fields": fields, "fallback": "x"}]))
    assert "a sentence without any label in it" in found.text
    assert found.labels["bare"] == "string"
