"""Posts of tools and home-made scripts that no parser knows: the generic reader must make sense of them."""

from __future__ import annotations

from typing import Any

import pytest

from bot.domain.alerts.alert import Alert
from bot.parsers import read


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


def card(title: str, color: str, text: str = "", **fields: str) -> dict[str, Any]:
    pairs = [{"title": k.replace("_", " "), "value": v} for k, v in fields.items()]
    return post(attachments=[{"title": title, "color": color, "text": text, "fallback": title, "fields": pairs}])


def sections(title: str, color: str, link: str, **fields: str) -> dict[str, Any]:
    pairs = [{"type": "mrkdwn", "text": f"*{k.replace('_', ' ')}*\n{v}"} for k, v in fields.items()]
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": link}}, {"type": "section", "fields": pairs}]
    return post(attachments=[{"title": title, "color": color, "fallback": title, "blocks": blocks}])


NR = "*<https://one.newrelic.example/issues/77|Web transactions deviated from the baseline>*"
ZBX = "High CPU utilization (over 90% for 5m)"
POSTS: dict[str, dict[str, Any]] = {
    "zabbix": card(f"PROBLEM: {ZBX}", "E45959", Host="srv-db-07", Severity="High", Opdata="Current utilization: 97.2 %"),
    "zabbix_ok": card(f"OK: {ZBX}", "97AAB3", Host="srv-db-07", Severity="High", Event_duration="10m"),
    "zabbix_other_host": card(f"PROBLEM: {ZBX}", "E45959", Host="srv-db-08", Severity="High"),
    "nagios": card("", "danger", "*PROBLEM* Service Alert: web03/HTTP is CRITICAL\nHost: web03\nService: HTTP\nState: CRITICAL\nInfo: Connection refused"),
    "nagios_ok": card("", "good", "*RECOVERY* Service Alert: web03/HTTP is OK\nHost: web03\nService: HTTP\nState: OK\nInfo: HTTP/1.1 200 OK"),
    "new_relic": sections("Critical priority issue is active", "e0463e", NR, Condition="High response time", Impacted_entity="cart-service", State="ACTIVATED"),
    "new_relic_closed": sections("Issue is closed", "2ca02c", NR, Condition="High response time", Impacted_entity="cart-service", State="CLOSED"),
    "dynatrace": card("OPEN Problem P-2611034: Failure rate increase on Web service easyTravel", "dc172a", "*Severity*: ERROR\n*Environment*: production"),
    "dynatrace_over": card("RESOLVED Problem P-2611034: Failure rate increase on Web service easyTravel", "7dc540", "*Severity*: ERROR\n*Environment*: production"),
    "dynatrace_again": card("OPEN Problem P-2611999: Failure rate increase on Web service easyTravel", "dc172a", "*Severity*: ERROR"),
    "honeycomb": card("Triggered: p99 latency on cart endpoint", "d0021b", "*P99(duration_ms)* is 2412.7 which is &gt; 2000\nservice.name=cart-service"),
    "netdata": post("node-12.acme.example is critical - system.ram", attachments=[{"color": "danger", "title": "ram in use = 98.1%", "footer": "node-12"}]),
    "netdata_clear": post("node-12.acme.example recovered - system.ram", attachments=[{"color": "good", "title": "ram in use (alarm was raised for 12 minutes)"}]),
    "monit": post("*mx1* monit alert -- Does not exist nginx\n```\nDoes not exist Service nginx\n Host: mx1\n Description: process is not running\n```"),
    "splunk": card("CRITICAL: payments-db/replication-lag", "e74c3c", "Incident #4411 triggered\nreplication lag is 412s (threshold 60s)"),
    "splunk_ack": card("ACKNOWLEDGED: payments-db/replication-lag", "f1c40f", "Incident #4411 acknowledged by jdoe"),
    "graylog": post("*Alert Event Definition `Too many login failures` triggered*\n*Priority:* High\n*Message:* login_failed count()=412.0"),
    "prtg": card("[Ping] Down on core-router.acme.example", "ff0000", "Sensor: Ping\nDevice: core-router.acme.example\nStatus: Down\nMessage: Request timed out"),
    "gitlab": post(attachments=[{"color": "danger", "title": "Pipeline #88121 has failed in 04:12", "title_link": "https://git.acme.example/shop/api/-/pipelines/88121", "fields": [{"title": "Branch", "value": "main"}]}]),
    "gitlab_passed": post(attachments=[{"color": "good", "title": "Pipeline #88140 has passed in 03:59", "title_link": "https://git.acme.example/shop/api/-/pipelines/88140", "fields": [{"title": "Branch", "value": "main"}]}]),
    "statuscake": post("*Shop API* | https://shop.acme.example went *Down* with status code *502*"),
    "freshping": post("Checkout page is now UP. It was down for 4 minutes"),
    "pairs": post("level=critical alert=disk_full host=db-3 mount=/data used=97% env=staging"),
    "pairs_more": post("level=critical alert=disk_full host=db-3 mount=/data used=99% env=staging"),
    "pairs_prod": post("level=critical alert=disk_full host=db-3 mount=/data used=99% env=prod"),
    "spanish": post("🔴 ALERTA: El servicio pagos-api está caído\nServidor: web-madrid-02\nEntorno: producción\nError: Connection refused\nGravedad: crítica"),
    "spanish_up": post("🟢 RECUPERADO: El servicio pagos-api está operativo\nServidor: web-madrid-02\nEntorno: producción"),
    "german": post(":x: STÖRUNG – Bestelldienst nicht erreichbar (HTTP 503)\nUmgebung: produktion\nRechner: app-ber-3\nSchweregrad: kritisch"),
    "german_up": post(":heavy_check_mark: BEHOBEN – Bestelldienst wieder erreichbar\nUmgebung: produktion\nRechner: app-ber-3"),
    "portuguese": post("⚠️ *ALERTA* fila-pedidos com 15.320 mensagens (limite: 5.000)\nambiente: produção | região: sa-east-1"),
    "japanese": post("【障害発生】決済サービス 応答なし\n重要度：緊急\nホスト：pay-tokyo-01\nエラー：接続タイムアウト"),
    "japanese_up": post("【復旧】決済サービス 応答なし\n重要度：緊急\nホスト：pay-tokyo-01"),
    "hindi": post("🚨 चेतावनी: भुगतान सेवा डाउन है\nत्रुटि: HTTP 504\nक्षेत्र: ap-south-1\nविक्रेता: PayU"),
    "otp": post(":warning: OTP delivery failing via Twilio: error 30008 for 42% of messages service=otp-gateway"),
    "status_page": post(attachments=[{"color": "ff9900", "title": "Investigating: Elevated 5xx errors in Mumbai", "title_link": "https://www.cloudflarestatus.com/incidents/abc", "text": "*Investigating* - Cloudflare is investigating."}]),
    "honeybadger": card("[shop/production] NoMethodError: undefined method", "d9534f", "orders#create"),
}  # fmt: skip


def alert(name: str) -> Alert:
    found = read(POSTS[name])
    assert isinstance(found, Alert), (name, found)
    return found


# name: (state, title, severity, service, environment, region, vendor)
FACTS: dict[str, tuple[str | None, ...]] = {
    "zabbix": ("firing", ZBX, "high", None, None, None, None),
    "zabbix_ok": ("resolved", ZBX, "high", None, None, None, None),
    "nagios": ("firing", "web03/HTTP", "critical", "HTTP", None, None, None),
    "nagios_ok": ("resolved", "web03/HTTP", None, "HTTP", None, None, None),
    "new_relic": ("firing", "Web transactions deviated from the baseline", "critical", "cart-service", None, None, None),
    "new_relic_closed": ("resolved", "Web transactions deviated from the baseline", None, "cart-service", None, None, None),
    "dynatrace": ("firing", "Failure rate increase on Web service easyTravel", "high", "easyTravel", "production", None, None),
    "dynatrace_over": ("resolved", "Failure rate increase on Web service easyTravel", "high", "easyTravel", "production", None, None),
    "honeycomb": ("firing", "p99 latency on cart endpoint", None, "cart-service", None, None, None),
    "netdata": ("firing", "ram in use", "critical", None, None, None, None),
    "netdata_clear": ("resolved", "ram in use", None, None, None, None, None),
    "splunk": ("firing", "payments-db/replication-lag", "critical", None, None, None, None),
    "splunk_ack": ("acknowledged", "payments-db/replication-lag", None, None, None, None, None),
    "gitlab": ("firing", "Pipeline #88121 has failed in 04:12", None, "api", None, None, None),
    "statuscake": ("firing", "Shop API", None, None, None, None, None),
    "freshping": ("resolved", "Checkout page", None, None, None, None, None),
    "pairs": ("firing", "disk_full", "critical", None, "staging", None, None),
    "spanish": ("firing", "El servicio pagos-api está caído", "critical", "pagos-api", "production", None, None),
    "german": ("firing", "Bestelldienst nicht erreichbar", "critical", None, "production", None, None),
    "portuguese": ("firing", "fila-pedidos com 15.320 mensagens (limite: 5.000)", None, "fila-pedidos", "production", "sa-east-1", None),
    "japanese": ("firing", "決済サービス 応答なし", "critical", "決済サービス", None, None, None),
    "hindi": ("firing", "भुगतान सेवा डाउन है", "warning", None, None, "ap-south-1", "payu"),
    "otp": ("firing", "OTP delivery failing via Twilio: error 30008 for 42% of messages", None, "otp-gateway", None, None, "twilio"),
    "status_page": ("firing", "Elevated 5xx errors in Mumbai", None, None, None, None, "cloudflare"),
    "honeybadger": ("firing", "[shop/production] NoMethodError: undefined method", None, "shop", "production", None, None),
}  # fmt: skip


@pytest.mark.parametrize("name", FACTS)
def test_facts(name: str) -> None:
    a = alert(name)
    assert (
        a.state.value,
        a.title,
        a.severity and a.severity.value,
        a.service,
        a.environment,
        a.region,
        a.vendor,
    ) == FACTS[name]


@pytest.mark.parametrize("name", POSTS)
def test_every_post_is_an_alert_of_the_generic_parser(name: str) -> None:
    assert alert(name).tool == "generic"


SAME = [
    ("zabbix", "zabbix_ok"), ("nagios", "nagios_ok"), ("new_relic", "new_relic_closed"), ("dynatrace", "dynatrace_over"), ("dynatrace", "dynatrace_again"),
    ("netdata", "netdata_clear"), ("splunk", "splunk_ack"), ("pairs", "pairs_more"), ("spanish", "spanish_up"), ("german", "german_up"),
    ("japanese", "japanese_up"), ("gitlab", "gitlab_passed"),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second"), SAME)
def test_a_repeat_or_an_end_has_the_fingerprint_of_its_alert(first: str, second: str) -> None:
    assert alert(first).fingerprint == alert(second).fingerprint


def test_different_alerts_have_different_fingerprints() -> None:
    seconds = {second for _, second in SAME}
    firsts = [name for name in POSTS if name not in seconds]
    assert len({alert(name).fingerprint for name in firsts}) == len(firsts)


@pytest.mark.parametrize(
    ("name", "symptom"),
    [
        ("zabbix", ("utilization", "97.2 %", None, None, None)),
        ("nagios", (None, None, None, None, "connection refused")),
        ("honeycomb", ("P99(duration_ms)", "2412.7", ">", "2000", None)),
        ("splunk", ("replication lag", "412s", ">", "60s", None)),
        ("statuscake", (None, None, None, None, "HTTP 502")),
        ("portuguese", ("mensagens", "15.320", ">", "5.000", None)),
        ("otp", (None, None, None, None, "30008")),
        ("hindi", (None, None, None, None, "HTTP 504")),
        ("honeybadger", (None, None, None, None, "NoMethodError")),
    ],
)
def test_symptoms(name: str, symptom: tuple[str | None, ...]) -> None:
    assert symptom in [(s.name, s.value, s.op, s.threshold, s.code) for s in alert(name).symptoms]


@pytest.mark.parametrize(
    ("name", "label", "value"),
    [
        ("netdata", "host", "node-12.acme.example"),
        ("prtg", "device", "core-router.acme.example"),
        ("spanish", "host", "web-madrid-02"),
        ("hindi", "vendor", "PayU"),
    ],
)
def test_labels(name: str, label: str, value: str) -> None:
    assert alert(name).labels[label] == value
