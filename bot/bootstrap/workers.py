"""The loops that work off inbox and outbox and run jobs, whatever the work is.

An unforeseen failure is caught here, logged with its correlation id, and retried: nothing is dropped silently.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from bot.observability import EVENTS, STAGE_SECONDS, get_logger, set_correlation_id, spawn
from bot.ports.delivery.inbox import Inbox, InboxRow
from bot.ports.errors import ChatAuthRejected, ChatUnavailable, StoreConflict, StoreUnavailable

POLL_S = 0.1
LOOK_S = 0.01
# Beyond this delay of the event loop acknowledgements would wait, too.
LATE_S = 0.05
MAX_ATTEMPTS = 8
BREAK_OFF_S = 2.0
log = get_logger("workers")

Handle = Callable[[InboxRow], Awaitable[None]]


def compute_retry_delay_s(attempts: int, problem: BaseException) -> float:
    """Return the seconds until a failed inbox row is retried: 0 after a conflict, else doubling up to five minutes."""
    if isinstance(problem, StoreConflict):
        return 0.05
    return float(min(300, 2 ** min(attempts, 9)))


def is_outage(problem: BaseException) -> bool:
    """Return whether a failure is a dependency's and not the row's: such rows are retried without limit."""
    return isinstance(problem, StoreUnavailable | ChatUnavailable | ChatAuthRejected | TimeoutError)


@dataclass(slots=True)
class InboxWorker:
    """Take inbox rows and pass each to the handler of its kind."""

    inbox: Inbox
    handlers: dict[str, Handle]
    # how many rows at once, at most
    workers: int = 4
    # if the event loop is later than this, take only one row at a time: rows can wait, an acknowledgment cannot
    late_s: float = LATE_S
    _stopping: asyncio.Event = field(default_factory=asyncio.Event)
    _running: dict[asyncio.Task[Any], InboxRow] = field(default_factory=dict)

    async def run(self) -> None:
        """Work until stopped."""
        while not self._stopping.is_set():
            free = (1 if await self._is_crowded() else self.workers) - len(self._running)
            taken = await self._take(free) if free > 0 else ()
            for row in taken:
                task = spawn(self._work(row), f"inbox-{row.id}")
                self._running[task] = row
                task.add_done_callback(self._running.pop)
            if not taken:
                await self._pause(POLL_S)

    async def _is_crowded(self) -> bool:
        """Return whether the event loop is late with what is due."""
        loop = asyncio.get_running_loop()
        due = loop.time() + LOOK_S
        await asyncio.sleep(LOOK_S)
        return loop.time() - due > self.late_s

    async def _take(self, limit: int) -> tuple[InboxRow, ...]:
        try:
            return await self.inbox.claim(limit)
        except StoreUnavailable as problem:
            log.error("the inbox cannot be read", problem=str(problem))
            await self._pause(2.0)
            return ()

    async def _work(self, row: InboxRow) -> None:
        set_correlation_id(f"inbox-{row.id}")
        handler = self.handlers.get(row.kind)
        try:
            with STAGE_SECONDS.labels(f"inbox_{row.kind}").time():
                await (handler(row) if handler else self.inbox.acknowledge(row))
            EVENTS.labels(row.kind, "done").inc()
        except Exception as problem:
            EVENTS.labels(row.kind, "failed").inc()
            await self._handle_failure(row, problem)

    async def _handle_failure(self, row: InboxRow, problem: Exception) -> None:
        said = f"{type(problem).__name__}: {problem}"
        log.warning(
            "an event failed", kind=row.kind, attempts=row.attempts, error=said, exc_info=not is_outage(problem)
        )
        try:
            if row.attempts >= MAX_ATTEMPTS and not is_outage(problem):
                await self.inbox.give_up(row, said)
            else:
                await self.inbox.retry_later(row, compute_retry_delay_s(row.attempts, problem), said)
        except StoreUnavailable as also:
            log.error("the row comes back when its lease ends", problem=str(also))

    async def stop(self, grace_s: float = 10.0) -> None:
        """Take no more rows, wait up to `grace_s` for running ones, and give back the rest, so that the next start
        takes them at once."""
        self._stopping.set()
        running = dict(self._running)
        for task in await cancel_after_grace(set(running), grace_s):
            try:
                await self.inbox.retry_later(running[task], 0.0, "the bot was stopped meanwhile")
            except StoreUnavailable as problem:
                log.error("the row comes back when its lease ends", problem=str(problem))

    async def _pause(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._stopping.wait(), seconds)
        except TimeoutError:
            return


@dataclass(slots=True)
class Loop:
    """Call `once` again and again; it returns how many seconds to wait. A failure is logged and tried again."""

    name: str
    once: Callable[[], Awaitable[float]]
    _stopping: asyncio.Event = field(default_factory=asyncio.Event)
    _task: asyncio.Task[Any] | None = None

    def start(self) -> None:
        """Start in the background."""
        self._task = spawn(self._run(), self.name)

    async def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                wait_s = await self.once()
            except Exception as problem:
                log.error("a loop failed", loop=self.name, error=repr(problem), exc_info=not is_outage(problem))
                wait_s = 2.0
            try:
                await asyncio.wait_for(self._stopping.wait(), max(wait_s, 0.01))
            except TimeoutError:
                continue

    async def stop(self, grace_s: float = 10.0) -> None:
        """Stop after the current turn, or cancel it if it takes longer than `grace_s`."""
        self._stopping.set()
        if self._task:
            await cancel_after_grace({self._task}, grace_s)


async def cancel_after_grace(tasks: set[asyncio.Task[Any]], grace_s: float) -> set[asyncio.Task[Any]]:
    """Wait up to `grace_s` for these tasks, cancel the others, and return them once they have ended."""
    if not tasks:
        return set()
    _, late = await asyncio.wait(tasks, timeout=grace_s)
    for task in late:
        task.cancel()
    if late:
        await asyncio.wait(late, timeout=BREAK_OFF_S)
    return late


async def run_job(name: str, work: Callable[[], Awaitable[None]]) -> None:
    """Run one scheduled job. Log a failure instead of raising it: a scheduler must never lose a job to one."""
    set_correlation_id(f"job-{name}")
    try:
        await work()
    except Exception as problem:
        log.error("a job failed", job=name, error=repr(problem), exc_info=problem)
