"""Decide about deliveries: what a failure means, when to try again, and whose turn it is. Pure functions.

They know the failure, the number of attempts, the time and a random number, and nothing else, so each rule can be tested
without Slack or a store.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.delivery.kinds import Operation
from bot.ports.delivery.outbox import OutboxRow
from bot.ports.errors import (
    ChartUnavailable,
    ChatAuthRejected,
    ChatOutcomeUnknown,
    ChatRejected,
    ChatUnavailable,
    IncidentNotFound,
    MemoryAuthRejected,
    MemoryRejected,
    RecordRejected,
)

# Slack takes about one message a second in a channel.
PACE_S = 1.0
# A channel waits no longer than this after a failure in it; a single row may wait longer.
HOLD_S = 5.0
BASE_S, CAP_S = 1.0, 300.0
# A token may be replaced at any moment, so the destination is tried again every minute.
AUTH_PAUSE_S = 60.0
# So often a call waits for the message that it changes.
TARGET_ATTEMPTS = 8
PACED_OPERATIONS = frozenset(
    {Operation.POST, Operation.UPDATE, Operation.DELETE, Operation.EPHEMERAL, Operation.UPLOAD}
)


@dataclass(frozen=True, slots=True)
class Succeeded:
    """The delivery is done."""

    # What it produced (a message ts, a file id).
    result: str | None


@dataclass(frozen=True, slots=True)
class RetryLater:
    """Try again after `delay_s`."""

    delay_s: float
    reason: str
    # True if it may have arrived.
    uncertain: bool = False
    # The whole destination waits that long.
    pause_s: float = 0.0
    # False if nothing was attempted, so that it does not count as an attempt.
    tried: bool = True


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """Give up, and keep the row for a person to look at."""

    reason: str


Decision = Succeeded | RetryLater | DeadLetter


def compute_backoff_s(attempts: int, chance: float) -> float:
    """Return a delay with full jitter: from half a second to the doubled delay, at most five minutes.

    `chance` is in [0, 1).
    """
    return max(0.5, chance * min(CAP_S, BASE_S * 2.0 ** min(attempts, 16)))


def decide_after_failure(problem: BaseException, attempts: int, chance: float, *, uncertain: bool) -> Decision:
    """Decide what a failed delivery means.

    An outage has no limit of attempts: nothing that people recorded is thrown away.
    """
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


def schedule(
    rows: Sequence[OutboxRow], free_at: Mapping[str, datetime], now: datetime
) -> list[tuple[OutboxRow, float]]:
    """Return each row with the seconds that it has to wait for its channel: the first none, each following one a pace
    longer.

    Answers to people come first, then new messages, then edits.
    """
    # a clock that was set back must not make anybody wait for longer than was ever meant
    free = {channel: min(at, now + timedelta(seconds=HOLD_S)) for channel, at in free_at.items()}
    waits = []
    for row in sorted(rows, key=_rank_row):
        channel = find_row_channel(row)
        start = max(now, free.get(channel, now)) if row.entry.operation in PACED_OPERATIONS else now
        if row.entry.operation in PACED_OPERATIONS:
            free[channel] = start + timedelta(seconds=PACE_S)
        waits.append((row, (start - now).total_seconds()))
    return waits


def find_row_channel(row: OutboxRow) -> str:
    """Return the channel that a row goes to; "" for a row that goes to none."""
    place = row.place or row.target_place
    return place.channel if place else str(row.entry.payload.get("channel", ""))


def decide_without_target(row: OutboxRow, chance: float) -> Decision:
    """Decide about a call on a message that is not there: it may still come, for a while."""
    reason = "the message that this changes was never posted"
    return (
        DeadLetter(reason)
        if row.attempts >= TARGET_ATTEMPTS
        else RetryLater(compute_backoff_s(row.attempts, chance), reason)
    )


def name_outcome(decision: Decision) -> str:
    """Return the decision's name in the metrics."""
    if isinstance(decision, RetryLater):
        return "paused" if decision.pause_s else "unknown" if decision.uncertain else "later"
    return "sent" if isinstance(decision, Succeeded) else "dead"


def _rank_row(row: OutboxRow) -> tuple[bool, bool]:
    """Sort urgent rows first, and edits last."""
    return not row.entry.urgent, row.entry.operation == Operation.UPDATE or row.own_result is not None
