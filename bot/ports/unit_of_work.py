"""The store: system of record for incidents, their lives, briefs, and everything that is owed (design 4.5).

One `commit` is one transaction: either all of a `Changes` is durable (record, index, briefs, owed work, settled inbox
row) or nothing is. Must not know SQL, Slack's wire format or any bank.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from bot.domain.alerts.notification import Notice
from bot.domain.incidents.lifecycle import Life
from bot.domain.incidents.record import Incident
from bot.domain.operations.storms import Opening, Placed, Storm
from bot.ports.audit import AuditLine
from bot.ports.delivery.inbox import InboxRow, ReceivedEvent
from bot.ports.delivery.outbox import OutboxEntry
from bot.ports.posts import IncidentPost, PostedBrief


@dataclass(frozen=True, slots=True)
class Changes:
    """What one use case changes, all or nothing.

    A `Life` with version 0 is new; any other must still have that version in the store, else StoreConflict; the store
    adds one. `records` are written (and indexed in the same transaction); `recallable` says which incident ids among
    them may be recalled from now on (resolved or imported ones). `retracted` ids are deleted from records and index.
    `once`: a key under which this change happens at most once; if it already has, nothing is written and `commit`
    returns False. `audit`: lines (actor, action, object, detail). `notices` are written under their keys, replacing what
    was kept under them; `dropped_notices` are keys that are kept no longer.
    `openings` are kept under channel and incident; `after_openings` (channel, how many it had) raises StoreConflict where
    another one came in between; `storm` is kept, if new, and is watched from now on.
    """

    lifecycles: tuple[Life, ...] = ()
    records: tuple[Incident, ...] = ()
    recallable: frozenset[str] = frozenset()
    retracted: tuple[str, ...] = ()
    briefs: tuple[PostedBrief, ...] = ()
    deliveries: tuple[OutboxEntry, ...] = ()
    done: InboxRow | None = None
    once: str | None = None
    posts: tuple[IncidentPost, ...] = ()
    audit: tuple[AuditLine, ...] = ()
    notifications: tuple[Notice, ...] = ()
    dropped_notifications: tuple[str, ...] = ()
    openings: tuple[Opening, ...] = ()
    after_openings: tuple[str, int] | None = None
    storm: Storm | None = None
    expected: tuple[Incident, ...] = ()
    received: tuple[ReceivedEvent, ...] = ()
    # Every recallable record that is written, and every retracted one, is queued for the memory bank by the store itself.
    # This names that row, after its operation; None: the incident's standing row, which a newer change replaces.
    bank_act: str | None = None
    # The bank has these records already: they came from there.
    skips_bank: bool = False


def add_storm_placement(changes: Changes, placed: Placed) -> Changes:
    """The changes, with what was decided of storms: it holds only if nothing else opened there meanwhile."""
    if placed.seen is None or not placed.openings:
        return changes
    seat = (placed.openings[0].channel, placed.seen)
    return replace(changes, openings=placed.openings, after_openings=seat, storm=placed.storm)


def merge_changes(one: Changes, other: Changes) -> Changes:
    """Both changes as one."""
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
