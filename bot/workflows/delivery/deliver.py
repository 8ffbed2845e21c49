"""Delivering what is owed: claims rows, makes the calls, and decides what a failure means. Must not write messages.

Decisions are pure functions of the failure, the number of attempts and a random number. Slack takes about one message a
second in a channel; rows that must wait for that are given back untried, so that urgent ones overtake them. Each
destination has a lane of its own: one that is down or refuses the bot does not hold up the other.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from typing import Protocol

from bot.domain.delivery.kinds import Operation
from bot.domain.incidents.record import Incident
from bot.observability import DELIVERIES, get_logger, spawn
from bot.ports.chat import Chat, Posting, or_if_refused
from bot.ports.clock import Clock
from bot.ports.delivery.outbox import Destination, Outbox, OutboxRow
from bot.ports.errors import (
    ChartUnavailable,
    ChatAuthRejected,
    ChatOutcomeUnknown,
    ChatRejected,
    ChatUnavailable,
    IncidentNotFound,
    MemoryAuthRejected,
    MemoryRejected,
    PrecedentError,
    RecordRejected,
    StoreUnavailable,
)
from bot.ports.files import FileBuilder
from bot.ports.incidents import IncidentStore
from bot.ports.memory import MemoryBank

AT_ONCE = {Destination.SLACK: 20, Destination.BANK: 4}
# Of these, places that only answers to people take.
RESERVED_FOR_PEOPLE = {Destination.SLACK: 4, Destination.BANK: 0}
PATIENCE_S = 0.25
PACE_S = 1.0
HOLD_S = 5.0
IDLE_S = 0.25
BASE_S, CAP_S = 1.0, 300.0
AUTH_PAUSE_S = 60.0
CALL_DEADLINE_S = 20.0
TARGET_ATTEMPTS = 8
ROW_FAULTS = 20
PACED_OPERATIONS = frozenset(
    {Operation.POST, Operation.UPDATE, Operation.DELETE, Operation.EPHEMERAL, Operation.UPLOAD}
)
# what the bot can do without: lacking the right to do it must not stop the rest
DISPENSABLE_OPERATIONS = frozenset({Operation.REACT, Operation.UPLOAD, Operation.DELETE_FILE})
POSTING_FIELDS = frozenset(f.name for f in fields(Posting)) - {"content"}
log = get_logger("deliver")


@dataclass(frozen=True, slots=True)
class Succeeded:
    """It is there; `result` is what it produced."""

    result: str | None


@dataclass(frozen=True, slots=True)
class RetryLater:
    """Again after `delay_s`. `uncertain`: it may have happened. `pause_s`: all that is owed there waits that long."""

    delay_s: float
    reason: str
    uncertain: bool = False
    pause_s: float = 0.0
    tried: bool = True


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """Never; kept for a person to look at."""

    reason: str


Decision = Succeeded | RetryLater | DeadLetter


def compute_backoff_s(attempts: int, chance: float) -> float:
    """Full jitter: anywhere between half a second and the doubled delay, at most five minutes. `chance` is in [0, 1)."""
    return max(0.5, chance * min(CAP_S, BASE_S * 2.0 ** min(attempts, 16)))


def decide_after_failure(problem: BaseException, attempts: int, chance: float, *, uncertain: bool) -> Decision:
    """What a failed delivery means. An outage has no limit of attempts: what people recorded is not thrown away."""
    reason = str(problem) or type(problem).__name__
    if isinstance(problem, ChatAuthRejected | MemoryAuthRejected):
        return RetryLater(AUTH_PAUSE_S, reason, uncertain, pause_s=AUTH_PAUSE_S, tried=False)
    if isinstance(problem, ChatRejected | MemoryRejected | RecordRejected | IncidentNotFound | ChartUnavailable):
        return DeadLetter(reason)
    if isinstance(problem, ChatOutcomeUnknown | TimeoutError):
        return RetryLater(compute_backoff_s(attempts, chance), reason, uncertain=True)
    if isinstance(problem, ChatUnavailable) and problem.retry_after_s is not None:
        return RetryLater(problem.retry_after_s, reason, uncertain)
    return RetryLater(compute_backoff_s(attempts, chance), reason, uncertain)


def build_posting(row: OutboxRow) -> Posting:
    """The call that a row stands for, its target filled in; raises RecordRejected for a payload that is none."""
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


def schedule(
    rows: Sequence[OutboxRow], free_at: Mapping[str, datetime], now: datetime
) -> list[tuple[OutboxRow, float]]:
    """Each row with the seconds it has to wait for its channel: the first is due now, the next a pace later. Answers to
    people come first, then what is new in the channel, then edits of what stands there."""
    # a clock that was set back must not make anybody wait for longer than was ever meant
    free = {channel: min(at, now + timedelta(seconds=HOLD_S)) for channel, at in free_at.items()}
    waits = []
    for row in sorted(rows, key=_rank_row):
        channel = _find_channel(row)
        start = max(now, free.get(channel, now)) if row.entry.operation in PACED_OPERATIONS else now
        if row.entry.operation in PACED_OPERATIONS:
            free[channel] = start + timedelta(seconds=PACE_S)
        waits.append((row, (start - now).total_seconds()))
    return waits


@dataclass(slots=True)
class Lane:
    """What this process knows about one destination. `paused`: why nothing is sent there, until when. `in_hand`: rows
    that are being delivered, by id; `running` delivers them. `faults`: by row id, how often it failed while others arrived, and how many had
    arrived when it failed last."""

    destination: Destination
    paused: str = ""
    paused_until: datetime | None = None
    arrived: int = 0
    in_hand: dict[int, OutboxRow] = field(default_factory=dict)
    faults: dict[int, tuple[int, int]] = field(default_factory=dict)
    running: set[asyncio.Task[None]] = field(default_factory=set)

    def count_failure(self, row_id: int) -> int:
        """Note a failure of this row; how many there were, each with another row's arrival since the one before it.
        An outage of the destination never counts: nothing arrives during one."""
        count, arrived = self.faults.get(row_id, (0, self.arrived))
        count += self.arrived > arrived
        self.faults[row_id] = (count, self.arrived)
        return count

    def forget(self, row_id: int, *, arrived: bool = False) -> None:
        """This row is done with."""
        self.in_hand.pop(row_id, None)
        self.faults.pop(row_id, None)
        self.arrived += arrived


class ShadowGate(Protocol):
    """The last look at what stands in a shadow channel; see `bot.workflows.operations.shadow.ShowInShadow`."""

    async def __call__(self, row: OutboxRow, posting: Posting) -> Posting | None:
        """The message to send, None for none."""
        ...

    def translate_failure(self, row: OutboxRow, problem: BaseException) -> BaseException:
        """What a failed delivery means."""
        ...


@dataclass(slots=True)
class Deliver:
    """Works off the outbox: Slack's rows, and the memory bank's where one is set up. `deadline_s` for one delivery must
    be shorter than the lease, or another replica would begin the same one. `in_shadow` looks at what stands in a shadow
    channel before it is sent."""

    outbox: Outbox
    chat: Chat
    clock: Clock
    bank: MemoryBank | None = None
    records: IncidentStore | None = None
    chance: Callable[[], float] = random.SystemRandom().random
    deadline_s: float = CALL_DEADLINE_S
    files: FileBuilder | None = None
    in_shadow: ShadowGate | None = None
    _free_at: dict[str, datetime] = field(default_factory=dict)
    _lanes: dict[Destination, Lane] = field(default_factory=lambda: {d: Lane(d) for d in Destination})

    async def drain_once(self) -> float:
        """Deliver what is due now, everywhere, and wait until that is done; seconds until there may be more. Raises
        StoreUnavailable."""
        waits = [await self.drain(destination, patience_s=None) for destination in self.list_destinations()]
        return min(waits)

    def list_destinations(self) -> tuple[Destination, ...]:
        """Where this bot delivers to."""
        return (Destination.SLACK, Destination.BANK) if self.bank else (Destination.SLACK,)

    async def drain(self, destination: Destination, *, patience_s: float | None = PATIENCE_S) -> float:
        """Deliver what is due there now; seconds until there may be more. Slow calls go on beyond `patience_s` (None:
        they are waited for), so that they hold up nobody; some places are kept for people's answers. Raises
        StoreUnavailable."""
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
        """The rows to deliver now; those that must wait for their channel's pace are given back untried."""
        # after a pause single rows probe whether the destination takes anything again; an outage is no answer to that
        free = (1 if lane.paused else AT_ONCE[lane.destination]) - len(lane.running)
        kept = 0 if lane.paused else RESERVED_FOR_PEOPLE[lane.destination]
        if free <= 0:
            return []
        rows = await self.outbox.claim(lane.destination, max(free - kept, 1), urgent_only=free <= kept)
        lane.in_hand |= {row.id: row for row in rows}
        paced = lane.destination is Destination.SLACK
        waits = schedule(rows, self._free_at, now) if paced else [(row, 0.0) for row in rows]
        for row, wait_s in waits:
            if wait_s > 0:
                await self.outbox.postpone(row, wait_s, "", uncertain=row.uncertain, tried=False)
                lane.in_hand.pop(row.id, None)
        return [row for row, wait_s in waits if wait_s <= 0]

    async def release(self, grace_s: float = 0.0) -> int:
        """Let what is being delivered end, for so long; give back what does not, so that the next start takes it at once;
        how many. It may have arrived: the next one looks first. Raises StoreUnavailable."""
        running = {task for lane in self._lanes.values() for task in lane.running}
        if running:
            _, late = await asyncio.wait(running, timeout=grace_s)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        held = [row for lane in self._lanes.values() for row in lane.in_hand.values()]
        for row in held:
            await self.outbox.postpone(row, 0.0, "the bot was stopped before the answer came", uncertain=True)
        return len(held)

    def list_paused(self) -> Mapping[str, str]:
        """The destinations to which nothing is sent now, and why."""
        return {lane.destination.value: lane.paused for lane in self._lanes.values() if lane.paused}

    async def _deliver(self, lane: Lane, row: OutboxRow) -> None:
        if lane.destination is Destination.SLACK and row.entry.operation in PACED_OPERATIONS:
            self._free_at[_find_channel(row)] = self.clock.now() + timedelta(seconds=PACE_S)
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
                    self._call_slack(row) if lane.destination is Destination.SLACK else self._update_bank(row)
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
        """Remember who has to wait: everybody where the bot is refused, the channel where Slack named a time."""
        now = self.clock.now()
        if decision.pause_s:
            if lane.paused != decision.reason:
                log.error("nothing is sent there now", destination=lane.destination.value, reason=decision.reason)
            lane.paused, lane.paused_until = decision.reason, now + timedelta(seconds=decision.pause_s)
        if lane.destination is Destination.SLACK:
            free = now + timedelta(seconds=min(decision.delay_s, HOLD_S))
            self._free_at[_find_channel(row)] = max(self._free_at.get(_find_channel(row), now), free)

    async def _call_slack(self, row: OutboxRow) -> Decision:
        shown = await self._render_in_shadow(row, build_posting(row))
        if shown is None:
            return Succeeded(None)
        posting = shown
        if row.entry.payload.get("target") and not row.target_result:
            return _decide_without_target(row, self.chance())
        if row.place and row.place.under and not row.under_result and row.attempts < TARGET_ATTEMPTS:
            return RetryLater(
                compute_backoff_s(row.attempts, self.chance()), "the message in whose thread it goes is on its way"
            )
        if posting.operation != Operation.HOME and await self._is_silent(posting.channel):
            return DeadLetter("the channel is shared with another organisation: nothing is posted there")
        if posting.operation == Operation.POST and (there := await self._find_posted(row, posting)):
            if row.own_result or row.replaced:
                await self.chat.deliver(replace(posting, operation=Operation.UPDATE, ts=there))
            return Succeeded(there)
        if posting.operation == Operation.UPLOAD:
            return await self._upload(row, posting)
        return Succeeded(await self.chat.deliver(posting))

    async def _render_in_shadow(self, row: OutboxRow, posting: Posting) -> Posting | None:
        """The call as a shadow channel gets it; None where it may not be read there."""
        if self.in_shadow is None or not (row.place or row.target_place):
            return posting
        return await self.in_shadow(row, posting)

    async def _upload(self, row: OutboxRow, posting: Posting) -> Decision:
        """A file that is there already is not posted again. What it holds is made now."""
        if there := await self._find_posted(row, posting):
            return Succeeded(there)
        if self.files is None:
            raise ChartUnavailable("Nothing here makes files.")
        told = row.entry.payload
        # what a file tells is what its own thread says, wherever it is put
        own = replace(posting, channel=str(told["channel"]), thread_ts=told.get("thread_ts"))
        return Succeeded(await self.chat.deliver(replace(posting, content=await self.files.build_content(own))))

    async def _is_silent(self, channel_id: str) -> bool:
        """The last gate before anything of ours could be read by another organisation."""
        channel = await or_if_refused(self.chat.read_channel(channel_id), None)
        # a channel that cannot be seen cannot be posted to: the call itself says what is wrong
        return channel is not None and channel.is_silent

    async def _find_posted(self, row: OutboxRow, posting: Posting) -> str | None:
        """The ts of this post where it is in the channel already."""
        if row.own_result:
            return row.own_result
        return await self.chat.find_delivered(posting) if row.uncertain else None

    async def _update_bank(self, row: OutboxRow) -> Decision:
        """Make the bank hold what the store holds now: the row may be older than another that was delivered. A record
        that is gone is not retained, and one that is here again is not retracted."""
        if self.bank is None:
            return RetryLater(CAP_S, "no memory bank is set up", tried=False)
        incident_id = str(row.entry.payload["incident_id"])
        record = await self._find_record(incident_id)
        if row.entry.operation == Operation.RETRACT and record is None:
            await self.bank.retract(incident_id)
        elif row.entry.operation == Operation.RETAIN and record is not None:
            await self.bank.retain(record)
        return Succeeded(None)

    async def _find_record(self, incident_id: str) -> Incident | None:
        try:
            return await self.records.read_record(incident_id) if self.records else None
        except IncidentNotFound:
            return None

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


def name_outcome(decision: Decision) -> str:
    """The decision as the metrics name it."""
    if isinstance(decision, RetryLater):
        return "paused" if decision.pause_s else "unknown" if decision.uncertain else "later"
    return "sent" if isinstance(decision, Succeeded) else "dead"


def _find_channel(row: OutboxRow) -> str:
    place = row.place or row.target_place
    return place.channel if place else str(row.entry.payload.get("channel", ""))


def _decide_without_target(row: OutboxRow, chance: float) -> Decision:
    """A call on a message that is not there: it may still come, for a while."""
    reason = "the message that this changes was never posted"
    return (
        DeadLetter(reason)
        if row.attempts >= TARGET_ATTEMPTS
        else RetryLater(compute_backoff_s(row.attempts, chance), reason)
    )


def _rank_row(row: OutboxRow) -> tuple[bool, bool]:
    return not row.entry.urgent, row.entry.operation == Operation.UPDATE or row.own_result is not None
