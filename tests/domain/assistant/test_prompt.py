"""What the model is asked: masked, within its budget, in three parts, and nothing beyond what was given."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from bot.domain.alerts.alert import Alert, AlertState, Severity, Symptom
from bot.domain.assistant.hypothesis import ALERT, Citation, ModelInput, TriedFix
from bot.domain.assistant.prompt import (
    BUDGET,
    SMALL_BUDGET,
    WITHOUT_MEMORY,
    build_model_input,
    build_prompt,
    build_schema,
    cite_evidence,
    number_attempts,
)
from bot.domain.brief.checks import SkippedCheck
from bot.domain.brief.decide import Brief, RootCause, SourceLine
from bot.domain.brief.recommendation import Confidence, FailedFix, Recommendation
from bot.domain.evidence.items import ComparisonValue, EvidenceKind, Observed, Unavailable
from bot.domain.incidents.lifecycle import IncidentState
from bot.domain.incidents.opening import IncidentView
from bot.domain.incidents.record import Attempt, Boundary, VerificationStatus

AT = datetime(2026, 11, 29, 20, 14, tzinfo=UTC)
ALERTED = Alert(
    "grafana", AlertState.FIRING, "fp", title="PaymentErrors", severity=Severity.CRITICAL, service="payments-api", vendor="razorpay",
    symptoms=(Symptom("metric", "error rate", "18.2 %", ">", "5 %"), Symptom("error", code="504", text="timeout")),
)  # fmt: skip
BRIEF = Brief(
    "payments-api: vendor", ALERTED, IncidentView("INC-9", IncidentState.OPEN, 1, AT),
    root_cause=RootCause("gateway latency", verified=True, incident_id="INC-7"),
    recommendation=Recommendation("failover", 1, 0, 0, 2, Confidence.MEDIUM, "", AT, ("INC-7", "INC-5"), resolved=("INC-7",)),
    alternatives=(Recommendation("wait", 0, 1, 0, 2, Confidence.LOW, "", None, ("INC-5",)),),
    did_not_work=(FailedFix("restart the pods", 1, ("INC-5",)),),
    skip=(SkippedCheck("DB pool", 1, 2, None, None, ("INC-7",)),),
    sources=(SourceLine("INC-7", "Gateway times out", Boundary.VENDOR, "strong", 0.9, AT), SourceLine("INC-5", "Slow", Boundary.UNKNOWN, "strong", 0.6)),
)  # fmt: skip
TRIED = TriedFix("A1", "raise the pool", VerificationStatus.FAILED)


def test_the_parts_hold_what_the_brief_says_of_each_incident() -> None:
    given = build_model_input(BRIEF, [Citation("E1", "pool 100 %")], [TRIED])
    user = json.loads(build_prompt(given).user)
    assert user == {
        "evidence": [
            {"id": ALERT, "text": "PaymentErrors; payments-api; razorpay; critical; open; error rate 18.2 % > threshold 5 %; 504 timeout"},
            {"id": "E1", "text": "pool 100 %"},
        ],
        "precedents": [
            {"id": "INC-7", "text": "Gateway times out. On 2026-11-29. The fault was vendor. Root cause: gateway latency. Worked: failover. Not the cause: DB pool"},
            {"id": "INC-5", "text": "Slow. Tried: failover. Tried: wait. Did not work: restart the pods"},
        ],
        "attempts": [{"id": "A1", "text": "raise the pool (FAILED)"}],
    }  # fmt: skip
    assert given.failed_fixes == ("raise the pool", "restart the pods")


def test_without_memory_nothing_past_is_sent_and_the_model_is_told_so() -> None:
    given = build_model_input(BRIEF, [], [TRIED], memory=False)
    prompt = build_prompt(given)
    assert "INC-" not in prompt.user
    assert "failover" not in prompt.user
    assert WITHOUT_MEMORY in prompt.system
    assert given.failed_fixes == ("raise the pool",)
    assert build_schema(prompt.given)["properties"]["cited"]["items"]["enum"] == [ALERT, "A1"]


def test_an_empty_memory_is_told_like_none_and_a_reported_cause_as_reported() -> None:
    bare = replace(BRIEF, sources=(), recommendation=None, incident=None, alert=replace(ALERTED, severity=None))
    prompt = build_prompt(build_model_input(bare, [], []))
    assert WITHOUT_MEMORY in prompt.system
    assert "firing" in prompt.user
    reported = replace(BRIEF, root_cause=RootCause("dns", verified=False, incident_id="INC-7"))
    assert "Root cause as reported, not verified: dns" in build_prompt(build_model_input(reported, [], [])).user


def test_secrets_are_masked_before_rows_are_cut_and_the_budget_is_kept() -> None:
    token = "gh" + "p_" + "a1B2c3D4e5F6" * 3
    long = [Citation(f"E{n}", "x" * 570 + " " + token + " y" * 900) for n in range(40)]
    given = ModelInput(tuple(long), (Citation("INC-7", "z" * 500),), (TRIED,))
    prompt = build_prompt(given)
    assert token[:8] not in prompt.user
    assert len(prompt.user) <= BUDGET + 1_200
    assert "INC-7" not in prompt.user
    assert "A1" in prompt.given.texts_by_id
    assert set(prompt.given.texts_by_id) == {row["id"] for part in json.loads(prompt.user).values() for row in part}
    assert prompt.smaller is not None
    assert len(prompt.smaller.user) <= SMALL_BUDGET + 600
    assert build_prompt(given) == prompt


def test_what_was_seen_and_what_was_not() -> None:
    pool = Observed(EvidenceKind.METRIC, "pool_in_use", "pool in use", "prometheus", AT, 100.0, "%", "5 min", (ComparisonValue("30 min ago", 41.0),))  # fmt: skip
    logs = Observed(EvidenceKind.LOGS, "x", "pool timeout after # ms", "logs", AT, count=88, first=AT - timedelta(minutes=3), last=AT, truncated=True)  # fmt: skip
    deploy = Observed(
        EvidenceKind.DEPLOY, "deploy", "deploy of payments-api", "github", AT, 12.0, "min", text="v4.19.0"
    )
    silent = Unavailable(EvidenceKind.METRIC, "p95", "p95", "prometheus", "no answer within 2 s")
    waiting = Unavailable(EvidenceKind.METRIC, "x", "x", "prometheus", "asked", pending=True)
    assert cite_evidence([pool, waiting, logs, deploy, silent]) == (
        Citation("E1", "pool in use over 5 min: 100 %; 30 min ago 41 %; at 2026-11-29 20:14 UTC"),
        Citation("E2", "pool timeout after # ms; 88 times; first 2026-11-29 20:11 UTC; last 2026-11-29 20:14 UTC; at 2026-11-29 20:14 UTC; there is more than was read"),
        Citation("E3", "deploy of payments-api: 12 min; v4.19.0; at 2026-11-29 20:14 UTC"),
        Citation("E4", "p95: not known (no answer within 2 s)"),
    )  # fmt: skip


def test_attempts_in_their_order() -> None:
    tried = [Attempt("restart", VerificationStatus.FAILED), Attempt("failover", VerificationStatus.PARTIAL)]
    assert number_attempts(tried) == (
        TriedFix("A1", "restart", VerificationStatus.FAILED),
        TriedFix("A2", "failover", VerificationStatus.PARTIAL),
    )
