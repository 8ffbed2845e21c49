"""The embedded memory bank: the store's own index seen as a bank. Must not keep anything that the store does not."""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain.access.visibility import Viewer
from bot.domain.incidents.record import Incident
from bot.domain.recall.query import OPERATOR, Query
from bot.ports.errors import MemoryUnavailable, StoreUnavailable
from bot.ports.incidents import IncidentStore
from bot.ports.memory import BankHit, RecordIndex
from bot.ports.unit_of_work import Changes


@dataclass(frozen=True, slots=True)
class EmbeddedBank:
    """The MemoryBank port over store and index. It is for the store's own process."""

    store: IncidentStore
    index: RecordIndex

    async def retain(self, incident: Incident) -> None:
        """See the port."""
        await self._commit(Changes(records=(incident,), recallable=frozenset({incident.incident_id})))

    async def retract(self, incident_id: str) -> None:
        """See the port."""
        await self._commit(Changes(retracted=(incident_id,)))

    async def recall(self, query: Query, limit: int, viewer: Viewer = OPERATOR) -> tuple[BankHit, ...]:
        """See the port."""
        try:
            found = await self.index.find_candidates(query, viewer, limit)
        except StoreUnavailable as error:
            raise MemoryUnavailable(str(error)) from error
        return tuple(BankHit(candidate.incident.incident_id, candidate.incident) for candidate in found[:limit])

    async def _commit(self, changes: Changes) -> None:
        try:
            await self.store.commit(changes)
        except StoreUnavailable as error:
            raise MemoryUnavailable(str(error)) from error
