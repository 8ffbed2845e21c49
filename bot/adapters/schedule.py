"""Wall-clock jobs on APScheduler. Must not decide what a job does or whether it was done before (that is a claim row).

Only a memory job store: what must happen once is claimed in our own store, on the local date.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from zoneinfo import ZoneInfo

from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.cron import CronTrigger

MISFIRE_GRACE_S = 3600


class JobSchedule:
    """Calls jobs at local wall-clock times, one at a time each; a job that was missed runs late within an hour."""

    def __init__(self, timezone: ZoneInfo) -> None:
        self._timezone = timezone
        self._scheduler = AsyncIOScheduler(
            timezone=timezone,
            job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": MISFIRE_GRACE_S},
        )

    def add_job(
        self, name: str, work: Callable[[], Awaitable[None]], *, day: str = "*", hour: int | str, minute: int | str = 0
    ) -> None:
        """Run `work` at this local time on these days ("*" or a name such as "mon"); "*" and "*/15" as in cron."""
        trigger = CronTrigger(day_of_week=day, hour=hour, minute=minute, timezone=self._timezone)
        self._scheduler.add_job(work, trigger, id=name, replace_existing=True)

    def start(self) -> None:
        """Start calling jobs, in the running event loop."""
        self._scheduler.start()

    def stop(self) -> None:
        """Stop calling jobs. Work that a job handed on goes on."""
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)
