"""Watch how much waits in the inbox, so that work gives way before acknowledgements do.

Whatever costs time for an alert and can be left out (evidence, a model's words, recall in a storm) asks `read_load`
first, and decides itself what to leave out.
"""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain.operations.load import LoadShedding, choose_load_shedding
from bot.observability import get_logger
from bot.ports.delivery.inbox import InboxBacklog

EVERY_S = 0.5
log = get_logger("pressure")


@dataclass(slots=True)
class WatchLoad:
    """Know the load as of the last look."""

    backlog: InboxBacklog
    _load: LoadShedding = LoadShedding.FULL

    async def __call__(self) -> float:
        """Look once, and return the seconds until the next look. Raises StoreUnavailable."""
        waiting = await self.backlog.read_backlog()
        load = choose_load_shedding(waiting)
        if load is not self._load:
            log.warning(
                "the load changed", load=load.value, waiting=waiting.rows, oldest_s=waiting.oldest.total_seconds()
            )
        self._load = load
        return EVERY_S

    def read_load(self) -> LoadShedding:
        """Return the load as of the last look."""
        return self._load
