"""How one alert became its brief: what happened when, from what is stored. Must not invent a time that is not stored."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bot.domain.brief.decide import Brief
from bot.domain.evidence.items import Unavailable, has_pending, select_observed


@dataclass(frozen=True, slots=True)
class DeliveryTimes:
    """One delivery to Slack: when it was owed, when it was there (None: not yet), how many attempts, and its failure."""

    owed_at: datetime
    settled_at: datetime | None = None
    attempts: int = 0
    state: str = "pending"
    error: str | None = None


@dataclass(frozen=True, slots=True)
class BriefTimings:
    """What is stored. `alerts` notices from `first_at` to `last_at`; `received_at` is known for a day."""

    alerts: int = 0
    first_at: datetime | None = None
    last_at: datetime | None = None
    received_at: datetime | None = None
    decided_at: datetime | None = None
    posted: DeliveryTimes | None = None
    edited: DeliveryTimes | None = None


@dataclass(frozen=True, slots=True)
class TimingStep:
    """One step: "posted", when it was (None: of that no time is kept), and a few words."""

    what: str
    at: datetime | None
    said: str = ""


def list_timing_steps(traced: BriefTimings, brief: Brief) -> tuple[TimingStep, ...]:
    """The steps in the order of the work: alert, read, recalled, evidence, decided, posted, edited."""
    alert = TimingStep("alert", traced.first_at, brief.alert.tool) if traced.first_at else None
    read = TimingStep("read", traced.received_at) if traced.received_at else None
    evidence = (
        TimingStep("evidence", brief.evidence_at, _describe_evidence(brief))
        if brief.evidence or brief.evidence_at
        else None
    )
    decided = TimingStep("decided", traced.decided_at) if traced.decided_at else None
    posted = _describe_delivery("posted", traced.posted, traced.decided_at)
    edited = _describe_delivery("last edit", traced.edited, None)
    last = TimingStep("last alert", traced.last_at, f"{traced.alerts} notices") if traced.alerts > 1 else None
    steps = (
        alert,
        read,
        TimingStep("recalled", None, _describe_recall(brief)),
        evidence,
        decided,
        posted,
        edited,
        last,
    )
    return tuple(step for step in steps if step)


def _describe_recall(brief: Brief) -> str:
    if brief.memory_mode == "off":
        return "memory was off"
    down = next((m.reason for m in brief.missing if m.what == "memory"), None)
    counted = f"{len(brief.sources)} strong, {len(brief.possible)} possible"
    return f"{counted}; memory: {down}" if down else counted


def _describe_evidence(brief: Brief) -> str:
    seen = len(select_observed(brief.evidence))
    unseen = [item for item in brief.evidence if isinstance(item, Unavailable)]
    late = ", some still asked" if has_pending(brief.evidence) else ""
    return f"{seen} observed, {len(unseen)} unavailable{late}"


def _describe_delivery(what: str, delivery: DeliveryTimes | None, since: datetime | None) -> TimingStep | None:
    if delivery is None:
        return None
    tried = f", {delivery.attempts} attempts" if delivery.attempts > 1 else ""
    if delivery.state == "dead":
        return TimingStep(f"{what}: refused", delivery.settled_at, delivery.error or "")
    if delivery.settled_at is None:
        why = f": {delivery.error}" if delivery.error else ""
        return TimingStep(f"{what}: waiting", None, f"owed{tried}{why}")
    took = (delivery.settled_at - (since or delivery.owed_at)).total_seconds()
    return TimingStep(what, delivery.settled_at, f"{max(0.0, took):.1f} s later{tried}")
