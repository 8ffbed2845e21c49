"""Briefs, digests and lists as values, for the tests of what Slack shows. Must not depend on how they are decided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from bot.domain.access.roles import Permission
from bot.domain.alerts.alert import Alert, AlertState, Severity, Symptom
from bot.domain.alerts.channel_settings import ChannelSettings
from bot.domain.alerts.suppression import ChannelPolicy, Mute, MuteTarget, RuleScope, SilenceRule
from bot.domain.brief.boundary import BoundaryCall
from bot.domain.brief.checks import PostponedCheck, SkippedCheck
from bot.domain.brief.decide import Brief, InsufficientMemory, RootCause, SourceLine, add_evidence
from bot.domain.brief.recommendation import Confidence, FailedFix, Recommendation
from bot.domain.brief.then_and_now import PastSnapshot
from bot.domain.evidence.items import ComparisonValue, EvidenceKind, Observed, Unavailable
from bot.domain.incidents.alert_history import AlertHistory
from bot.domain.incidents.lifecycle import IncidentState, Lifecycle
from bot.domain.incidents.opening import IncidentView
from bot.domain.incidents.record import Boundary
from bot.domain.recall.ranking import MissingPart
from bot.domain.reports.digest import Digest, RecurringFamily
from bot.domain.reports.schedule import DigestTime
from bot.ports.channels import Group
from bot.ports.chat import Channel
from bot.workflows.channels.settings import ChannelView
from bot.workflows.channels.silences import AnsweredAlert
from bot.workflows.operations.status import StatusLine
from bot.workflows.reports.open_incidents import OpenIncident

NOW = datetime(2026, 11, 29, 3, 0, tzinfo=UTC)
URL = "https://team.slack.example/archives/C1/p1790000000000100?a=1&b=2"


def alert(text: str = "504s from Razorpay", **given: Any) -> Alert:
    facts: dict[str, Any] = {
        "title": "GatewayErrors",
        "severity": Severity.CRITICAL,
        "service": "payments-api",
        "environment": "production",
        "region": "ap-south-1",
        "vendor": "razorpay",
        "symptoms": (Symptom("error", code="504", text="Gateway Timeout"),),
        "links": {"runbook": "https://wiki.example/pay", "dashboard": "https://grafana.example/d/1"},
        "text": text,
    }
    return Alert("alertmanager", AlertState.FIRING, "pay/504", **(facts | given))


def view(state: str = "open", **given: Any) -> IncidentView:
    facts: dict[str, Any] = {"incident_id": "INC-81", "state": IncidentState(state), "fired": 3, "opened_at": NOW}
    return IncidentView(**(facts | given))


def high() -> Brief:
    best = Recommendation(
        "1. Switch payouts to the backup gateway\n2. Watch the error rate for 10 minutes",
        3, 0, 0, 4, Confidence.HIGH, "tried in 3 of 4 similar outages, worked 3 of 3: INC-42, INC-55, INC-61",
        datetime(2026, 11, 2, tzinfo=UTC), ("INC-61", "INC-55", "INC-42"),
    )  # fmt: skip
    return Brief(
        "payments-api: memory says vendor 3 of 4; switch to backup worked 3 of 3 (HIGH)",
        alert(),
        view(),
        boundary=BoundaryCall(Boundary.VENDOR, {"vendor": 3, "internal": 1}, "region ap-south-1"),
        root_cause=RootCause("Razorpay's ap-south-1 edge dropped TLS handshakes", verified=True, incident_id="INC-61"),
        steps=("Switch payouts to the backup gateway", "Watch the error rate for 10 minutes"),
        step_warnings=("written for ap-south-1; this alert is eu-west-1",),
        recommendation=best,
        alternatives=(
            Recommendation("Raise the timeout", 0, 1, 0, 4, Confidence.LOW, "helped partly", None, ("INC-55",)),
        ),
        did_not_work=(FailedFix("Restart payments-api", 2, ("INC-42", "INC-55")),),
        skip=(SkippedCheck("DB pool", 3, 3, 15.0, (10.0, 25.0), ("INC-42",), 3), SkippedCheck("DNS", 1, 3)),
        later=(PostponedCheck("TLS certificates", "it was the cause in INC-12", ("INC-12",)),),
        sources=(
            SourceLine("INC-61", "Razorpay 504s", Boundary.VENDOR, "strong", 0.9, NOW, ("same alert",), URL, "maya"),
            SourceLine("INC-55", "Payouts failing", Boundary.VENDOR, "strong", 0.8, NOW, ("same vendor",)),
        ),
        possible=(SourceLine("INC-12", "TLS expiry", Boundary.INTERNAL, "possible", 0.3, NOW, ("same service",)),),
        history=AlertHistory(30, 14, 12, 22.0),
        now=NOW,
    )  # fmt: skip


def seen() -> Brief:
    """Evidence that speaks against memory, a snapshot of then, and a source that is missing; all of it has room."""
    pool = Observed(
        EvidenceKind.METRIC,
        "pool",
        "pool in use",
        "prometheus",
        NOW,
        98,
        "%",
        "now",
        (ComparisonValue("peak", 99),),
        "highest of 3",
        url="https://p.example",
        truncated=True,
    )
    logs = Observed(EvidenceKind.LOGS, "logs", "log lines", "loki", NOW, text="refused", count=9, first=NOW, last=NOW)
    deploy = Observed(
        EvidenceKind.DEPLOY, "deploy", "deploy of payments-api", "github", NOW, text="v142", url="https://p.example"
    )
    gone = Unavailable(EvidenceKind.VENDOR_STATUS, "page", "status page", "status page", "HTTP 503")
    little = replace(high(), alternatives=(), did_not_work=(), later=(), possible=(), history=None, step_warnings=())
    known = replace(
        little, sources=little.sources[1:], now=NOW, then=PastSnapshot("INC-61", {"pool": "100 %", "p95": "840 ms"})
    )
    return add_evidence(known, (pool, logs, deploy, gone), NOW)


def mixed() -> Brief:
    brief = high()
    assert brief.recommendation
    low = replace(brief.recommendation, successes=2, failures=1, partial=1, confidence=Confidence.LOW)
    return replace(
        brief,
        verdict="Mixed: payments-api: memory says vendor 3 of 4; switch worked 2 of 4 (LOW)",
        recommendation=low,
        step_warnings=(),
    )


def insufficient() -> Brief:
    why = InsufficientMemory(
        "nothing close among 14 past incidents",
        None,
        ("vendor status page", "p95 latency"),
        "https://wiki.example/pay",
    )
    return Brief(
        "payments-api: INSUFFICIENT_MEMORY, nothing close among 14 past incidents",
        alert(),
        view(fired=1),
        insufficient_memory=why,
        missing=(MissingPart("memory", "the bank does not answer; the index was used", "02:40"),),
        history=AlertHistory(30, 0, 0),
        now=NOW,
    )


def memory_off() -> Brief:
    why = InsufficientMemory("memory is off for this brief", None, ("p95 latency",))
    return Brief("payments-api: GatewayErrors firing (critical)", alert(), view(), "off", why, now=NOW)


def digest() -> Digest:
    families = (
        RecurringFamily("Razorpay 504s", "payments-api", "razorpay", 4, 2, 90.0, 1, "Switch gateway", 3, ("INC-1",)),
        RecurringFamily("Disk full", "logs", None, 2, 0, None, 0, None, 0, ("INC-2", "INC-3", "INC-4", "INC-5")),
    )
    return Digest("week of 2026-11-23", NOW, NOW, 9, 6, 2, families)


def life(state: IncidentState = IncidentState.OPEN, **given: Any) -> Lifecycle:
    facts: dict[str, Any] = {"incident_id": "INC-81", "fingerprint": "pay/504", "visibility": "public", "fired": 3}
    return Lifecycle(**(facts | given), state=state, opened_at=NOW, last_seen_at=NOW)


def open_rows(count: int = 2, title: str = "Razorpay 504s") -> tuple[OpenIncident, ...]:
    return tuple(OpenIncident(life(incident_id=f"INC-{n}"), title) for n in range(1, count + 1))


def status_lines(detail: str = "writable, schema 1") -> tuple[StatusLine, ...]:
    return (StatusLine("Store", True, detail), StatusLine("Memory", False, "down"), StatusLine("Model", None, "off"))


def texts(node: Any) -> Iterator[tuple[str, str]]:
    """(kind, text) of every text object in blocks or a view."""
    if isinstance(node, Mapping):
        if node.get("type") in {"mrkdwn", "plain_text"} and isinstance(node.get("text"), str):
            yield node["type"], node["text"]
        for value in node.values():
            yield from texts(value)
    elif isinstance(node, list | tuple):
        for item in node:
            yield from texts(item)


def shown(node: Any) -> str:
    """All text in one string."""
    return "\n".join(text for _, text in texts(node))


def channel_settings(*, is_steward: bool = True) -> ChannelView:
    """A private channel in which everything was set."""
    settings = ChannelSettings(
        sources=frozenset({"B1", "B9"}),
        minimum=Severity.HIGH,
        tell="S0ONCALL",
        quiet=(time(22, 30), time(7)),
        zone="Asia/Kolkata",
        digest_day="fri",
        digest_hour=16,
        nudges=False,
    )
    return ChannelView(
        Channel("C1", "payments-alerts", is_private=True),
        settings,
        ("C2",),
        (("B1", "Alertmanager (alertmanager)"), ("B2", "Backup bot (generic)"), ("B9", "B9")),
        (Group("S0DBA", "dba"), Group("S0ONCALL", "on-call")),
        DigestTime("fri", 16, ZoneInfo("Asia/Kolkata")),
        Permission(is_steward, "" if is_steward else "You may not change a channel's settings. Workspace admins may."),
    )


def untouched() -> ChannelView:
    """A shared channel that nobody touched, in which nothing was posted yet."""
    channel = Channel("C1", "partners", is_shared=True)
    return ChannelView(channel, ChannelSettings(), (), (), (), DigestTime("mon", 9, UTC), Permission(True))


def house() -> ChannelPolicy:
    """Two rules and two mutes."""
    rule = SilenceRule("C1", "B2", "generic", "Nightly backup done", "U0ABC", NOW, number=1, silenced=12)
    wide = replace(rule, reach=RuleScope.SOURCE, number=2, silenced=1)
    mute = Mute(
        "C1", MuteTarget.FINGERPRINT, "f", "GatewayErrors", NOW + timedelta(hours=4), "deploy", "U0ABC", NOW, number=1
    )
    silent = replace(mute, what=MuteTarget.CHANNEL, value="", shown="everything in this channel", reason="", number=2)
    return ChannelPolicy(rules=(rule, wide), mutes=(mute, silent))


def answered() -> AnsweredAlert:
    """What the menu under a brief is about."""
    return AnsweredAlert("INC-81", alert(), "B1", "Alertmanager", life())
