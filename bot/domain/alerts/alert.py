"""What a monitoring tool said: one notification, normalised.

Holds the values only. Must not know how any tool writes its posts (that is `bot.parsers`) and must not decide anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class AlertState(StrEnum):
    """What the post says about the alert now."""

    FIRING = "firing"
    RESOLVED = "resolved"
    ACKNOWLEDGED = "acknowledged"
    ESCALATED = "escalated"
    NO_DATA = "no_data"
    UPDATE = "update"
    INFO = "info"


class Severity(StrEnum):
    """How urgent the tool says it is; a post that does not say has none (never guessed)."""

    CRITICAL = "critical"
    HIGH = "high"
    WARNING = "warning"
    INFO = "info"


class PostDelivery(StrEnum):
    """How the post reached the channel."""

    POST = "post"
    EDIT = "edit"
    THREAD_REPLY = "thread_reply"
    THREAD_BROADCAST = "thread_broadcast"


@dataclass(frozen=True, slots=True)
class Symptom:
    """One measurable sign: `kind` is "metric" (name, value, op, threshold) or "error" (code, text)."""

    kind: str
    name: str | None = None
    value: str | None = None
    op: str | None = None
    threshold: str | None = None
    code: str | None = None
    text: str | None = None

    @property
    def in_words(self) -> str:
        """In words: "p95 840 ms (> 500 ms)", "queue_depth > 1000" where the value is the limit, "HTTP 504 GATEWAY_TIMEOUT"."""
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
    """One notification of a monitoring tool. Unknown is None; nothing is invented.

    `fingerprint` is the identity of what is alerting: what the tool groups by, stable over repeats, values,
    counts, times and severity. `kind` is "alert" or a near kind ("vendor_status", "ci", "job", ...). `firing` and
    `cleared` count a group's members where the post counts them itself, which may be more than it lists in `alerts`.
    """

    tool: str
    state: AlertState
    fingerprint: str
    kind: str = "alert"
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
    firing: int | None = None
    cleared: int | None = None


@dataclass(frozen=True, slots=True)
class DeployAnnouncement:
    """What a post in a channel said was deployed: a configured service, and what has the form of a version or the name of
    an environment. Nothing else of the post."""

    service: str
    version: str | None = None
    environment: str | None = None


@dataclass(frozen=True, slots=True)
class NotAlert:
    """A message that must not become an alert: `kind` as in the alert readers' table ("chatter", "deploy", ...).
    `deployed`: what a deploy post says, in a channel where the operator wants that read."""

    kind: str
    reason: str
    delivery: PostDelivery = PostDelivery.POST
    deployed: DeployAnnouncement | None = None


Reading = Alert | NotAlert
