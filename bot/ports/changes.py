"""Small values made of `Changes`: several changes as one, and what belongs to an opening. Must not store or decide anything."""

from __future__ import annotations

from dataclasses import replace

from bot.domain.alerts.notification import Notice
from bot.domain.incidents.reconstruction import Told
from bot.domain.operations.storms import Placed
from bot.ports.unit_of_work import Changes, RelatedIncidents


def find_moved_notifications(told: Told, kept: RelatedIncidents) -> tuple[Notice, ...]:
    """The notices that are new, or belong to another incident than was thought; those of new incidents come later."""
    known = {notice.key: notice for notice in kept.notices}
    now = [n for chapter in told.chapters for n in chapter.notices if chapter.life.incident_id]
    return tuple(n for n in (*now, *told.early) if known.get(n.key) != n)


def build_opening_key(kept: RelatedIncidents, notice: Notice) -> str:
    """Names the place between two incidents at which a new one opens: only one can."""
    before = [life.incident_id for life in kept.lives if life.opened_at <= notice.at]
    after = [life.incident_id for life in kept.lives if life.opened_at > notice.at]
    between = f"{before[-1] if before else '-'}/{after[0] if after else '-'}"
    return f"open/{notice.visibility}/{notice.fingerprint}/{between}"


def add_storm_placement(changes: Changes, placed: Placed) -> Changes:
    """The changes, with what was decided of storms: it holds only if nothing else opened there meanwhile."""
    if placed.seen is None or not placed.openings:
        return changes
    seat = (placed.openings[0].channel, placed.seen)
    return replace(changes, openings=placed.openings, after_openings=seat, storm=placed.storm)


def merge_changes(one: Changes, other: Changes, *, once: str | None = None) -> Changes:
    """Both changes as one."""
    return replace(
        one,
        lives=one.lives + other.lives,
        records=one.records + other.records,
        briefs=one.briefs + other.briefs,
        owed=one.owed + other.owed,
        seen_posts=one.seen_posts + other.seen_posts,
        notices=one.notices + other.notices,
        openings=one.openings + other.openings,
        after_openings=other.after_openings or one.after_openings,
        storm=other.storm or one.storm,
        received=one.received + other.received,
        dropped_notices=one.dropped_notices + other.dropped_notices,
        once=one.once or once,
    )
