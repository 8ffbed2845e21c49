"""Which notices make one incident, and what its life is: told again in the order of the notices' own times.

So the end does not depend on the order in which notices arrive, on repetitions, or on a resolve that overtook its firing.
Two incidents that exist already stay two, whatever arrives late: people have worked with their ids. Must not store, post
or give ids.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from bot.domain.alerts.alert import AlertState, PostDelivery
from bot.domain.alerts.notification import Notification
from bot.domain.incidents.lifecycle import Lifecycle, advance, apply_decisions, begin, is_finished, strip_decisions

NOTIFICATIONS_KEPT = 100


@dataclass(frozen=True, slots=True)
class ReconstructedIncident:
    """One incident as its notices tell it. Its life has no id (""), where it is new. `dropped` are the keys of notices
    that need not be kept any more: the life's `base` holds what they said."""

    life: Lifecycle
    notices: tuple[Notification, ...]
    dropped: tuple[str, ...] = ()

    @property
    def first_notification(self) -> Notification:
        """The notice that began it."""
        return self.notices[0]


@dataclass(frozen=True, slots=True)
class Timeline:
    """All chapters in order, and the notices that belong to none yet."""

    chapters: tuple[ReconstructedIncident, ...] = ()
    early: tuple[Notification, ...] = ()

    def find(self, key: str) -> ReconstructedIncident | None:
        """The chapter that holds this notice."""
        return next((c for c in self.chapters if any(n.key == key for n in c.notices)), None)


@dataclass(slots=True)
class _IncidentBuilder:
    """A chapter while it is told. `base` is what it begins with, where not all of its notices are kept."""

    incident_id: str
    life: Lifecycle
    base: Lifecycle | None = None
    notices: list[Notification] = field(default_factory=list)

    def add(self, notice: Notification, as_heard: Notification) -> None:
        self.notices.append(notice)
        self.life = advance(self.life, as_heard)


@dataclass(slots=True)
class _TimelineBuilder:
    """The chapters so far, and where each post stands in them."""

    lives: Mapping[str, Lifecycle]
    chapters: list[_IncidentBuilder] = field(default_factory=list)
    posts: dict[tuple[str, str], _IncidentBuilder] = field(default_factory=dict)
    early: list[Notification] = field(default_factory=list)

    def find_current(self) -> _IncidentBuilder | None:
        return self.chapters[-1] if self.chapters else None

    def is_free(self, incident_id: str | None) -> bool:
        """Whether this is an incident that no chapter tells yet."""
        return incident_id in self.lives and all(c.incident_id != incident_id for c in self.chapters)

    def assign_incident(self, chapter: _IncidentBuilder, incident_id: str) -> None:
        """This chapter is that incident: what people decided about it counts."""
        known = self.lives[incident_id]
        chapter.incident_id = incident_id
        chapter.life = replace(
            chapter.life,
            incident_id=incident_id,
            resolved_at=known.resolved_at,
            dismissed_at=known.dismissed_at,
            taken_back_at=known.taken_back_at,
            version=known.version,
        )

    def resume(self, base: Lifecycle) -> None:
        """An incident of which not everything is kept takes its place; what is told already may be its beginning."""
        now = self.find_current()
        chapter = _IncidentBuilder(base.incident_id, strip_decisions(base), base)
        if now and not now.incident_id and not is_finished(now.life, base.opened_at):
            self.chapters.pop()
            for notice in now.notices:
                self.place(chapter, notice)
        self.chapters.append(chapter)
        self.assign_incident(chapter, base.incident_id)

    def place(self, chapter: _IncidentBuilder, notice: Notification) -> None:
        chapter.add(notice, interpret_reply(notice, chapter.notices[0] if chapter.notices else None))
        self.posts.setdefault((notice.channel, notice.ts), chapter)

    def add_firing(self, notice: Notification) -> None:
        now = self.find_current()
        is_another = bool(now and now.incident_id) and self.is_free(notice.incident_id)
        if now and not is_another and not is_finished(now.life, notice.at):
            if not now.incident_id and notice.incident_id and self.is_free(notice.incident_id):
                self.assign_incident(now, notice.incident_id)
            self.place(now, notice)
        elif notice.may_open or self.is_free(notice.incident_id):
            chapter = _IncidentBuilder("", begin(notice))
            if notice.incident_id and self.is_free(notice.incident_id):
                self.assign_incident(chapter, notice.incident_id)
            self.chapters.append(chapter)
            chapter.notices.append(notice)
            self.posts.setdefault((notice.channel, notice.ts), chapter)
        else:
            self.early.append(notice)

    def add(self, notice: Notification) -> None:
        own, root = (notice.channel, notice.ts), (notice.channel, notice.root_ts)
        spoken_of = (self.posts.get(own) or self.posts.get(root)) if notice.continues else None
        if notice.fires and (spoken_of is None or interpret_reply(notice, spoken_of.notices[0]).fires):
            self.add_firing(notice)
            return
        if chapter := spoken_of or self.find_current():
            self.place(chapter, notice)
        else:
            self.early.append(notice)


def interpret_reply(notice: Notification, opening: Notification | None) -> Notification:
    """What a notice means in the thread of the alert that `opening` posted. Another tool's answer is a remark, and so is
    one that tells of another alert: neither fires nor ends this one."""
    if opening is None or notice.delivery is not PostDelivery.THREAD_REPLY:
        return notice
    is_other = notice.state in {AlertState.FIRING, AlertState.NO_DATA} and notice.fingerprint != opening.fingerprint
    if notice.tool != opening.tool or is_other:
        return replace(notice, state=AlertState.UPDATE)
    return notice


def reconstruct(notices: Sequence[Notification], lives: Sequence[Lifecycle]) -> Timeline:
    """Tell the lives again. `lives` are those of the incidents that the notices may belong to, as they are known;
    `notices` all that are kept of them, those of no incident, and the one that just arrived, in any order."""
    kept = {notice.incident_id for notice in notices}
    bases = [base for life in lives if (base := _find_base(life, kept))]
    story = _TimelineBuilder({life.incident_id: life for life in lives})
    unique = {notice.key: notice for notice in sorted(notices, key=lambda n: n.incident_id is not None)}
    events: list[Notification | Lifecycle] = [*bases, *unique.values()]
    for event in sorted(events, key=_build_sort_key):
        if isinstance(event, Lifecycle):
            story.resume(event)
        else:
            story.add(event)
    return Timeline(tuple(_finish(c) for c in story.chapters), tuple(story.early))


def _build_sort_key(event: Notification | Lifecycle) -> tuple[object, ...]:
    return event.sort_key if isinstance(event, Notification) else (event.opened_at, -1, event.incident_id)


def _find_base(life: Lifecycle, kept: set[str | None]) -> Lifecycle | None:
    """What a life begins with: None where every notice of it is kept."""
    if life.base is not None:
        return life.base
    return None if life.incident_id in kept else replace(life, base=None)


def _finish(chapter: _IncidentBuilder) -> ReconstructedIncident:
    own = chapter.incident_id or None
    told = tuple(n if n.incident_id == own else replace(n, incident_id=own) for n in chapter.notices)
    base, dropped = chapter.base, tuple[str, ...]()
    if len(told) > NOTIFICATIONS_KEPT:
        old, told = told[: NOTIFICATIONS_KEPT // 2], told[NOTIFICATIONS_KEPT // 2 :]
        base, dropped = _rebuild_base(chapter, old), tuple(n.key for n in old)
    return ReconstructedIncident(apply_decisions(replace(chapter.life, base=base)), told, dropped)


def _rebuild_base(chapter: _IncidentBuilder, old: Sequence[Notification]) -> Lifecycle:
    """The life as the oldest notices tell it."""
    life = (
        strip_decisions(chapter.base) if chapter.base else replace(begin(old[0]), resolved_at=chapter.life.resolved_at)
    )
    for notice in old if chapter.base else old[1:]:
        life = advance(life, interpret_reply(notice, old[0]))
    return replace(life, incident_id=chapter.incident_id, base=None)
