"""The table of jobs: what runs at which time. Must not do the work itself.

A job only claims and owes; the outbox does the rest. So a restart, a second replica or a clock change costs nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from datetime import timedelta
from functools import partial
from zoneinfo import ZoneInfo

from bot.adapters.schedule import Schedule
from bot.bootstrap.workers import run_job
from bot.observability import logger
from bot.ports.clock import Clock
from bot.ports.desk import Retention
from bot.ports.store import Inbox
from bot.workflows.digest import PostDigests

SEEN_FOR = timedelta(hours=24)
KEPT_FOR = timedelta(days=30)
AUDIT_KEPT_FOR = timedelta(days=400)
log = logger("jobs")


@dataclass(frozen=True, slots=True)
class Jobs:
    """Everything that happens by the clock."""

    post_digests: PostDigests
    inbox: Inbox
    retention: Retention
    clock: Clock
    zone: ZoneInfo

    def schedule(self) -> Schedule:
        """The table: which channels are due for their digest, each quarter of an hour (a local hour begins at one,
        wherever it is); and the nightly forgetting."""
        schedule = Schedule(self.zone)
        table: tuple[tuple[str, Callable[[], Awaitable[None]], int | str, int | str], ...] = (
            ("digest", self.digest, "*", "*/15"),
            ("forget", self.forget, 4, 0),
        )
        for name, work, hour, minute in table:
            schedule.at(name, partial(run_job, name, work), hour=hour, minute=minute)
        return schedule

    async def digest(self) -> None:
        """Owe the digests that are due by now, and those that were due within a day and missed."""
        log.info("digest", channels=await self.post_digests())

    async def forget(self) -> None:
        """Delete event ids older than a day; deliveries, submissions and dead events older than 30; audit lines older
        than 400. What is still owed is never deleted."""
        now = self.clock.now()
        events = await self.inbox.forget_before(now - SEEN_FOR)
        gone = await self.retention.forget(before=now - KEPT_FOR, audit_before=now - AUDIT_KEPT_FOR)
        log.info("forgot what is old", events=events, **asdict(gone))
