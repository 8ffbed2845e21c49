"""The verdict: one sentence, service first, at most 140 characters, its record never cut off."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.alerts.alert import Symptom
from bot.domain.brief.boundary import BoundaryCall
from bot.domain.brief.recommendation import Confidence, Recommendation
from bot.domain.brief.triage_checklist import build_triage_checklist
from bot.domain.brief.verdict import LIMIT, write_verdict
from bot.domain.incidents.record import Boundary
from tests.builders import an_alert

CALL = BoundaryCall(Boundary.VENDOR, {"vendor": 3, "internal": 1})


def fix(confidence: Confidence = Confidence.HIGH, s: int = 3, p: int = 0, f: int = 0, title: str | None = None):
    return Recommendation("Fail over; watch", s, p, f, 4, confidence, "…", title=title)


def say(alert=None, **said: Any) -> str:
    usual: dict[str, Any] = {
        "state": None,
        "call": CALL,
        "recommendation": fix(),
        "first_step": "Fail over",
        "outages": 4,
        "insufficient": None,
        "memory_mode": "on",
    }
    return write_verdict(alert or an_alert(), **{**usual, **said})


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ({}, "payments-api: memory says vendor razorpay, 3 of 4; Fail over worked 3 of 3 (HIGH)"),
        (
            {"recommendation": fix(title="Second provider")},
            "payments-api: memory says vendor razorpay, 3 of 4; Second provider worked 3 of 3 (HIGH)",
        ),
        (
            {"recommendation": fix(Confidence.LOW, 2, 1, 2), "call": BoundaryCall(Boundary.INTERNAL, {"internal": 4})},
            "Mixed: payments-api: memory says internal, 4 of 4; Fail over worked 2 of 5 (LOW)",
        ),
        (
            {
                "recommendation": replace(fix(), worked_in=("vendor",)),
                "call": BoundaryCall(Boundary.INTERNAL, {"vendor": 3, "internal": 1}),
            },
            "Mixed: payments-api: memory says internal, 1 of 4; Fail over worked 3 of 3 in vendor cases (HIGH)",
        ),
        (
            {
                "recommendation": fix(Confidence.MEDIUM, 1),
                "call": BoundaryCall(Boundary.INTERNAL, {"vendor": 3, "internal": 1}, like="eu-west-1"),
            },
            "payments-api: memory says internal as eu-west-1, 1 of 4; Fail over worked 1 of 1 (MEDIUM)",
        ),
        ({"recommendation": None}, "payments-api: memory says vendor razorpay, 3 of 4; no fix known to work"),
        ({"call": BoundaryCall()}, "payments-api: memory of 4 similar outages; Fail over worked 3 of 3 (HIGH)"),
        (
            {"call": BoundaryCall(), "outages": 1, "state": "cleared"},
            "payments-api: cleared: memory of 1 similar outage; Fail over worked 3 of 3 (HIGH)",
        ),
        ({"insufficient": "nothing in memory yet"}, "payments-api: no answer from memory, nothing in memory yet"),
        ({"state": "resolved", "memory_mode": "off"}, "payments-api: resolved"),
        ({"state": "dismissed", "memory_mode": "off"}, "payments-api: not an alert"),
        ({"state": "open", "memory_mode": "off"}, "payments-api: PaymentGatewayErrorRateHigh firing (critical)"),
    ],
)
def test_table(said: dict[str, Any], sentence: str) -> None:
    assert say(**said) == sentence


@pytest.mark.parametrize(
    ("fields", "start"),
    [
        ({"service": None}, "PaymentGatewayErrorRateHigh: memory"),
        ({"service": None, "title": None}, "razorpay: memory"),
        ({"service": None, "title": None, "vendor": None}, "alertmanager alert: memory says vendor, 3 of 4"),
    ],
)
def test_without_a_service_the_next_best_name_comes_first(fields, start: str) -> None:
    assert say(an_alert(**fields)).startswith(start)


def test_without_a_title_the_alert_is_called_alert() -> None:
    alert = an_alert(service=None, severity=None)
    assert say(alert, memory_mode="off") == "PaymentGatewayErrorRateHigh: alert firing"


@settings(max_examples=100, derandomize=True, deadline=None)
@given(
    st.text(min_size=1, max_size=300),
    st.text(max_size=300),
    st.sampled_from([None, "open", "cleared", "dismissed"]),
    st.sampled_from([None, "x" * 300]),
    st.sampled_from(["on", "off"]),
    st.booleans(),
)
def test_any_text_gives_one_short_line_and_the_record_is_never_cut(name, step, state, insufficient, mode, low) -> None:
    alert = an_alert(service=name, vendor=name, title=name)
    found = fix(Confidence.LOW if low else Confidence.MEDIUM, 12, 34, 56 if low else 0)
    said = say(
        alert, first_step=step * 3, state=state, insufficient=insufficient, memory_mode=mode, recommendation=found
    )
    assert 0 < len(said) <= LIMIT
    assert said.splitlines() == [said]
    if mode == "on" and insufficient is None:
        assert said.endswith(f"worked 12 of {46 + found.failures} ({found.confidence.value})")


@pytest.mark.parametrize(
    ("fields", "first"),
    [
        ({}, "razorpay: its status page, and our error rate for its calls alone"),
        ({"vendor": None}, "payments-api: p95 latency by endpoint and by upstream"),
        (
            {"vendor": None, "title": "TLSHandshakeFailed"},
            "payments-api: expiry date and chain of the certificate that is served",
        ),
        (
            {"vendor": None, "service": None, "title": "KafkaConsumerLag", "symptoms": ()},
            "the service: lag for each partition, consumers, rate in and out",
        ),
        (
            {"vendor": None, "symptoms": (Symptom("error", text="no space left on device"),)},
            "what grew on the disk in the last day, and how fast",
        ),
        (
            {"vendor": None, "title": "x", "symptoms": (), "labels": {"kind": "NightlyJob"}},
            "log of the last run that failed and of the last one that worked",
        ),
        (
            {"vendor": None, "title": "x", "symptoms": ()},
            "deploys, feature flags and configuration of payments-api in the last hour",
        ),
    ],
)
def test_what_to_collect_fits_the_alert(fields, first: str) -> None:
    found = build_triage_checklist(an_alert(**fields))
    assert found[0] == first
    assert 3 <= len(found) <= 5
    assert sum("in the last hour" in item for item in found) == 1


def test_the_last_deploys_are_asked_for_whatever_else_fits() -> None:
    title = "TLS DNS cron lag disk memory pool pod 429 latency 5xx"
    found = build_triage_checklist(an_alert(title=title))
    assert len(found) == 5
    assert found[-1].startswith("deploys")
