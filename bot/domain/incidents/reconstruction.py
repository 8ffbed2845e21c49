"""Which notices make one incident, and what its life is: told again in the order of the notices' own times.

So the end does not depend on the order in which notices arrive, on repetitions, or on a resolve that overtook its firing.
Two incidents that exist already stay two, whatever arrives late: people have worked with their ids. Must not store, post
or give ids.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from bot.domain.alerts.alert import AlertState, Delivery
from bot.domain.alerts.notification import Notice
from bot.domain.incidents.lifecycle import Life, advance, begin, ended, marked, unmarked

NOTICES_KEPT = 100


@dataclass(frozen=True, slots=True)
class Chapter:
    """One incident as its notices tell it. Its life has no id (""), where it is new. `dropped` are the keys of notices
    that need not be kept any more: the life's `base` holds what they said."""

    life: Life
    notices: tuple[Notice, ...]
    dropped: tuple[str, ...] = ()

    @property
    def opening(self) -> Notice:
        """The notice that began it."""
        return self.notices[0]


@dataclass(frozen=True, slots=True)
class Told:
    """All chapters in order, and the notices that belong to none yet."""

    chapters: tuple[Chapter, ...] = ()
    early: tuple[Notice, ...] = ()

    def of(self, key: str) -> Chapter | None:
        """The chapter that holds this notice."""
        return next((c for c in self.chapters if any(n.key == key for n in c.notices)), None)


@dataclass(slots=True)
class _Writing:
    """A chapter while it is told. `base` is what it begins with, where not all of its notices are kept."""

    incident_id: str
    life: Life
    base: Life | None = None
    notices: list[Notice] = field(default_factory=list)

    def take(self, notice: Notice, as_heard: Notice) -> None:
        self.notices.append(notice)
        self.life = advance(self.life, as_heard)


@dataclass(slots=True)
class _Story:
    """The chapters so far, and where each post stands in them."""

    lives: Mapping[str, Life]
    chapters: list[_Writing] = field(default_factory=list)
    posts: dict[tuple[str, str], _Writing] = field(default_factory=dict)
    early: list[Notice] = field(default_factory=list)

    def current(self) -> _Writing | None:
        return self.chapters[-1] if self.chapters else None

    def is_free(self, incident_id: str | None) -> bool:
        """Whether this is an incident that no chapter tells yet."""
        return incident_id in self.lives and all(c.incident_id != incident_id for c in self.chapters)

    def name(self, chapter: _Writing, incident_id: str) -> None:
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

    def go_on_from(self, base: Life) -> None:
        """An incident of which not everything is kept takes its place; what is told already may be its beginning."""
        now = self.current()
        chapter = _Writing(base.incident_id, unmarked(base), base)
        if now and not now.incident_id and not ended(now.life, base.opened_at):
            self.chapters.pop()
            for notice in now.notices:
                self.put(chapter, notice)
        self.chapters.append(chapter)
        self.name(chapter, base.incident_id)

    def put(self, chapter: _Writing, notice: Notice) -> None:
        chapter.take(notice, heard(notice, chapter.notices[0] if chapter.notices else None))
        self.posts.setdefault((notice.channel, notice.ts), chapter)

    def fire(self, notice: Notice) -> None:
        now = self.current()
        is_another = bool(now and now.incident_id) and self.is_free(notice.incident_id)
        if now and not is_another and not ended(now.life, notice.at):
            if not now.incident_id and notice.incident_id and self.is_free(notice.incident_id):
                self.name(now, notice.incident_id)
            self.put(now, notice)
        elif notice.may_open or self.is_free(notice.incident_id):
            chapter = _Writing("", begin(notice))
            if notice.incident_id and self.is_free(notice.incident_id):
                self.name(chapter, notice.incident_id)
            self.chapters.append(chapter)
            chapter.notices.append(notice)
            self.posts.setdefault((notice.channel, notice.ts), chapter)
        else:
            self.early.append(notice)

    def tell(self, notice: Notice) -> None:
        own, root = (notice.channel, notice.ts), (notice.channel, notice.root_ts)
        spoken_of = (self.posts.get(own) or self.posts.get(root)) if notice.continues else None
        if notice.fires and (spoken_of is None or heard(notice, spoken_of.notices[0]).fires):
            self.fire(notice)
            return
        if chapter := spoken_of or self.current():
            self.put(chapter, notice)
        else:
            self.early.append(notice)


def heard(notice: Notice, opening: Notice | None) -> Notice:
    """What a notice means in the thread of the alert that `opening` posted. Another tool's answer is a remark, and so is
    one that tells of another alert: neither fires nor ends this one."""
    if opening is None or notice.delivery is not Delivery.THREAD_REPLY:
        return notice
    is_other = notice.state in {AlertState.FIRING, AlertState.NO_DATA} and notice.fingerprint != opening.fingerprint
    if notice.tool != opening.tool or is_other:
        return replace(notice, state=AlertState.UPDATE)
    return notice


def replay(notices: Sequence[Notice], lives: Sequence[Life]) -> Told:
    """Tell the lives again. `lives` are those of the incidents that the notices may belong to, as they are known;
    `notices` all that are kept of them, those of no incident, and the one that just arrived, in any order."""
    kept = {notice.incident_id for notice in notices}
    bases = [base for life in lives if (base := _base(life, kept))]
    story = _Story({life.incident_id: life for life in lives})
    unique = {notice.key: notice for notice in sorted(notices, key=lambda n: n.incident_id is not None)}
    events: list[Notice | Life] = [*bases, *unique.values()]
    for event in sorted(events, key=_place):
        if isinstance(event, Life):
            story.go_on_from(event)
        else:
            story.tell(event)
    return Told(tuple(_written(c) for c in story.chapters), tuple(story.early))


def _place(event: Notice | Life) -> tuple[object, ...]:
    return event.place if isinstance(event, Notice) else (event.opened_at, -1, event.incident_id)


def _base(life: Life, kept: set[str | None]) -> Life | None:
    """What a life begins with: None where every notice of it is kept."""
    if life.base is not None:
        return life.base
    return None if life.incident_id in kept else replace(life, base=None)


def _written(chapter: _Writing) -> Chapter:
    own = chapter.incident_id or None
    told = tuple(n if n.incident_id == own else replace(n, incident_id=own) for n in chapter.notices)
    base, dropped = chapter.base, tuple[str, ...]()
    if len(told) > NOTICES_KEPT:
        old, told = told[: NOTICES_KEPT // 2], told[NOTICES_KEPT // 2 :]
        base, dropped = _so_far(chapter, old), tuple(n.key for n in old)
    return Chapter(marked(replace(chapter.life, base=base)), told, dropped)


def _so_far(chapter: _Writing, old: Sequence[Notice]) -> Life:
    """The life as the oldest notices tell it."""
    life = unmarked(chapter.base) if chapter.base else replace(begin(old[0]), resolved_at=chapter.life.resolved_at)
    for notice in old if chapter.base else old[1:]:
        life = advance(life, heard(notice, old[0]))
    return replace(life, incident_id=chapter.incident_id, base=None)
