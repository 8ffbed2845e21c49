"""Rebuild incidents from notifications: which ones belong together, and what lifecycle they make.

Theory
------
Posts arrive late, twice, or in the wrong order: a resolve overtakes its firing, Slack delivers again, a reconnect brings the
missed hours at once. Updating a stored state with each arrival would make the result depend on that order. So nothing is
updated. Every notification is stored, and with each new one all of its fingerprint and visibility are read again, sorted by
their own times, and the incidents are built from the beginning. Whatever the order of arrival, the result is the same.

One pass over the sorted notifications:

- A *firing* continues the current incident unless that is finished (`lifecycle.is_finished`: resolved by a person, or cleared
  for more than a day); then it opens a new one. A reply by an unknown bot opens none.
- An *edit or reply* belongs to the incident of the post it is about, even if that is not the current one. In a thread,
  another tool's words and words about another alert are remarks (`interpret_reply`).
- *Anything else* belongs to the current incident. Without one it waits in `early`: its firing may still arrive.

Three things limit the pass:

- *Ids are kept.* People have worked with `INC-81`, so two stored incidents stay two, whatever arrives late, and a notification
  that was stored for one can only continue or begin that one (`is_free`, `assign_incident`).
- *People's decisions outrank alerts.* The pass runs on the alerts alone; resolutions and dismissals are carried over from the
  stored lifecycle and applied at the end (`lifecycle.apply_decisions`).
- *Storage is bounded.* Beyond `NOTIFICATIONS_KEPT` the older half is folded into `Lifecycle.base`, from which the next pass
  resumes. What arrives later than that and is
  older still is applied as well as possible, but no longer in its order.

Nothing is stored, posted or numbered here: a new incident has the id "".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from bot.domain.alerts.alert import AlertState, PostDelivery
from bot.domain.alerts.notification import Notification
from bot.domain.incidents.lifecycle import Lifecycle, advance, apply_decisions, begin, is_finished, strip_decisions

# An alert that flaps all week stays cheap to rebuild; half of them are dropped at a time, so that it happens rarely.
NOTIFICATIONS_KEPT = 100


@dataclass(frozen=True, slots=True)
class ReconstructedIncident:
    """One incident as its notifications tell it."""

    life: Lifecycle  # its id is "" if the incident is new
    notifications: tuple[Notification, ...]
    dropped: tuple[str, ...] = ()  # keys of notifications that need not be stored any more: `life.base` contains them

    @property
    def first_notification(self) -> Notification:
        """The notification that opened it."""
        return self.notifications[0]


@dataclass(frozen=True, slots=True)
class Timeline:
    """All incidents of one fingerprint and visibility, in order."""

    incidents: tuple[ReconstructedIncident, ...] = ()
    early: tuple[Notification, ...] = ()  # notifications that belong to none yet

    def find(self, key: str) -> ReconstructedIncident | None:
        """Return the incident that contains this notification."""
        return next((c for c in self.incidents if any(n.key == key for n in c.notifications)), None)


@dataclass(slots=True)
class _IncidentBuilder:
    """One incident under construction."""

    incident_id: str  # "" until it is known to be a stored incident
    life: Lifecycle
    base: Lifecycle | None = None  # what it begins with, if not all of its notifications are stored
    notifications: list[Notification] = field(default_factory=list)

    def add(self, notification: Notification, in_its_thread: Notification) -> None:
        self.notifications.append(notification)
        self.life = advance(self.life, in_its_thread)


@dataclass(slots=True)
class _TimelineBuilder:
    """The incidents so far, and to which of them each post belongs."""

    lives: Mapping[str, Lifecycle]
    incidents: list[_IncidentBuilder] = field(default_factory=list)
    posts: dict[tuple[str, str], _IncidentBuilder] = field(default_factory=dict)
    early: list[Notification] = field(default_factory=list)

    def find_current(self) -> _IncidentBuilder | None:
        return self.incidents[-1] if self.incidents else None

    def is_free(self, incident_id: str | None) -> bool:
        """Return whether this is a stored incident that no builder stands for yet."""
        return incident_id in self.lives and all(c.incident_id != incident_id for c in self.incidents)

    def assign_incident(self, incident: _IncidentBuilder, incident_id: str) -> None:
        """Make this builder stand for a stored incident, with people's decisions about it."""
        known = self.lives[incident_id]
        incident.incident_id = incident_id
        incident.life = replace(
            incident.life,
            incident_id=incident_id,
            resolved_at=known.resolved_at,
            dismissed_at=known.dismissed_at,
            taken_back_at=known.taken_back_at,
            version=known.version,
        )

    def resume(self, base: Lifecycle) -> None:
        """Begin a stored incident at its base, at the time it opened.

        An unnamed incident that is still running then was its beginning, and becomes part of it.
        """
        now = self.find_current()
        incident = _IncidentBuilder(base.incident_id, strip_decisions(base), base)
        if now and not now.incident_id and not is_finished(now.life, base.opened_at):
            self.incidents.pop()
            for notification in now.notifications:
                self.place(incident, notification)
        self.incidents.append(incident)
        self.assign_incident(incident, base.incident_id)

    def place(self, incident: _IncidentBuilder, notification: Notification) -> None:
        incident.add(
            notification, interpret_reply(notification, incident.notifications[0] if incident.notifications else None)
        )
        self.posts.setdefault((notification.channel, notification.ts), incident)

    def add_firing(self, notification: Notification) -> None:
        """Continue the current incident, open a new one, or put the firing aside."""
        now = self.find_current()
        is_another = bool(now and now.incident_id) and self.is_free(notification.incident_id)
        if now and not is_another and not is_finished(now.life, notification.at):
            if not now.incident_id and notification.incident_id and self.is_free(notification.incident_id):
                self.assign_incident(now, notification.incident_id)
            self.place(now, notification)
        elif notification.may_open or self.is_free(notification.incident_id):
            incident = _IncidentBuilder("", begin(notification))
            if notification.incident_id and self.is_free(notification.incident_id):
                self.assign_incident(incident, notification.incident_id)
            self.incidents.append(incident)
            incident.notifications.append(notification)
            self.posts.setdefault((notification.channel, notification.ts), incident)
        else:
            self.early.append(notification)

    def add(self, notification: Notification) -> None:
        """Put one notification into the incident that it is about."""
        own, root = (notification.channel, notification.ts), (notification.channel, notification.root_ts)
        subject = (self.posts.get(own) or self.posts.get(root)) if notification.continues else None
        if notification.fires and (subject is None or interpret_reply(notification, subject.notifications[0]).fires):
            self.add_firing(notification)
            return
        if incident := subject or self.find_current():
            self.place(incident, notification)
        else:
            self.early.append(notification)


def interpret_reply(notification: Notification, opening: Notification | None) -> Notification:
    """Return what a notification means in the thread of the alert that `opening` posted.

    Another tool's reply is a remark, and so is one about another alert: neither fires nor clears this one.
    """
    if opening is None or notification.delivery is not PostDelivery.THREAD_REPLY:
        return notification
    is_other = (
        notification.state in {AlertState.FIRING, AlertState.NO_DATA}
        and notification.fingerprint != opening.fingerprint
    )
    if notification.tool != opening.tool or is_other:
        return replace(notification, state=AlertState.UPDATE)
    return notification


def reconstruct(notifications: Sequence[Notification], lives: Sequence[Lifecycle]) -> Timeline:
    """Rebuild the incidents of one fingerprint and visibility from their notifications.

    `lives` are the stored lifecycles of the incidents that the notifications may belong to; `notifications` are all
    stored ones of those incidents, those of no incident, and the one that just arrived, in any order.
    """
    kept = {notification.incident_id for notification in notifications}
    bases = [base for life in lives if (base := _find_base(life, kept))]
    builder = _TimelineBuilder({life.incident_id: life for life in lives})
    unique = {
        notification.key: notification
        for notification in sorted(notifications, key=lambda n: n.incident_id is not None)
    }
    events: list[Notification | Lifecycle] = [*bases, *unique.values()]
    for event in sorted(events, key=_build_sort_key):
        if isinstance(event, Lifecycle):
            builder.resume(event)
        else:
            builder.add(event)
    return Timeline(tuple(_finish(c) for c in builder.incidents), tuple(builder.early))


def _build_sort_key(event: Notification | Lifecycle) -> tuple[object, ...]:
    return event.sort_key if isinstance(event, Notification) else (event.opened_at, -1, event.incident_id)


def _find_base(life: Lifecycle, kept: set[str | None]) -> Lifecycle | None:
    """Return what a lifecycle begins with; None if all of its notifications are stored."""
    if life.base is not None:
        return life.base
    return None if life.incident_id in kept else replace(life, base=None)


def _finish(incident: _IncidentBuilder) -> ReconstructedIncident:
    own = incident.incident_id or None
    stored = tuple(n if n.incident_id == own else replace(n, incident_id=own) for n in incident.notifications)
    base, dropped = incident.base, tuple[str, ...]()
    if len(stored) > NOTIFICATIONS_KEPT:
        old, stored = stored[: NOTIFICATIONS_KEPT // 2], stored[NOTIFICATIONS_KEPT // 2 :]
        base, dropped = _rebuild_base(incident, old), tuple(n.key for n in old)
    return ReconstructedIncident(apply_decisions(replace(incident.life, base=base)), stored, dropped)


def _rebuild_base(incident: _IncidentBuilder, old: Sequence[Notification]) -> Lifecycle:
    """Return the lifecycle after the oldest notifications, which are about to be dropped."""
    life = (
        strip_decisions(incident.base)
        if incident.base
        else replace(begin(old[0]), resolved_at=incident.life.resolved_at)
    )
    for notification in old if incident.base else old[1:]:
        life = advance(life, interpret_reply(notification, old[0]))
    return replace(life, incident_id=incident.incident_id, base=None)
