"""The unit of work: what one use case changes, all or nothing.

One `commit` is one transaction: either all of a `Changes` is durable (record, index, briefs, queued deliveries,
acknowledged inbox row) or nothing is.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from bot.domain.alerts.notification import Notification
from bot.domain.incidents.lifecycle import Lifecycle
from bot.domain.incidents.record import Incident
from bot.domain.operations.storms import OpenedIncident, PlacementDecision, Storm
from bot.ports.audit import AuditLine
from bot.ports.delivery.inbox import InboxRow, ReceivedEvent
from bot.ports.delivery.outbox import OutboxEntry
from bot.ports.errors import StoreConflict
from bot.ports.posts import IncidentPost, PostedBrief

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Changes:
    """What one use case changes, all or nothing."""

    # One with version 0 is new; any other must still have its version in the store, else StoreConflict. The store adds one.
    lifecycles: tuple[Lifecycle, ...] = ()
    # Written and indexed in the same transaction.
    records: tuple[Incident, ...] = ()
    # Those of the records that may be recalled from now on: resolved or imported ones.
    recallable: frozenset[str] = frozenset()
    # Ids to delete from records and index.
    retracted: tuple[str, ...] = ()
    briefs: tuple[PostedBrief, ...] = ()
    deliveries: tuple[OutboxEntry, ...] = ()
    # The inbox row whose work this is; StoreConflict where another worker took it over.
    done: InboxRow | None = None
    # A key under which this happens at most once: if it already has, nothing is written and `commit` returns False.
    once: str | None = None
    posts: tuple[IncidentPost, ...] = ()
    audit: tuple[AuditLine, ...] = ()
    # Written under their keys, replacing what was stored under them.
    notifications: tuple[Notification, ...] = ()
    # Keys of notifications to delete.
    dropped_notifications: tuple[str, ...] = ()
    # Written under channel and incident.
    openings: tuple[OpenedIncident, ...] = ()
    # (channel, how many openings it had): StoreConflict where another one came in between.
    after_openings: tuple[str, int] | None = None
    # Written if new, and watched from now on.
    storm: Storm | None = None
    # Records that must still be as they were read, else StoreConflict.
    expected: tuple[Incident, ...] = ()
    # Work that we queue for ourselves.
    received: tuple[ReceivedEvent, ...] = ()
    # The store itself queues every recallable record that is written, and every retracted one, for the memory bank. This
    # names that row, after its operation; None: the incident's standing row, which any later change replaces.
    bank_act: str | None = None
    # The bank has these records already, because they came from there.
    skips_bank: bool = False


def add_storm_placement(changes: Changes, placed: PlacementDecision) -> Changes:
    """Return the changes with what was decided about storms: they commit only if nothing else opened there meanwhile."""
    if placed.seen is None or not placed.openings:
        return changes
    seat = (placed.openings[0].channel, placed.seen)
    return replace(changes, openings=placed.openings, after_openings=seat, storm=placed.storm)


def merge_changes(one: Changes, other: Changes) -> Changes:
    """Return both changes as one."""
    return replace(
        one,
        lifecycles=one.lifecycles + other.lifecycles,
        records=one.records + other.records,
        briefs=one.briefs + other.briefs,
        deliveries=one.deliveries + other.deliveries,
        posts=one.posts + other.posts,
        notifications=one.notifications + other.notifications,
        openings=one.openings + other.openings,
        after_openings=other.after_openings or one.after_openings,
        storm=other.storm or one.storm,
        received=one.received + other.received,
        dropped_notifications=one.dropped_notifications + other.dropped_notifications,
        once=one.once or other.once,
    )


async def retry_conflicts(retries: int, attempt: Callable[[], Awaitable[T]]) -> T:
    """Run `attempt`, and again after each StoreConflict, `retries` times at most; the last conflict is raised.

    `attempt` must read everything anew: a conflict means that what it read is outdated.
    """
    for _ in range(retries):
        try:
            return await attempt()
        except StoreConflict:
            continue
    return await attempt()
