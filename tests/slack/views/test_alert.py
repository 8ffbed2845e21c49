"""An alert as the bot's own post: what it shows, and that no text of it can do anything in Slack."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bot.domain.alerts.alert import Alert, AlertMember, AlertState, Severity
from bot.slack.views.alert import MARKS, render_alert

ALERT = Alert(
    "alertmanager",
    AlertState.FIRING,
    "alertmanager:x:1",
    title="GatewayErrors",
    severity=Severity.CRITICAL,
    service="checkout-api",
    vendor="stripe",
    labels={"cluster": "eu-1"},
    links={"runbook": "https://runbooks.example/gateway", "query": "https://prom.example/graph?g0.expr=a%3Eb&x=1"},
    alerts=(AlertMember(AlertState.FIRING), AlertMember(AlertState.RESOLVED)),
    firing=1,
    cleared=1,
    text="GatewayErrors\nError rate is 18%\ncluster: eu-1",
)


def test_state_name_facts_sentences_and_links() -> None:
    message = render_alert(ALERT)
    shown = json.dumps(message.blocks)
    assert message.text == "Firing: GatewayErrors"
    for words in ("*GatewayErrors*", "critical · checkout-api · stripe · 1 of 2 firing", "Error rate is 18%"):
        assert words in json.dumps(message.blocks, ensure_ascii=False)
    assert "<https://runbooks.example/gateway|runbook>" in shown
    assert "cluster: eu-1" not in shown


@pytest.mark.parametrize("state", list(AlertState))
def test_every_state_has_its_mark(state: AlertState) -> None:
    assert render_alert(replace(ALERT, state=state)).text.startswith(MARKS[state].split(" ", 1)[1])


def test_hostile_text_has_no_power_and_an_empty_alert_is_still_a_message() -> None:
    evil = "<!channel> <@U1> <https://evil.example|click> *bold*"
    hostile = replace(ALERT, title=evil, service=evil, text=f"t\n{evil}", links={"runbook": "javascript:alert(1)"})
    shown = json.dumps(render_alert(hostile).blocks) + render_alert(hostile).text
    for power in ("<!channel>", "<@U1>", "<https://evil", "<javascript"):
        assert power not in shown
    bare = render_alert(Alert("webhook", AlertState.FIRING, "f"))
    assert bare.text == "Firing: Alert"
    assert len(bare.blocks) == 1
