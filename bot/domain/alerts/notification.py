"""A notification: what one alert post, edit or thread reply reported about one alert, and when.

Lifecycles are built from notifications. They hold no text of the post.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bot.domain.alerts.alert import Alert, AlertState, PostDelivery, Severity

FIRES = frozenset({AlertState.FIRING, AlertState.NO_DATA, AlertState.ESCALATED})
_ACKNOWLEDGED_BY = ("acknowledged_by", "acknowledged by", "acked_by", "acknowledger", "author", "by", "user")
_GENERIC = "generic"
# Of notifications of the same moment a firing comes first: an alert begins before it ends.
_RANK = {AlertState.FIRING: 0, AlertState.NO_DATA: 0, AlertState.ESCALATED: 0, AlertState.RESOLVED: 2}


@dataclass(frozen=True, slots=True)
class Notification:
    """One notification."""

    key: str  # the same post or edit has the same key, however often it is delivered
    fingerprint: str
    visibility: str
    at: datetime  # when it was posted, by the post's own time
    state: AlertState
    tool: str = ""
    channel: str = ""
    ts: str = ""
    root_ts: str = ""
    delivery: PostDelivery = PostDelivery.POST
    severity: Severity | None = None
    by: str | None = None
    firing: int | None = None  # members of a group that fire, if the post says so
    cleared: int | None = None  # members of a group that cleared, if the post says so
    incident_id: str | None = None  # None while it belongs to no incident: a resolve can come before its firing
    past: bool = False  # read long after it was posted, so that it may no longer be true

    @property
    def fires(self) -> bool:
        """Whether it reports that something is wrong now."""
        return self.state in FIRES

    @property
    def continues(self) -> bool:
        """Whether it is about an earlier post: an edit of it, or a reply in its thread."""
        return self.delivery is not PostDelivery.POST

    @property
    def may_open(self) -> bool:
        """Whether it may open an incident. A thread reply of an unknown bot is only a remark."""
        return self.fires and not (self.delivery is PostDelivery.THREAD_REPLY and self.tool == _GENERIC)

    @property
    def sort_key(self) -> tuple[datetime, int, str]:
        """Orders notifications by time."""
        return self.at, _RANK.get(self.state, 1), self.key


def build_notification(
    alert: Alert, at: datetime, visibility: str, channel: str, ts: str, root_ts: str
) -> Notification:
    """Build the notification of an alert's post. `ts` is the message's, `root_ts` its thread's (equal for a root)."""
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
    """Return how many members of a group fire and cleared: as the post counts them, else as it lists them."""
    if alert.firing is not None:
        return alert.firing, alert.cleared
    if not alert.alerts:
        return None, None
    cleared = sum(member.state is AlertState.RESOLVED for member in alert.alerts)
    return len(alert.alerts) - cleared, cleared


def find_acknowledger(alert: Alert) -> str:
    """Return who acknowledged, if the post says so, else the tool."""
    labels = {key.casefold(): value for key, value in alert.labels.items()}
    return next((labels[key] for key in _ACKNOWLEDGED_BY if labels.get(key)), f"someone in {alert.tool}")
