"""Evidence and attempts as rows that can be cited."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from bot.domain.assistant.analyst_rows import cite_evidence, number_attempts
from bot.domain.assistant.hypothesis import Citation, TriedFix
from bot.domain.evidence.items import ComparisonValue, EvidenceKind, Observed, Unavailable
from bot.domain.incidents.record import Attempt, VerificationStatus

AT = datetime(2026, 11, 29, 20, 14, tzinfo=UTC)


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
