"""Delivering what is owed: claims rows, makes the calls, and decides what a failure means. Must not write messages.

Decisions are pure functions of the failure, the number of attempts and a random number. Slack takes about one message a
second in a channel; rows that must wait for that are given back untried, so that urgent ones overtake them.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta

from bot.observability import logger
from bot.ports import (
    ChatAuthRejected,
    ChatOutcomeUnknown,
    ChatRejected,
    ChatUnavailable,
    IncidentNotFound,
    MemoryRejected,
    MemoryUnavailable,
    PrecedentError,
    RecordRejected,
    StoreUnavailable,
)
from bot.ports.chat import Chat, Posting
from bot.ports.clock import Clock
from bot.ports.memory import MemoryBank
from bot.ports.records import read_record
from bot.ports.store import Destination, IncidentStore, Outbox, OwedRow

AT_ONCE = 20
PACE_S = 1.0
IDLE_S = 0.25
BASE_S, CAP_S = 1.0, 300.0
AUTH_PAUSE_S = 60.0
CALL_DEADLINE_S = 30.0
TARGET_ATTEMPTS = 8
PACED = frozenset({"post", "update", "delete", "ephemeral"})
POSTING_FIELDS = frozenset(f.name for f in fields(Posting))
log = logger("deliver")


@dataclass(frozen=True, slots=True)
class Sent:
    """It is there; `result` is what it produced."""

    result: str | None


@dataclass(frozen=True, slots=True)
class Later:
    """Again after `delay_s`. `uncertain`: it may have happened. `pause_s`: everything for Slack waits that long."""

    delay_s: float
    reason: str
    uncertain: bool = False
    pause_s: float = 0.0
    tried: bool = True


@dataclass(frozen=True, slots=True)
class Refused:
    """Never; kept for a person to look at."""

    reason: str


Decision = Sent | Later | Refused


def backoff_s(attempts: int, chance: float) -> float:
    """Full jitter: anywhere between half a second and the doubled delay, at most five minutes. `chance` is in [0, 1)."""
    return max(0.5, chance * min(CAP_S, BASE_S * 2.0 ** min(attempts, 16)))


def after(problem: BaseException, attempts: int, chance: float, *, uncertain: bool) -> Decision:
    """What a failed delivery means. An outage has no limit of attempts: what people recorded is not thrown away."""
    reason = str(problem) or type(problem).__name__
    if isinstance(problem, ChatAuthRejected):
        return Later(AUTH_PAUSE_S, reason, uncertain, pause_s=AUTH_PAUSE_S, tried=False)
    if isinstance(problem, ChatRejected | MemoryRejected | RecordRejected | IncidentNotFound):
        return Refused(reason)
    if isinstance(problem, ChatOutcomeUnknown | TimeoutError):
        return Later(backoff_s(attempts, chance), reason, uncertain=True)
    if isinstance(problem, ChatUnavailable) and problem.retry_after_s is not None:
        return Later(problem.retry_after_s, reason, uncertain)
    return Later(backoff_s(attempts, chance), reason, uncertain)


def posting_of(row: OwedRow) -> Posting:
    """The call that a row stands for, its target filled in; raises RecordRejected for a payload that is none."""
    payload = {name: value for name, value in row.owed.payload.items() if name in POSTING_FIELDS}
    try:
        posting = Posting(**payload)
    except TypeError as error:
        raise RecordRejected("payload", "names no operation, channel or delivery") from error
    if row.target_result:
        posting = replace(posting, ts=row.target_result)
    return replace(posting, operation=row.owed.operation, blocks=tuple(posting.blocks))


def in_turn(rows: Sequence[OwedRow], free_at: Mapping[str, datetime], now: datetime) -> list[tuple[OwedRow, float]]:
    """Each row with the seconds it has to wait for its channel: the first is due now, the next a pace later."""
    free = dict(free_at)
    waits = []
    for row in rows:
        channel = str(row.owed.payload.get("channel", ""))
        start = max(now, free.get(channel, now)) if row.owed.operation in PACED else now
        if row.owed.operation in PACED:
            free[channel] = start + timedelta(seconds=PACE_S)
        waits.append((row, (start - now).total_seconds()))
    return waits


@dataclass(slots=True)
class Deliver:
    """Works off the outbox: Slack's rows, and the memory bank's where one is set up."""

    outbox: Outbox
    chat: Chat
    clock: Clock
    bank: MemoryBank | None = None
    records: IncidentStore | None = None
    chance: Callable[[], float] = random.SystemRandom().random
    _free_at: dict[str, datetime] = field(default_factory=dict)
    _paused_until: datetime | None = None

    async def drain_once(self) -> float:
        """Deliver what is due now; seconds until there may be more. Raises StoreUnavailable."""
        done = await self._drain_bank()
        now = self.clock.now()
        if self._paused_until and now < self._paused_until:
            return 0.0 if done else min(IDLE_S * 4, (self._paused_until - now).total_seconds())
        rows = await self.outbox.claim(Destination.SLACK, AT_ONCE)
        waits = in_turn(rows, self._free_at, now)
        for row, wait_s in waits:
            if wait_s > 0:
                await self.outbox.postpone(row, wait_s, "", uncertain=row.uncertain, tried=False)
        await asyncio.gather(*(self._deliver(row) for row, wait_s in waits if wait_s <= 0))
        return 0.0 if done or any(wait_s <= 0 for _, wait_s in waits) else IDLE_S

    async def _deliver(self, row: OwedRow) -> None:
        channel = str(row.owed.payload.get("channel", ""))
        if row.owed.operation in PACED:
            self._free_at[channel] = self.clock.now() + timedelta(seconds=PACE_S)
        try:
            async with asyncio.timeout(CALL_DEADLINE_S):
                decision = await self._call(row)
        except (PrecedentError, TimeoutError) as problem:
            if isinstance(problem, StoreUnavailable):
                raise
            decision = after(problem, row.attempts, self.chance(), uncertain=row.uncertain)
        if isinstance(decision, Later):
            self._hold(channel, decision)
        await self._end(row, decision)

    def _hold(self, channel: str, decision: Later) -> None:
        """Remember who has to wait: everybody where the token is refused, the channel where Slack named a time."""
        now = self.clock.now()
        if decision.pause_s:
            self._paused_until = now + timedelta(seconds=decision.pause_s)
            log.error("Slack refuses the token; nothing is sent", pause_s=decision.pause_s)
        self._free_at[channel] = max(self._free_at.get(channel, now), now + timedelta(seconds=min(decision.delay_s, 5)))

    async def _call(self, row: OwedRow) -> Decision:
        posting = posting_of(row)
        if row.owed.payload.get("target") and not row.target_result:
            return _without_target(row, self.chance())
        if posting.operation == "post" and (there := await self._posted_before(row, posting)):
            if row.own_result or row.replaced:
                await self.chat.deliver(replace(posting, operation="update", ts=there))
            return Sent(there)
        return Sent(await self.chat.deliver(posting))

    async def _posted_before(self, row: OwedRow, posting: Posting) -> str | None:
        """The ts of this post where it is in the channel already."""
        if row.own_result:
            return row.own_result
        return await self.chat.find(posting) if row.uncertain else None

    async def _drain_bank(self) -> bool:
        if self.bank is None:
            return False
        rows = await self.outbox.claim(Destination.BANK, AT_ONCE)
        for row in rows:
            try:
                await self._to_bank(row, self.bank)
                decision: Decision = Sent(None)
            except (MemoryUnavailable, MemoryRejected, RecordRejected) as problem:
                decision = after(problem, row.attempts, self.chance(), uncertain=False)
            await self._end(row, decision)
        return bool(rows)

    async def _to_bank(self, row: OwedRow, bank: MemoryBank) -> None:
        """Retain the record as it is now (the row may be older), or retract it; one that is gone needs neither."""
        incident_id = str(row.owed.payload["incident_id"])
        if row.owed.operation == "retract":
            await bank.retract(incident_id)
        elif "title" in row.owed.payload:
            await bank.retain(read_record(row.owed.payload, how=None))
        elif self.records is not None:
            try:
                await bank.retain(await self.records.record(incident_id))
            except IncidentNotFound:
                return

    async def _end(self, row: OwedRow, decision: Decision) -> None:
        if isinstance(decision, Sent):
            await self.outbox.settle(row, decision.result)
        elif isinstance(decision, Later):
            log.warning(
                "a delivery failed", operation=row.owed.operation, attempts=row.attempts, reason=decision.reason
            )
            await self.outbox.postpone(
                row, decision.delay_s, decision.reason, uncertain=decision.uncertain, tried=decision.tried
            )
        else:
            log.error("a delivery was refused", operation=row.owed.operation, reason=decision.reason)
            await self.outbox.bury(row, decision.reason)


def _without_target(row: OwedRow, chance: float) -> Decision:
    """A call on a message that is not there: it may still come, for a while."""
    reason = "the message that this changes was never posted"
    return Refused(reason) if row.attempts >= TARGET_ATTEMPTS else Later(backoff_s(row.attempts, chance), reason)
