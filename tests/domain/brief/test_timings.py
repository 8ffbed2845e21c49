"""The trace of an incident tells the steps with the times that are stored, and no other."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from bot.domain.alerts.alert import Alert, AlertState
from bot.domain.brief.decide import Brief
from bot.domain.brief.timings import BriefTimings, DeliveryTimes, TimingStep, list_timing_steps
from bot.domain.evidence.items import EvidenceKind, Observed, Unavailable
from bot.domain.recall.ranking import MissingPart

AT = datetime(2026, 11, 23, 8, 0, tzinfo=UTC)
BRIEF = Brief("v", Alert("grafana", AlertState.FIRING, "f"))


def after(seconds: float) -> datetime:
    return AT + timedelta(seconds=seconds)


def test_all_steps_in_the_order_of_the_work() -> None:
    seen = (
        Observed(EvidenceKind.DEPLOY, "deploy", "d", "s", AT),
        Unavailable(EvidenceKind.LOGS, "loki", "loki", "loki", "down", pending=True),
    )
    brief = replace(BRIEF, evidence=seen, evidence_at=after(2), missing=(MissingPart("memory", "no answer"),))
    posted, edited = DeliveryTimes(after(3), after(4.25), 2, "sent"), DeliveryTimes(after(60), after(61), 1, "sent")
    traced = BriefTimings(14, AT, after(900), after(1), after(3), posted, edited)
    assert list_timing_steps(traced, brief) == (
        TimingStep("alert", AT, "grafana"),
        TimingStep("read", after(1)),
        TimingStep("recalled", None, "0 strong, 0 possible; memory: no answer"),
        TimingStep("evidence", after(2), "1 observed, 1 unavailable, some still asked"),
        TimingStep("decided", after(3)),
        TimingStep("posted", after(4.25), "1.2 s later, 2 attempts"),
        TimingStep("last edit", after(61), "1.0 s later"),
        TimingStep("last alert", after(900), "14 notices"),
    )


def test_what_is_not_kept_is_left_out_and_what_waits_or_failed_is_said() -> None:
    assert list_timing_steps(BriefTimings(), replace(BRIEF, memory_mode="off")) == (
        TimingStep("recalled", None, "memory was off"),
    )
    waiting = list_timing_steps(BriefTimings(posted=DeliveryTimes(AT, attempts=3, error="Slack is down")), BRIEF)
    assert waiting[-1] == TimingStep("posted: waiting", None, "owed, 3 attempts: Slack is down")
    assert list_timing_steps(BriefTimings(posted=DeliveryTimes(AT)), BRIEF)[-1].said == "owed"
    dead = list_timing_steps(BriefTimings(posted=DeliveryTimes(AT, after(9), 1, "dead", "not_in_channel")), BRIEF)
    assert dead[-1] == TimingStep("posted: refused", after(9), "not_in_channel")
    assert list_timing_steps(BriefTimings(posted=DeliveryTimes(AT, AT, 1, "dead")), BRIEF)[-1].said == ""
