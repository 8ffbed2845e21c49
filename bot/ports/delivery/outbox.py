"""The outbox: calls to Slack and to the memory bank, delivered at least once and once in effect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from bot.domain.delivery.ids import build_bank_id, build_edit_id, build_incident_key
from bot.domain.delivery.kinds import Operation
from bot.domain.operations.shadow import Shadowed
from bot.ports.chat import ChatMessage, Posting
from bot.ports.posts import PostedBrief


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
    operation: Operation
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
    entry: OutboxEntry
    lease: str
    attempts: int
    uncertain: bool
    target_result: str | None = None
    own_result: str | None = None
    replaced: bool = False
    place: Shadowed | None = None
    under_result: str | None = None
    target_place: Shadowed | None = None


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


# Edits of one message that follow each other closer than this are sent as one.
EDIT_EVERY_S = 3.0


def build_outbox_entry(
    posting: Posting,
    *,
    key: str,
    urgent: bool = False,
    replaces: bool = False,
    target: str | None = None,
    every_s: float = 0.0,
) -> OutboxEntry:
    """The outbox row for a Slack call. `target` is the delivery id whose message the call edits or deletes; its ts is
    looked up when the row is delivered, for it may not exist yet."""
    payload: dict[str, Any] = {k: v for k, v in asdict(posting).items() if v not in (None, "", (), {})}
    if target:
        payload["target"] = target
    return OutboxEntry(
        Destination.SLACK,
        posting.operation,
        key,
        posting.delivery_id,
        payload,
        urgent=urgent,
        replaces=replaces,
        every_s=every_s,
    )


def build_bank_entry(operation: Operation, incident_id: str, act: str | None) -> OutboxEntry:
    """Return the entry that makes the memory bank retain or retract a record, as it is in the store at delivery."""
    delivery_id = build_bank_id(operation, incident_id, act)
    payload = {"incident_id": incident_id}
    return OutboxEntry(Destination.BANK, operation, incident_id, delivery_id, payload, replaces=act is None)


def build_brief_edit(posted: PostedBrief, message: ChatMessage, every_s: float = 0.0) -> OutboxEntry:
    """The outbox row that puts `message` in the place of a posted brief; edits of it that wait become one."""
    about = posted.incident_id
    posting = Posting(
        Operation.UPDATE,
        posted.channel,
        build_edit_id(posted.delivery_id),
        message.text,
        message.blocks,
        incident_id=about,
    )
    key = build_incident_key(posted.channel, about)
    return build_outbox_entry(posting, key=key, replaces=True, target=posted.delivery_id, every_s=every_s)
