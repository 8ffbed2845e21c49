"""The store: system of record for incidents, their lives, briefs, and everything that is owed (design 4.5).

One `commit` is one transaction: either all of a `Changes` is durable (record, index, briefs, owed work, settled inbox
row) or nothing is. Must not know SQL, Slack's wire format or any bank.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import Any, Protocol

from bot.domain.access.visibility import Viewer
from bot.domain.alerts.notification import Notice
from bot.domain.brief.decide import Brief
from bot.domain.incidents.alert_history import AlertHistory
from bot.domain.incidents.lifecycle import Life
from bot.domain.incidents.record import Incident
from bot.domain.operations.load import Waiting
from bot.domain.operations.shadow import Shadowed
from bot.domain.operations.storms import Opening, Storm


class Destination(StrEnum):
    """Where owed work goes."""

    SLACK = "slack"
    BANK = "bank"


@dataclass(frozen=True, slots=True)
class OutboxEntry:
    """One thing owed outside. It is delivered at least once, and once in effect.

    `delivery_id` is deterministic and unique: owing it again changes nothing, except for `replaces=True`, which puts
    the newer payload in place (an edit of a message) and makes it due again. Rows with the same `key` go in order.
    `urgent` goes before the rest (people first). `operation`: for Slack "post", "update", "delete", "react",
    "ephemeral", "upload" (a file), "delete_file"; for a bank "retain", "retract". A payload that names `"target": <delivery_id>` is resolved to that
    delivery's result (its message ts) when it is delivered. A row that is replaced while it is being sent waits for
    that call to end (two calls in flight could arrive in either order), then it is due with the newer payload.
    `every_s`: a row that is replaced is due at the earliest so long after its last delivery; others do not wait for it
    meanwhile. Replacing it with 0 makes it due at once.
    """

    destination: Destination
    operation: str
    key: str
    delivery_id: str
    payload: Mapping[str, Any]
    urgent: bool = False
    replaces: bool = False
    every_s: float = 0.0


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """A claimed outbox row. `lease` is the fencing token; settling with an outdated one does nothing.
    `uncertain` is true where an earlier delivery may have happened (crash, timeout): look before doing it again.
    `own_result` is what an earlier delivery of this row produced: a replaced "post" with one is an edit of it.
    `replaced`: what may have been delivered was an older payload than this one. `place`: where it stands instead of its
    own channel, with `under_result`, the message ts of what it stands under; `target_place`: where its target stands."""

    id: int
    owed: OutboxEntry
    lease: str
    attempts: int
    uncertain: bool
    target_result: str | None = None
    own_result: str | None = None
    replaced: bool = False
    place: Shadowed | None = None
    under_result: str | None = None
    target_place: Shadowed | None = None


@dataclass(frozen=True, slots=True)
class ReceivedEvent:
    """One thing Slack delivered. `event_id` is Slack's (the same over retries); `natural_key` names the fact itself
    (team, channel, ts, for edits a content hash), for Slack may tell one fact through several events.
    `body` None: keep the id only (a message that is not ours to read). Rows with the same `order_key` are worked on in
    the order in which they came: a resolve must not overtake its firing."""

    event_id: str
    natural_key: str
    kind: str
    body: Mapping[str, Any] | None = None
    order_key: str | None = None


@dataclass(frozen=True, slots=True)
class InboxRow:
    """A claimed inbox row."""

    id: int
    kind: str
    body: Mapping[str, Any]
    lease: str
    attempts: int
    received_at: datetime


@dataclass(frozen=True, slots=True)
class PostedBrief:
    """The brief of an incident in one channel. `delivery_id` is its outbox delivery; `root_ts` the alert's message;
    `shadow` the channel in which it stands instead, where shadow mode was on when it was posted."""

    incident_id: str
    channel: str
    root_ts: str
    delivery_id: str
    brief: Brief
    message_ts: str | None = None
    shadow: str | None = None

    @property
    def message_channel(self) -> str:
        """The channel of its message."""
        return self.shadow or self.channel

    def is_shown_here(self, channel: str) -> bool:
        """Whether it is the brief of this channel, be it that of the alert or that in which it stands."""
        return channel in (self.channel, self.shadow)


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

    lives: tuple[Life, ...] = ()
    records: tuple[Incident, ...] = ()
    recallable: frozenset[str] = frozenset()
    retracted: tuple[str, ...] = ()
    briefs: tuple[PostedBrief, ...] = ()
    owed: tuple[OutboxEntry, ...] = ()
    done: InboxRow | None = None
    once: str | None = None
    seen_posts: tuple[IncidentPost, ...] = ()
    audit: tuple[tuple[str, str, str, str], ...] = ()
    notices: tuple[Notice, ...] = ()
    dropped_notices: tuple[str, ...] = ()
    openings: tuple[Opening, ...] = ()
    after_openings: tuple[str, int] | None = None
    storm: Storm | None = None
    expected: tuple[Incident, ...] = ()
    received: tuple[ReceivedEvent, ...] = ()


@dataclass(frozen=True, slots=True)
class RelatedIncidents:
    """What is kept of an alert around one moment: the incidents that a notice may touch, oldest first, and all notices
    of these and of no incident."""

    lives: tuple[Life, ...] = ()
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True)
class IncidentPost:
    """A message that belongs to an incident (the alert's post, a repeat, a resolve): found by channel and ts."""

    channel: str
    ts: str
    incident_id: str


class IncidentStore(Protocol):
    """Incidents, their lives and briefs. Raises StoreUnavailable (StoreConflict from `commit`), IncidentNotFound."""

    async def commit(self, changes: Changes) -> bool:
        """Write everything durably in one transaction; False if `once` was already done (nothing is written)."""
        ...

    async def new_incident_id(self) -> str:
        """The next "INC-<n>"; never given twice, never one that an import brought."""
        ...

    async def read_record(self, incident_id: str) -> Incident:
        """The record; raises IncidentNotFound."""
        ...

    async def find_records(self, incident_ids: Sequence[str]) -> Mapping[str, Incident]:
        """Those of these records that there are, by id."""
        ...

    async def find_retracted(self, incident_ids: Sequence[str]) -> frozenset[str]:
        """Those of these ids that were here and were retracted: nothing may bring them back by itself."""
        ...

    async def list_records(self, viewer: Viewer, *, recallable_only: bool = False) -> tuple[Incident, ...]:
        """All records the viewer may see, by id (for digests and export)."""
        ...

    def stream_records(self, viewer: Viewer) -> AsyncIterator[Incident]:
        """All records the viewer may see, by id, without holding them all in memory."""
        ...

    async def read_lifecycle(self, incident_id: str) -> Life:
        """The life of one incident; raises IncidentNotFound."""
        ...

    async def find_latest_lifecycle(self, fingerprint: str, visibility: str) -> Life | None:
        """The most recently opened incident of this fingerprint in this visibility."""
        ...

    async def find_related(self, notice: Notice, *, known: str | None = None) -> RelatedIncidents:
        """What this notice may touch: of its fingerprint and visibility the last incident opened by then and the first
        one after, the incident `known`, and the notices of no incident that have its fingerprint or speak of its post."""
        ...

    async def list_lifecycles(self, since: datetime, until: datetime, viewer: Viewer) -> tuple[Life, ...]:
        """Lives opened in [since, until), oldest first."""
        ...

    async def list_open_lifecycles(self, viewer: Viewer) -> tuple[Life, ...]:
        """Lives that are open or cleared but not resolved, newest first, at most 100."""
        ...

    async def read_alert_history(
        self, fingerprint: str, visibility: str, now: datetime, days: int, but: str | None
    ) -> AlertHistory:
        """What alerts alone tell of this fingerprint in the last `days`, leaving out the last firing of incident `but`."""
        ...

    async def list_briefs(self, incident_id: str) -> tuple[PostedBrief, ...]:
        """The incident's briefs, one per channel; `message_ts` is filled once delivered."""
        ...

    async def find_incident(self, channel: str, ts: str) -> str | None:
        """The incident a message belongs to: an alert's post, a repeat, the brief itself, or the thread's root."""
        ...

    async def count_posts(self, since: datetime) -> Mapping[str, int]:
        """How many messages and files were posted about each incident since then, by id, as far as rows are kept."""
        ...

    async def find_briefs_naming(self, incident_id: str, since: datetime | None = None) -> tuple[PostedBrief, ...]:
        """The briefs of other incidents that speak of this one; with `since`, of those only the ones that were first
        posted since then, or whose incident is not resolved."""
        ...

    async def list_brief_channels(self, since: datetime) -> tuple[str, ...]:
        """Channels in which a brief was posted since then (they get the digest)."""
        ...


class Inbox(Protocol):
    """What Slack delivered, written before it is acknowledged. Raises StoreUnavailable: then it must not be acked."""

    async def receive(self, received: ReceivedEvent) -> bool:
        """Keep it durably; False if this event or this fact was here before."""
        ...

    async def claim(self, limit: int) -> tuple[InboxRow, ...]:
        """Claim due rows, oldest first, under a lease; rows of a worker that died come back when its lease ends."""
        ...

    async def retry_later(self, row: InboxRow, delay_s: float, error: str) -> None:
        """Give a row back, to be taken again after `delay_s`; only if the lease still holds."""
        ...

    async def give_up(self, row: InboxRow, error: str) -> None:
        """Keep a row as dead, for a person to look at; only if the lease still holds."""
        ...

    async def acknowledge(self, row: InboxRow) -> None:
        """The work of this row is done and changed nothing else (else name it in `Changes.done`)."""
        ...

    async def delete_settled(self, when: datetime) -> int:
        """Delete settled rows received before then; how many."""
        ...


class InboxBacklog(Protocol):
    """What the inbox tells of itself. Raises StoreUnavailable."""

    async def read_backlog(self) -> Waiting:
        """What could be taken now, or as soon as an older row about the same is done."""
        ...

    async def find_newest_message(self, channel: str, before: datetime) -> str | None:
        """The ts of the newest message of this channel that was received before this moment, as far as it is known."""


class Purging(Protocol):
    """Removing every text of an incident for good. Raises StoreUnavailable."""

    async def purge(self, incident_id: str, marks: Sequence[str], changes: Changes) -> bool:
        """Remove record, index entry, life, briefs, notices, what was received and is owed about it, and what was said in
        every delivered message that names it, belongs to a brief that does, or holds one of the `marks`; its own messages
        are deleted. Earlier audit lines about it keep a hash of what they said. `changes` (the audit line, what is owed)
        is written with it. Again is fine: False, and only `changes` is written."""
        ...

    async def compact(self) -> None:
        """Overwrite what was deleted, so that no byte of it is left in the store's files. Raises StoreUnavailable where
        somebody reads an older state for so long that it must be tried again."""
        ...


class Outbox(Protocol):
    """Everything owed outside. Raises StoreUnavailable."""

    async def claim(self, destination: Destination, limit: int, *, urgent_only: bool = False) -> tuple[OutboxRow, ...]:
        """Claim due rows under a lease, urgent first (or these alone), oldest first, at most one per key; a row waits for
        an older unsettled row of its key (a dead one does not block)."""
        ...

    async def acknowledge(self, row: OutboxRow, result: str | None) -> bool:
        """Delivered; `result` is what it produced (a message ts). False if the lease was outdated, or if a newer
        payload came meanwhile (the result is kept, and the row is due again)."""
        ...

    async def postpone(
        self, row: OutboxRow, delay_s: float, error: str, *, uncertain: bool, tried: bool = True
    ) -> bool:
        """Not now; due again after `delay_s`. `tried` False: nothing was attempted, so it does not count."""
        ...

    async def dead_letter(self, row: OutboxRow, error: str) -> bool:
        """Refused for good: a dead letter, kept for a person to look at."""
        ...

    async def count_rows(self) -> Mapping[str, int]:
        """Rows by "<destination>.<state>" (pending, sending, sent, dead)."""
        ...

    async def find_oldest_pending(self) -> datetime | None:
        """When the oldest undelivered row was owed."""
        ...


class ClaimStore(Protocol):
    """At most one owner for a named piece of periodic work (design: the digest, keyed by local date)."""

    async def claim(self, work: str, channel: str, period: date, changes: Changes) -> bool:
        """Claim and commit `changes` in one transaction; False (and nothing written) if it was claimed before."""
        ...


@dataclass(frozen=True, slots=True)
class StoreStatus:
    """Whether the store works. `schema` is the applied revision; `problem` one sentence, None if fine."""

    writable: bool
    schema: str | None
    records: int = 0
    problem: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


class StoreHealth(Protocol):
    """Health of the store, for readiness, `doctor` and status. Never raises."""

    async def read_status(self) -> StoreStatus:
        """Try a small write and say how it went."""
        ...
