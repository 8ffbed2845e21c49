"""Deliver what the outbox holds: claim rows, make the calls, and act on what a failure means.

How a delivery works, and why:

**An outbox.** A use case never calls Slack or the memory bank. It commits an outbox row together with everything else that
it changes, so that what was recorded is announced, and what was not recorded never is. This module makes the calls. A row
is delivered at least once, and once in effect.

**Leases.** A claimed row is leased with a fencing token. If the process dies, the lease ends, and the next claim takes the
row over; a late answer of the first claim is then ignored. That is why one delivery must take less time than the lease.

**Unknown outcomes.** After a timeout or a crash nobody knows whether the message arrived. The row is marked as uncertain,
and before the next attempt Slack is searched for a message of ours with this delivery id. A post that is there already is
not posted twice; if a newer payload has replaced the row meanwhile, it becomes an edit of that message.

**Order.** The store hands out at most one row per key at a time, so an edit cannot overtake its post. A call on a message
(edit, delete, reply) names its target by delivery id; the target's ts is filled in at the last moment, and while there is
none the call waits for some attempts.

**Pace.** Slack takes about one message a second in a channel. `policy.schedule` gives each claimed row its turn, answers to
people first; a row that must wait is given back untried, so that more urgent ones may overtake it.

**Lanes.** Each destination has a lane of its own, so that one that is down or refuses the bot does not hold up the other. A
lane is paused while the destination refuses the bot as such, and then single rows probe whether it takes anything again.

**Failures.** `policy.decide_after_failure` turns an error into a decision: an outage is retried for ever, for nothing that
people recorded is thrown away; a refusal of this one call is a dead letter, for a person to look at. A row that keeps
failing while others arrive is at fault itself, and becomes a dead letter, too.

Must not write messages.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from typing import Protocol

from bot.domain.delivery.kinds import Operation
from bot.observability import DELIVERIES, get_logger, spawn
from bot.ports.chat import Chat, Posting, find_channel, may_speak
from bot.ports.clock import Clock
from bot.ports.delivery.outbox import Destination, Outbox, OutboxRow
from bot.ports.errors import ChartUnavailable, PrecedentError, RecordRejected, StoreUnavailable
from bot.ports.files import FileBuilder
from bot.ports.incidents import IncidentStore
from bot.ports.memory import MemoryBank
from bot.workflows.delivery.policy import (
    AUTH_PAUSE_S,
    CAP_S,
    HOLD_S,
    PACE_S,
    PACED_OPERATIONS,
    TARGET_ATTEMPTS,
    DeadLetter,
    Decision,
    RetryLater,
    Succeeded,
    compute_backoff_s,
    decide_after_failure,
    decide_without_target,
    find_row_channel,
    name_outcome,
    schedule,
)

AT_ONCE = {Destination.SLACK: 20, Destination.BANK: 4}
# Of these, places that only answers to people take.
RESERVED_FOR_PEOPLE = {Destination.SLACK: 4, Destination.BANK: 0}
# A turn waits this long for calls under way; slower ones go on in the background.
PATIENCE_S = 0.25
IDLE_S = 0.25
CALL_DEADLINE_S = 20.0
# See `Lane.count_failure`.
ROW_FAULTS = 20
# The bot can do without these: a missing scope for them must not pause everything else.
DISPENSABLE_OPERATIONS = frozenset({Operation.REACT, Operation.UPLOAD, Operation.DELETE_FILE})
SHARED = "the channel is shared with another organisation: nothing is posted there"
UNKNOWN = "the bot cannot see this channel: nothing is posted there"
POSTING_FIELDS = frozenset(f.name for f in fields(Posting)) - {"content"}
log = get_logger("deliver")


def build_posting(row: OutboxRow) -> Posting:
    """Return the call of a row, with its target filled in. Raises RecordRejected for a malformed payload."""
    payload = {name: value for name, value in row.entry.payload.items() if name in POSTING_FIELDS}
    try:
        posting = Posting(**payload)
    except TypeError as error:
        raise RecordRejected("payload", "names no operation, channel or delivery") from error
    if row.target_result:
        posting = replace(posting, ts=row.target_result)
    if row.place:
        posting = replace(posting, channel=row.place.channel, thread_ts=row.under_result)
    elif row.target_place:
        posting = replace(posting, channel=row.target_place.channel)
    return replace(posting, operation=row.entry.operation, blocks=tuple(posting.blocks))


@dataclass(slots=True)
class Lane:
    """What this process knows about one destination."""

    destination: Destination
    # Why nothing is sent there; "" if it is not paused.
    paused: str = ""
    paused_until: datetime | None = None
    # How many rows arrived so far.
    arrived: int = 0
    # The rows being delivered, by id.
    in_hand: dict[int, OutboxRow] = field(default_factory=dict)
    # By row id: how often it failed while others arrived, and how many had arrived at its last failure.
    faults: dict[int, tuple[int, int]] = field(default_factory=dict)
    # The tasks that deliver.
    running: set[asyncio.Task[None]] = field(default_factory=set)

    def count_failure(self, row_id: int) -> int:
        """Count a failure of this row, and return how many there were with another row's arrival in between.

        During an outage of the destination nothing arrives, so an outage never counts.
        """
        count, arrived = self.faults.get(row_id, (0, self.arrived))
        count += self.arrived > arrived
        self.faults[row_id] = (count, self.arrived)
        return count

    def forget(self, row_id: int, *, arrived: bool = False) -> None:
        """Drop a row that is done."""
        self.in_hand.pop(row_id, None)
        self.faults.pop(row_id, None)
        self.arrived += arrived


class ShadowGate(Protocol):
    """Check what goes to a shadow channel; see `bot.workflows.operations.shadow.ShowInShadow`."""

    async def __call__(self, row: OutboxRow, posting: Posting) -> Posting | None:
        """Return the message to send, None for none."""
        ...

    def translate_failure(self, row: OutboxRow, problem: BaseException) -> BaseException:
        """Return the error that a failed delivery amounts to."""
        ...


@dataclass(slots=True, kw_only=True)
class Deliver:
    """Deliver the outbox: Slack's rows, and the memory bank's if one is set up."""

    outbox: Outbox
    chat: Chat
    clock: Clock
    bank: MemoryBank | None = None
    records: IncidentStore | None = None
    # Returns a random number in [0, 1).
    chance: Callable[[], float] = random.SystemRandom().random
    # Must be shorter than the lease, or another replica would start the same delivery.
    deadline_s: float = CALL_DEADLINE_S
    files: FileBuilder | None = None
    # Checks what goes to a shadow channel before it is sent.
    in_shadow: ShadowGate | None = None
    # When the next call may be made in each channel.
    _free_at: dict[str, datetime] = field(default_factory=dict)
    _lanes: dict[Destination, Lane] = field(default_factory=lambda: {d: Lane(d) for d in Destination})

    async def drain_once(self) -> float:
        """Deliver everything that is due now, wait until that is done, and return the seconds until there may be
        more.

        Raises StoreUnavailable.
        """
        waits = [await self.drain(destination, patience_s=None) for destination in self.list_destinations()]
        return min(waits)

    def list_destinations(self) -> tuple[Destination, ...]:
        """Return where this bot delivers to."""
        return (Destination.SLACK, Destination.BANK) if self.bank else (Destination.SLACK,)

    async def drain(self, destination: Destination, *, patience_s: float | None = PATIENCE_S) -> float:
        """Deliver what is due for one destination, and return the seconds until there may be more.

        Slow calls continue beyond `patience_s` (None waits for them), so that they hold up nobody; some places are
        reserved for answers to people. Raises StoreUnavailable.
        """
        lane, now = self._lanes[destination], self.clock.now()
        if lane.paused_until and now < lane.paused_until <= now + timedelta(seconds=AUTH_PAUSE_S):
            return min(IDLE_S * 4, (lane.paused_until - now).total_seconds())
        due = await self._claim(lane, now)
        lane.running |= {spawn(self._deliver(lane, row), f"deliver-{row.id}") for row in due}
        done: set[asyncio.Task[None]] = set()
        if lane.running:
            done, lane.running = await asyncio.wait(lane.running, timeout=patience_s)
            for problem in [task.exception() for task in done]:
                if problem is not None:
                    raise problem
        return 0.0 if due or done else IDLE_S

    async def _claim(self, lane: Lane, now: datetime) -> list[OutboxRow]:
        """Claim the rows to deliver now; give those back untried that must wait for their channel's pace."""
        # After a pause single rows probe whether the destination takes anything again; an outage does not answer that.
        free = (1 if lane.paused else AT_ONCE[lane.destination]) - len(lane.running)
        reserved = 0 if lane.paused else RESERVED_FOR_PEOPLE[lane.destination]
        if free <= 0:
            return []
        rows = await self.outbox.claim(lane.destination, max(free - reserved, 1), urgent_only=free <= reserved)
        lane.in_hand |= {row.id: row for row in rows}
        paced = lane.destination is Destination.SLACK
        waits = schedule(rows, self._free_at, now) if paced else [(row, 0.0) for row in rows]
        for row, wait_s in waits:
            if wait_s > 0:
                await self.outbox.postpone(row, wait_s, "", uncertain=row.uncertain, tried=False)
                lane.in_hand.pop(row.id, None)
        return [row for row, wait_s in waits if wait_s <= 0]

    async def release(self, grace_s: float = 0.0) -> int:
        """Let deliveries under way finish within `grace_s`; give the others back, and return how many.

        The next start takes these at once. They may have arrived, so it looks first. Raises StoreUnavailable.
        """
        running = {task for lane in self._lanes.values() for task in lane.running}
        if running:
            _, late = await asyncio.wait(running, timeout=grace_s)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        rows = [row for lane in self._lanes.values() for row in lane.in_hand.values()]
        for row in rows:
            await self.outbox.postpone(row, 0.0, "the bot was stopped before the answer came", uncertain=True)
        return len(rows)

    def list_paused(self) -> Mapping[str, str]:
        """Return the destinations that are paused, and why."""
        return {lane.destination.value: lane.paused for lane in self._lanes.values() if lane.paused}

    async def _deliver(self, lane: Lane, row: OutboxRow) -> None:
        if lane.destination is Destination.SLACK and row.entry.operation in PACED_OPERATIONS:
            self._free_at[find_row_channel(row)] = self.clock.now() + timedelta(seconds=PACE_S)
        decision = await self._decide(lane, row)
        if isinstance(decision, RetryLater):
            self._hold(lane, row, decision)
        elif lane.paused:
            log.warning("deliveries go on", destination=lane.destination.value)
            lane.paused, lane.paused_until = "", None
        await self._finish(lane, row, decision)

    async def _decide(self, lane: Lane, row: OutboxRow) -> Decision:
        try:
            async with asyncio.timeout(self.deadline_s):
                return await (
                    self._call_slack(row)
                    if lane.destination is Destination.SLACK
                    else _update_bank(row, self.bank, self.records)
                )
        except StoreUnavailable:
            raise
        except (PrecedentError, TimeoutError) as problem:
            if row.entry.operation in DISPENSABLE_OPERATIONS and getattr(problem, "code", "") == "missing_scope":
                return DeadLetter(str(problem))
            meant = self.in_shadow.translate_failure(row, problem) if self.in_shadow else problem
            decision = decide_after_failure(meant, row.attempts, self.chance(), uncertain=row.uncertain)
            asked_to_wait = getattr(meant, "retry_after_s", None) is not None
            counts = isinstance(decision, RetryLater) and decision.tried and not asked_to_wait
            if counts and lane.count_failure(row.id) >= ROW_FAULTS:
                return DeadLetter(f"{problem} This failed {ROW_FAULTS} times while other deliveries arrived.")
            return decision

    def _hold(self, lane: Lane, row: OutboxRow, decision: RetryLater) -> None:
        """Remember who has to wait: everybody if the bot is refused, the channel if Slack named a time."""
        now = self.clock.now()
        if decision.pause_s:
            if lane.paused != decision.reason:
                log.error("nothing is sent there now", destination=lane.destination.value, reason=decision.reason)
            lane.paused, lane.paused_until = decision.reason, now + timedelta(seconds=decision.pause_s)
        if lane.destination is Destination.SLACK:
            free = now + timedelta(seconds=min(decision.delay_s, HOLD_S))
            self._free_at[find_row_channel(row)] = max(self._free_at.get(find_row_channel(row), now), free)

    async def _call_slack(self, row: OutboxRow) -> Decision:
        posting = build_posting(row)
        if self.in_shadow and (row.place or row.target_place):
            shown = await self.in_shadow(row, posting)
            if shown is None:
                return Succeeded(None)
            posting = shown
        if row.entry.payload.get("target") and not row.target_result:
            return decide_without_target(row, self.chance())
        if row.place and row.place.under and not row.under_result and row.attempts < TARGET_ATTEMPTS:
            return RetryLater(
                compute_backoff_s(row.attempts, self.chance()), "the message in whose thread it goes is on its way"
            )
        if posting.operation != Operation.HOME:
            # the last gate before anything of ours could be read by another organization
            channel = await find_channel(self.chat, posting.channel)
            if not may_speak(channel):
                return DeadLetter(SHARED if channel else UNKNOWN)
        if posting.operation == Operation.POST and (there := await self._find_posted(row, posting)):
            if row.own_result or row.replaced:
                await self.chat.deliver(replace(posting, operation=Operation.UPDATE, ts=there))
            return Succeeded(there)
        if posting.operation == Operation.UPLOAD:
            return await self._upload(row, posting)
        return Succeeded(await self.chat.deliver(posting))

    async def _upload(self, row: OutboxRow, posting: Posting) -> Decision:
        """Make the file's content now and upload it, unless the file is there already."""
        if there := await self._find_posted(row, posting):
            return Succeeded(there)
        if self.files is None:
            raise ChartUnavailable("Nothing here makes files.")
        payload = row.entry.payload
        # A post-mortem quotes its own thread, wherever the file is posted.
        own = replace(posting, channel=str(payload["channel"]), thread_ts=payload.get("thread_ts"))
        return Succeeded(await self.chat.deliver(replace(posting, content=await self.files.build_content(own))))

    async def _find_posted(self, row: OutboxRow, posting: Posting) -> str | None:
        """Return the ts of this post if it is in the channel already."""
        if row.own_result:
            return row.own_result
        return await self.chat.find_delivered(posting) if row.uncertain else None

    async def _finish(self, lane: Lane, row: OutboxRow, decision: Decision) -> None:
        facts = {"destination": lane.destination.value, "operation": row.entry.operation, "row": row.id}
        DELIVERIES.labels(lane.destination.value, name_outcome(decision)).inc()
        if isinstance(decision, Succeeded):
            await self.outbox.acknowledge(row, decision.result)
            lane.forget(row.id, arrived=True)
        elif isinstance(decision, RetryLater):
            log.warning("a delivery failed", **facts, attempts=row.attempts, reason=decision.reason)
            await self.outbox.postpone(
                row, decision.delay_s, decision.reason, uncertain=decision.uncertain, tried=decision.tried
            )
            lane.in_hand.pop(row.id, None)
        else:
            log.error("a delivery was refused; see `precedent outbox list`", **facts, reason=decision.reason)
            await self.outbox.dead_letter(row, decision.reason)
            lane.forget(row.id)


async def _update_bank(row: OutboxRow, bank: MemoryBank | None, records: IncidentStore | None) -> Decision:
    """Make the bank hold what the store holds now, for the row may be older than another that was delivered.

    A record that is gone is not retained, and one that is back is not retracted.
    """
    if bank is None:
        return RetryLater(CAP_S, "no memory bank is set up", tried=False)
    incident_id = str(row.entry.payload["incident_id"])
    record = (await records.find_records((incident_id,))).get(incident_id) if records else None
    if row.entry.operation == Operation.RETRACT and record is None:
        await bank.retract(incident_id)
    elif row.entry.operation == Operation.RETAIN and record is not None:
        await bank.retain(record)
    return Succeeded(None)
