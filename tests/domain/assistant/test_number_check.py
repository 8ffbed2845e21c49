"""Which figures of a text another one holds."""

from __future__ import annotations

import pytest

from bot.domain.assistant.number_check import find_unsupported_figures

TOLD = [
    "error rate 18.2 % over 5m, p95 840 ms, cache 420ms, pool 100% (50/50), 48,201 requests, -1,204.5 offset",
    "deploy v4.19.0 at 2026-11-29T20:02:00Z, 12 minutes ago; http_504=88 on ap-south-1; three pods restarted twice; lag_ms=7; stuck for 31s",
]


@pytest.mark.parametrize(
    "text",
    [
        "18.2%", "18.20 percent", "840ms and 840", "840 milliseconds", "48201 requests", "v4.19.0", "12 min", "twelve minutes",
        "504s rose, 88 of them", "ap-south-1", "three pods, or 3", "the 3rd pod", "twice", "at 20:02", "20:02:00Z", "2026-11-29",
        "18,2 %", "p99, p95, k8s, 5xx", "pool=100%", "one of the pods", "1204.5", "٨٤٠ ms", "no number at all", "420 ms cache", "5 minutes", "31 seconds", "31s", "a lag of 7 ms",
    ],
)  # fmt: skip
def test_a_quoted_figure_is_told(text: str) -> None:
    assert find_unsupported_figures(text, TOLD) == ()


@pytest.mark.parametrize(
    ("text", "invented"),
    [
        ("840 %", "840 %"), ("0.84 s", "0.84 s"), ("18 %", "18 %"), ("48.201", "48.201"), ("v4.20.0", "v4.20.0"), ("20:03", "20:03"),
        ("2026-11-28", "2026-11-28"), ("us-east-1", "us-east-1"), ("four pods", "four"), ("thirty-three", "thirty-three"), ("doubled", "doubled"),
        ("half", "half"), ("in August", "august"), ("on Monday", "monday"), ("½", "½"), ("三", "三"), ("1,2,3", "1,2,3"), ("1,2.5", "1,2.5"),
        ("two hours", "two hours"), ("100 MB", "100 mb"), ("20th", "20th"), ("12,34 s", "12,34 s"), ("88 %", "88 %"), ("2 h", "2 h"),
    ],
)  # fmt: skip
def test_an_invented_figure_is_named(text: str, invented: str) -> None:
    assert find_unsupported_figures(text, TOLD) == (invented,)


def test_nothing_is_told_by_nobody() -> None:
    assert find_unsupported_figures("5 pods of 5", []) == ("5",)
