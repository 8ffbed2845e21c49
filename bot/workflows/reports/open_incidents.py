"""List the incidents that are not resolved, for lists, the picker of `/resolve` and Home."""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain.access.visibility import Viewer
from bot.domain.incidents.lifecycle import Lifecycle
from bot.ports.incidents import IncidentStore

MAX_LISTED = 100


@dataclass(frozen=True, slots=True)
class OpenIncident:
    """An incident that is not resolved, as lists show it."""

    life: Lifecycle
    title: str


@dataclass(frozen=True, slots=True)
class ListOpenIncidents:
    """List open incidents with their titles."""

    store: IncidentStore

    async def __call__(self, viewer: Viewer, limit: int = MAX_LISTED) -> tuple[OpenIncident, ...]:
        """Return those that the viewer may see, newest first. Raises StoreUnavailable."""
        lives = (await self.store.list_open_lifecycles(viewer))[:limit]
        records = await self.store.find_records([life.incident_id for life in lives])
        return tuple(OpenIncident(x, records[x.incident_id].title) for x in lives if x.incident_id in records)
