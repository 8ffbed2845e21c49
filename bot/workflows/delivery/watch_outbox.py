"""Watch the outbox: set the gauges, and log once when a delivery waits too long. Must not deliver anything."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from bot.observability import INBOX_ROWS, OUTBOX_AGE, OUTBOX_ROWS, get_logger
from bot.ports.clock import Clock
from bot.ports.delivery.outbox import Destination, Outbox
from bot.ports.delivery.outbox_admin import InboxAdmin, OutboxState

EVERY_S = 15.0
TOO_OLD = timedelta(minutes=15)
log = get_logger("watch")


@dataclass(slots=True)
class WatchOutbox:
    """Set the gauges; log once when the oldest delivery is late, and once when none is late any more."""

    outbox: Outbox
    inbox: InboxAdmin
    clock: Clock
    _late: bool = False

    async def __call__(self) -> float:
        """Look once, and return the seconds until the next look. Raises StoreUnavailable."""
        counts = await self.outbox.count_rows()
        for destination in Destination:
            for state in OutboxState:
                # a group without rows is not counted, and its gauge must not keep the last number
                name = f"{destination}.{state}"
                OUTBOX_ROWS.labels(name).set(counts.get(name, 0))
        events = await self.inbox.count_rows()
        for name in ("pending", "working", "dead"):
            INBOX_ROWS.labels(name).set(events.get(name, 0))
        oldest = await self.outbox.find_oldest_pending()
        age = self.clock.now() - oldest if oldest else timedelta()
        OUTBOX_AGE.set(age.total_seconds())
        self._log_change(age)
        return EVERY_S

    def _log_change(self, age: timedelta) -> None:
        late = age >= TOO_OLD
        if late and not self._late:
            log.error(
                "deliveries are late; see `precedent outbox list`", oldest_minutes=round(age.total_seconds() / 60)
            )
        elif self._late and not late:
            log.warning("no delivery is late any more")
        self._late = late
