"""One notification of a monitoring tool, normalized.

Values only: how tools write their posts is the business of `bot.parsers`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class AlertState(StrEnum):
    """The state that a post reports."""

    FIRING = "firing"
    RESOLVED = "resolved"
    ACKNOWLEDGED = "acknowledged"
    ESCALATED = "escalated"
    NO_DATA = "no_data"
    UPDATE = "update"
    INFO = "info"


class Severity(StrEnum):
    """The urgency that a tool states; a post that states none has none."""

    CRITICAL = "critical"
    HIGH = "high"
    WARNING = "warning"
    INFO = "info"


class PostDelivery(StrEnum):
    """How a post reached the channel."""

    POST = "post"
    EDIT = "edit"
    THREAD_REPLY = "thread_reply"
    THREAD_BROADCAST = "thread_broadcast"


@dataclass(frozen=True, slots=True)
class Symptom:
    """One measurable sign, a metric or an error."""

    kind: str  # "metric" (name, value, op, threshold) or "error" (code, text)
    name: str | None = None
    value: str | None = None
    op: str | None = None
    threshold: str | None = None
    code: str | None = None
    text: str | None = None

    @property
    def in_words(self) -> str:
        """The sign in words: "p95 840 ms (> 500 ms)", "queue_depth > 1000" if the value is the limit, "HTTP 504
        GATEWAY_TIMEOUT"."""
        if self.kind == "metric" and self.threshold:
            limit = f"({' '.join(filter(None, (self.op, self.threshold)))})"
            return " ".join(filter(None, (self.name, self.value, limit)))
        return " ".join(filter(None, (self.name, self.op, self.value, self.code, self.text)))


@dataclass(frozen=True, slots=True)
class AlertMember:
    """One alert of a grouped post, with its own state and labels."""

    state: AlertState
    labels: Mapping[str, str] = field(default_factory=dict)
    title: str | None = None


@dataclass(frozen=True, slots=True)
class Alert:
    """One notification of a monitoring tool. What it does not state is None."""

    tool: str
    state: AlertState
    fingerprint: str  # identity of what is alerting: stable over repeats, values, counts, times and severity
    kind: str = "alert"  # "alert", or a near kind ("vendor_status", "ci", "job", ...)
    title: str | None = None
    severity: Severity | None = None
    severity_raw: str | None = None
    service: str | None = None
    environment: str | None = None
    region: str | None = None
    vendor: str | None = None
    symptoms: tuple[Symptom, ...] = ()
    links: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    alerts: tuple[AlertMember, ...] = ()
    delivery: PostDelivery = PostDelivery.POST
    text: str = ""
    truncated: bool = False
    firing: int | None = None  # members that fire, if the post counts them; may be more than `alerts` lists
    cleared: int | None = None  # members that cleared, counted likewise


@dataclass(frozen=True, slots=True)
class DeployAnnouncement:
    """A deploy that a post in a channel announced. Nothing else of the post is kept."""

    service: str  # one of the configured services
    version: str | None = None  # has the form of a version
    environment: str | None = None  # has the name of an environment


@dataclass(frozen=True, slots=True)
class NotAlert:
    """A message that must not become an alert."""

    kind: str  # "chatter", "deploy", ... as in the parsers' table of noise
    reason: str
    delivery: PostDelivery = PostDelivery.POST
    deployed: DeployAnnouncement | None = None  # only in channels whose deploy posts the operator wants read


Reading = Alert | NotAlert
