"""NOW as the thread and Details show it: one line each, apart from memory, escaped, and what was seen then beside memory."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

from bot.domain.brief.decide import add_evidence
from bot.domain.brief.then_and_now import PastSnapshot
from bot.domain.evidence.items import ComparisonValue, EvidenceKind, Observed, Unavailable
from bot.slack.views.brief import evidence as now_parts
from bot.slack.views.brief.layout import render_brief
from bot.slack.views.details_modal import build_details_view
from bot.workflows.recall.details import BriefDetails
from tests.slack import cases
from tests.slack.cases import NOW

SERVER = "https://prometheus.example/graph?q=1"


def metric(signal: str, what: str, value: float, unit: str, **more: float) -> Observed:
    compared = tuple(ComparisonValue(label.replace("_", " "), number) for label, number in more.items())
    return Observed(EvidenceKind.METRIC, signal, what, "prometheus", NOW, value, unit, "5 min", compared, url=SERVER)


ERRORS = replace(
    metric("error_ratio", "error rate", 18.2, "%", peak=19.1, threshold=5.0, yesterday=0.3),
    compared=(
        ComparisonValue("30 min ago", 0.4),
        ComparisonValue("peak", 19.1),
        ComparisonValue("threshold", 5),
        ComparisonValue("yesterday", 0.3),
    ),
)
POOL = metric("pool_in_use", "pool in use", 98, "%")
LOGS = Observed(
    EvidenceKind.LOGS, "logs", "log lines", "journald", NOW, text="timeout <!channel> *x*", count=1312,
    first=NOW - timedelta(minutes=9), last=NOW, truncated=True,
)  # fmt: skip
DEPLOY = Observed(
    EvidenceKind.DEPLOY, "deploy", "deploy of payments-api", "github", NOW - timedelta(minutes=12), text="v2"
)
LATE = Unavailable(EvidenceKind.VENDOR_STATUS, "statuspage", "status page", "statuspage", "no answer within 2 s")


def brief(*evidence, **more):
    known = replace(cases.high(), now=NOW, **more)
    return add_evidence(known, evidence, NOW)


def block(message, start: str) -> str:
    return next(text for _, text in cases.texts(message.blocks) if text.startswith(start))


def test_each_thing_seen_is_a_line_with_its_values_and_source() -> None:
    lines = block(render_brief(brief(LOGS, LATE, ERRORS, POOL)), "*NOW*").splitlines()
    assert lines[1:3] == [
        ":warning: *pool in use 98 %.* Memory says: DB pool not the cause in 3 of 3.",
        "• error rate *18.2 %* (5 min) · 30 min ago 0.4 % · peak 19.1 % · threshold 5 % · yesterday 0.3 %"
        f" · <{SERVER}|prometheus>",
    ]
    assert lines[4].startswith("• 1,312× timeout &lt;!channel&gt; ∗x∗ · <!date^")
    assert "not all of it" in lines[4]
    assert lines[5] == "• status page · statuspage: unavailable: no answer within 2 s"


def test_now_comes_before_memory_and_then_stands_with_memory() -> None:
    shown = render_brief(brief(POOL, DEPLOY, then=PastSnapshot("INC-61", {"pool_in_use": "100 %", "p95": "840 ms"})))
    texts = [text for _, text in cases.texts(shown.blocks)]
    now = next(n for n, text in enumerate(texts) if text.startswith("*NOW*"))
    memory = next(n for n, text in enumerate(texts) if text.startswith("*BOUNDARY*"))
    assert now < memory
    assert "*THEN* (INC-61) pool in use: then 100 %, now 98 %" in texts[memory]
    assert "then" not in texts[now]
    assert "*12 min before the alert*" in texts[now]
    assert "*SKIP*" not in "\n".join(texts)


def test_without_evidence_nothing_is_said_of_it() -> None:
    assert "NOW" not in json.dumps(render_brief(brief(then=PastSnapshot("INC-61", {"p95": "840 ms"}))).blocks)


def test_little_room_leaves_the_values_and_the_contradiction() -> None:
    many = [metric(f"signal{n}", f"signal number {n} of a long name", n, "%", threshold=5.0) for n in range(9)]
    long = brief(*many, POOL, LATE, LOGS, steps=("step " * 60,) * 5)
    assert len(block(render_brief(long), "*NOW*")) < len(now_parts.render_now(long)[0][0]["text"]["text"])
    text = now_parts.render_now(long)[2][0]["text"]["text"]
    assert text.splitlines()[1].startswith(":warning: *pool in use 98 %.*")
    assert "signal number 0 of a long name *0 %* · " in text
    assert "prometheus.example" not in text
    assert "unavailable: statuspage: no answer within 2 s" in text


def test_details_show_all_of_it() -> None:
    many = [metric(f"signal{n}", f"signal {n}", n, "%") for n in range(12)]
    told = brief(*many, POOL, DEPLOY, LATE, then=PastSnapshot("INC-61", {"pool_in_use": "100 %", "p95": "840 ms"}))
    shown = cases.shown(build_details_view(BriefDetails(told))["blocks"])
    for n in range(12):
        assert f"• signal {n} *{n} %*" in shown
    assert "*THEN (INC-61)*\n• pool_in_use: then 100 %, now 98 %\n• p95: then 840 ms" in shown
    assert "Not skipped while a contradiction stands: DB pool" in shown
    assert "no answer within 2 s" in shown
