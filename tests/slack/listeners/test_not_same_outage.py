"""Two tools, one outage: the brief asks in one line, and a person's no is kept."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.domain.incidents.outages import map_outages
from bot.domain.recall.query import OPERATOR
from bot.ports.errors import IncidentNotFound
from bot.slack import ids
from bot.slack.listeners.brief_actions import keep_apart
from tests.slack.conftest import ROOT, Desk, pressed, wait

DATADOG = json.loads((ROOT / "seeds/alerts/datadog-checkout-latency.json").read_text())


def on(service: str) -> dict[str, Any]:
    """Datadog's alert, about this service."""
    return dict(json.loads(json.dumps(DATADOG).replace("checkout-web", service)))


async def told(office: Desk, payload: dict[str, Any], channel: str = "C0ALERTS") -> str:
    posted = await office.slack.post_alert(channel, payload)
    await office.work()
    return str(posted["ts"])


async def one_outage(office: Desk) -> str:
    """Datadog's alert after Alertmanager's, of the same service; its ts."""
    await office.alert()
    return await told(office, on("payments-api"))


async def test_the_later_brief_asks_in_one_line_and_the_earlier_does_not(office: Desk) -> None:
    first = await office.alert()
    second = await told(office, on("payments-api"))
    asked = json.dumps(office.brief(second))
    assert asked.count("Same outage?") == 1
    assert "INC-1" in asked
    assert "Not the same" in asked
    assert "Same outage?" not in json.dumps(office.brief(first))


async def test_another_service_or_the_same_tool_is_not_asked_about(office: Desk) -> None:
    await office.alert()
    for payload in (on("checkout-web"), json.loads((ROOT / "seeds/alerts/payment-gateway-504.json").read_text())):
        text = json.dumps(payload).replace("PaymentGatewayErrorRateHigh", "AnotherAlert")
        ts = await told(office, json.loads(text))
        assert "Same outage?" not in json.dumps(office.brief(ts))


async def test_no_is_kept_on_both_records_and_the_line_is_gone(office: Desk) -> None:
    ts = await one_outage(office)
    before = await office.memory.incidents.list_records(OPERATOR)
    assert len(set(map_outages(before).values())) == 1
    for _ in range(2):  # pressed twice before the brief was edited
        await office.slack.click("alerts", office.brief(ts)["ts"], ids.NOT_SAME, user="alice")
    for _ in range(100):  # it is acknowledged before it is recorded
        if (await office.memory.incidents.read_record("INC-2")).apart_from:
            break
        await wait()
    await office.work()
    after = await office.memory.incidents.list_records(OPERATOR)
    assert [r.apart_from for r in after] == [("INC-2",), ("INC-1",)]
    assert len(set(map_outages(after).values())) == 2
    assert "Same outage?" not in json.dumps(office.brief(ts))
    assert "Not the same" not in json.dumps(office.brief(ts))
    await told(office, on("payments-api"))
    assert "Same outage?" not in json.dumps(office.brief(ts))


async def test_nobody_is_asked_about_what_is_private_elsewhere(office: Desk) -> None:
    await office.alert(channel="C0SECRET")
    ts = await told(office, on("payments-api"))
    assert "Same outage?" not in json.dumps(office.brief(ts))


async def test_a_forged_button_tells_nothing_and_records_nothing(office: Desk) -> None:
    await office.alert(channel="C0SECRET")
    ts = await told(office, on("payments-api"))
    for other in ("INC-1", "INC-99"):
        with pytest.raises(IncidentNotFound):
            await keep_apart(office.deps, pressed({"i": "INC-2", "o": other})[0])
    hidden = await office.memory.incidents.read_record("INC-1")
    assert hidden.apart_from == ()
    assert "INC-1" not in json.dumps(office.brief(ts))
