"""A notice: what one alert post, edit or thread reply said of one alert, and when. The life of an incident is made of them.

Holds no text of the post. Must not decide what a notice does to an incident.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bot.domain.alerts.alert import Alert, AlertState, PostDelivery, Severity

FIRES = frozenset({AlertState.FIRING, AlertState.NO_DATA, AlertState.ESCALATED})
_ACKNOWLEDGED_BY = ("acknowledged_by", "acknowledged by", "acked_by", "acknowledger", "author", "by", "user")
_GENERIC = "generic"
# Of notices of the same moment a firing comes first: it began before it ended.
_RANK = {AlertState.FIRING: 0, AlertState.NO_DATA: 0, AlertState.ESCALATED: 0, AlertState.RESOLVED: 2}


@dataclass(frozen=True, slots=True)
class Notification:
    """One notice. `key` names it: the same post or edit told twice has the same key. `at` is when it was said, by the
    post's own time. `firing` and `cleared` count a group's members, where the post says so. `incident_id` is the incident
    that it belongs to; None while there is none (a resolve that came before its firing). `past`: it was read long after it
    was said, so what it says need not hold any more."""

    key: str
    fingerprint: str
    visibility: str
    at: datetime
    state: AlertState
    tool: str = ""
    channel: str = ""
    ts: str = ""
    root_ts: str = ""
    delivery: PostDelivery = PostDelivery.POST
    severity: Severity | None = None
    by: str | None = None
    firing: int | None = None
    cleared: int | None = None
    incident_id: str | None = None
    past: bool = False

    @property
    def fires(self) -> bool:
        """Whether it says that something is wrong now."""
        return self.state in FIRES

    @property
    def continues(self) -> bool:
        """Whether it speaks of a post that is there: an edit of it, or an answer in its thread."""
        return self.delivery is not PostDelivery.POST

    @property
    def may_open(self) -> bool:
        """Whether it may begin an incident. What an unknown bot answers in a thread is a remark about something."""
        return self.fires and not (self.delivery is PostDelivery.THREAD_REPLY and self.tool == _GENERIC)

    @property
    def sort_key(self) -> tuple[datetime, int, str]:
        """Sorts notices by time."""
        return self.at, _RANK.get(self.state, 1), self.key


def build_notification(
    alert: Alert, at: datetime, visibility: str, channel: str, ts: str, root_ts: str
) -> Notification:
    """What a post of this alert says. `ts` is the message's, `root_ts` its thread's (the same for a root)."""
    firing, cleared = _count_members(alert)
    return Notification(
        key=f"{channel}/{ts}/{int(at.timestamp())}.{at.microsecond:06d}",
        fingerprint=alert.fingerprint,
        visibility=visibility,
        at=at,
        state=alert.state,
        tool=alert.tool,
        channel=channel,
        ts=ts,
        root_ts=root_ts,
        delivery=alert.delivery,
        severity=alert.severity,
        by=find_acknowledger(alert) if alert.state is AlertState.ACKNOWLEDGED else None,
        firing=firing,
        cleared=cleared,
    )


def _count_members(alert: Alert) -> tuple[int | None, int | None]:
    """How many members of a group fire and how many have cleared: as the post counts them, else as it lists them."""
    if alert.firing is not None:
        return alert.firing, alert.cleared
    if not alert.alerts:
        return None, None
    cleared = sum(member.state is AlertState.RESOLVED for member in alert.alerts)
    return len(alert.alerts) - cleared, cleared


def find_acknowledger(alert: Alert) -> str:
    """Who acknowledged, as far as the post says; else the tool."""
    labels = {key.casefold(): value for key, value in alert.labels.items()}
    return next((labels[key] for key in _ACKNOWLEDGED_BY if labels.get(key)), f"someone in {alert.tool}")
