"""What is said of an alert in words."""

from __future__ import annotations

import pytest

from bot.domain.alerts.alert import Symptom


@pytest.mark.parametrize(
    ("symptom", "said"),
    [
        (Symptom("metric", "error_ratio", "22%", ">", "5%"), "error_ratio 22% (> 5%)"),
        (Symptom("metric", "p95", "840 ms", None, "500 ms"), "p95 840 ms (500 ms)"),
        (Symptom("metric", "error_ratio", None, ">", "5%"), "error_ratio (> 5%)"),
        (Symptom("metric", "queue_depth", "1000", ">"), "queue_depth > 1000"),
        (Symptom("error", code="HTTP 504", text="GATEWAY_TIMEOUT"), "HTTP 504 GATEWAY_TIMEOUT"),
        (Symptom("error", text="no route"), "no route"),
        (Symptom("metric"), ""),
    ],
)
def test_a_symptom_in_words_never_takes_a_value_for_its_limit(symptom: Symptom, said: str) -> None:
    assert symptom.in_words == said
