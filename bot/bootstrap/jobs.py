"""The scheduled jobs: what runs when.

A job only claims and queues; the outbox does the rest. So a restart, a second replica or a change of the clock costs
nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from datetime import timedelta
from functools import partial
from zoneinfo import ZoneInfo

from bot.adapters.schedule import JobSchedule
from bot.bootstrap.workers import run_job
from bot.observability import get_logger
from bot.ports.clock import Clock
from bot.ports.delivery.inbox import Inbox
from bot.ports.upkeep.retention import Retention
from bot.settings import Settings
from bot.workflows.reports.digest import PostDigests
from bot.workflows.resolutions.nudge import PostNudges

log = get_logger("jobs")


@dataclass(frozen=True, slots=True)
class RetentionPeriods:
    """How long each kind of data is stored."""

    # ids of events
    seen: timedelta = timedelta(hours=24)
    # what was delivered, submitted or could not be worked off, and silences that ended
    texts: timedelta = timedelta(days=30)
    # notifications of incidents that ended
    notices: timedelta = timedelta(days=90)
    # lines of the audit log
    audit: timedelta = timedelta(days=400)
    # what was sent to models
    sent: timedelta = timedelta(days=90)


def read_retention_periods(settings: Settings) -> RetentionPeriods:
    """Return the retention periods that the operator set."""
    days = (settings.keep_texts_days, settings.keep_notices_days, settings.keep_audit_days, settings.keep_sent_days)
    return RetentionPeriods(timedelta(hours=settings.keep_seen_hours), *(timedelta(days=number) for number in days))


@dataclass(frozen=True, slots=True)
class ScheduledJobs:
    """Everything that happens by the clock."""

    post_digests: PostDigests
    inbox: Inbox
    retention: Retention
    clock: Clock
    zone: ZoneInfo
    kept_for: RetentionPeriods = RetentionPeriods()
    post_nudges: PostNudges | None = None

    def schedule(self) -> JobSchedule:
        """Build the schedule: digests and questions every quarter of an hour (somewhere a local hour begins then), and
        the nightly cleanup."""
        schedule = JobSchedule(self.zone)
        table: tuple[tuple[str, Callable[[], Awaitable[None]], int | str, int | str], ...] = (
            ("digest", self.digest, "*", "*/15"),
            ("nudge", self.nudge, "*", "*/15"),
            ("forget", self.forget, 4, 0),
        )
        for name, work, hour, minute in table:
            schedule.add_job(name, partial(run_job, name, work), hour=hour, minute=minute)
        return schedule

    async def digest(self) -> None:
        """Queue the digests that are due now, and those that were due within a day and missed."""
        log.info("digest", channels=await self.post_digests())

    async def nudge(self) -> None:
        """Queue the questions about what cleared with no recorded fix, for those for whom it is time now."""
        if self.post_nudges:
            log.info("nudge", people=await self.post_nudges())

    async def forget(self) -> None:
        """Delete what is older than its retention period. Undelivered messages are never deleted."""
        now, kept = self.clock.now(), self.kept_for
        events = await self.inbox.delete_settled(now - kept.seen)
        gone = await self.retention.delete_expired(
            before=now - kept.texts,
            audit_before=now - kept.audit,
            notices_before=now - kept.notices,
            sent_before=now - kept.sent,
        )
        log.info("forgot what is old", events=events, **asdict(gone))
