"""The outbox: calls to Slack and to the memory bank, delivered at least once and once in effect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from bot.domain.delivery.ids import build_bank_id, build_edit_id, build_incident_key
from bot.domain.delivery.kinds import Operation
from bot.domain.operations.shadow import ShadowPlacement
from bot.domain.text.json_types import JsonDict, JsonObject
from bot.ports.chat import ChatMessage, Posting
from bot.ports.posts import PostedBrief


class Destination(StrEnum):
    """Where a delivery goes."""

    SLACK = "slack"
    BANK = "bank"


@dataclass(frozen=True, slots=True)
class OutboxEntry:
    """One delivery to queue.

    Its id is deterministic: queueing the same delivery again changes nothing, except with `replaces`. Entries of one
    `key` go in order. A payload that names `"target": <delivery id>` gets that delivery's result (its message ts) when
    it is delivered. An entry that is replaced while it is being sent waits for that call to end, because two calls in
    flight could arrive in either order; then it is due with the newer payload.
    """

    destination: Destination
    operation: Operation
    key: str
    delivery_id: str
    payload: JsonObject
    urgent: bool = False  # goes before the rest (people first)
    # put the newer payload in place (an edit of a message) and make it due again
    replaces: bool = False
    # pace of a replaced entry: due at the earliest so long after its last delivery, while others of its key do not
    # wait for it; 0 makes it due at once
    every_s: float = 0.0


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """A claimed outbox row."""

    id: int
    entry: OutboxEntry
    lease: str  # the fencing token: acknowledging with an outdated one does nothing
    attempts: int
    # an earlier delivery may have happened (crash, timeout): look before doing it again
    uncertain: bool
    target_result: str | None = None
    # what an earlier delivery of this row produced: a replaced post that has one is an edit of it
    own_result: str | None = None
    replaced: bool = False  # what may have been delivered was an older payload than this one
    place: ShadowPlacement | None = None  # where it goes instead of its own channel
    under_result: str | None = None  # the ts of the message in whose thread it goes there
    target_place: ShadowPlacement | None = None  # where its target is


class Outbox(Protocol):
    """The durable queue of deliveries. Raises StoreUnavailable."""

    async def claim(self, destination: Destination, limit: int, *, urgent_only: bool = False) -> tuple[OutboxRow, ...]:
        """Claim due rows under a lease, urgent first (or these alone), oldest first, at most one per key; a row waits
        for an older undelivered row of its key (a dead one does not block)."""
        ...

    async def acknowledge(self, row: OutboxRow, result: str | None) -> bool:
        """Mark the row as delivered; `result` is what it produced (a message ts). False if the lease was outdated, or
        if a newer payload came meanwhile (the result is stored, and the row is due again)."""
        ...

    async def postpone(
        self, row: OutboxRow, delay_s: float, error: str, *, uncertain: bool, tried: bool = True
    ) -> bool:
        """Make the row due again after `delay_s`. `tried` False: nothing was attempted, so it does not count."""
        ...

    async def dead_letter(self, row: OutboxRow, error: str) -> bool:
        """Give the row up, because it was refused for good; it is kept for a person to look at."""
        ...

    async def count_rows(self) -> Mapping[str, int]:
        """Return the number of rows by "<destination>.<state>" (pending, sending, sent, dead)."""
        ...

    async def find_oldest_pending(self) -> datetime | None:
        """Return when the oldest undelivered row was queued."""
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
    """Return the entry for a call to Slack.

    `target` is the delivery id of the message that the call edits or deletes; its ts is looked up at delivery, because
    it may not exist yet.
    """
    payload: JsonDict = {k: v for k, v in asdict(posting).items() if v not in (None, "", (), {})}
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
    """Return the entry that puts `message` in the place of a posted brief; waiting edits of it become one."""
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
