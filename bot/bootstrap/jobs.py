"""The table of jobs: what runs at which local time. Must not do the work itself.

A job only claims and owes; the outbox does the rest. So a restart, a second replica or a clock change costs nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from functools import partial
from zoneinfo import ZoneInfo

from bot.adapters.schedule import Schedule
from bot.bootstrap.workers import run_job
from bot.domain.digest import period_for
from bot.observability import logger
from bot.ports.clock import Clock
from bot.ports.desk import Retention
from bot.ports.store import Inbox
from bot.workflows.digest import PostDigests

CATCH_UP = timedelta(hours=24)
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
    digest_day: str
    digest_hour: int

    def schedule(self) -> Schedule:
        """The table: the weekly digest, and the nightly forgetting."""
        schedule = Schedule(self.zone)
        table: tuple[tuple[str, Callable[[], Awaitable[None]], str, int], ...] = (
            ("digest", self.digest, self.digest_day, self.digest_hour),
            ("forget", self.forget, "*", 4),
        )
        for name, work, day, hour in table:
            schedule.at(name, partial(run_job, name, work), day=day, hour=hour)
        return schedule

    async def digest(self) -> None:
        """Owe the digest of the period that is due now."""
        local = self.clock.now().astimezone(self.zone)
        period = period_for(local.date(), self.digest_day, self.zone)
        posted = await self.post_digests(period.key, period.since, period.until, period.name)
        log.info("digest", period=period.key.isoformat(), channels=posted)

    async def catch_up(self) -> None:
        """At start: owe the last digest if it was due within a day and was missed."""
        if self.last_due() >= self.clock.now() - CATCH_UP:
            await self.digest()

    def last_due(self) -> datetime:
        """When a digest was due last."""
        local = self.clock.now().astimezone(self.zone)
        day = period_for(local.date(), self.digest_day, self.zone).key
        due = datetime(day.year, day.month, day.day, self.digest_hour, tzinfo=self.zone)
        return due if due <= local else due - timedelta(days=7)

    async def forget(self) -> None:
        """Delete event ids older than a day; deliveries, submissions and dead events older than 30; audit lines older
        than 400. What is still owed is never deleted."""
        now = self.clock.now()
        events = await self.inbox.forget_before(now - SEEN_FOR)
        gone = await self.retention.forget(before=now - KEPT_FOR, audit_before=now - AUDIT_KEPT_FOR)
        log.info("forgot what is old", events=events, **asdict(gone))
