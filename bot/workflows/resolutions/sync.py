"""Synchronize store and remote bank: fill the bank from the store, or import what only the bank has.

The store's record always wins, and a record that was retracted here does not come back.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace

from bot.domain.incidents.record import Incident
from bot.domain.recall.query import OPERATOR
from bot.ports.errors import IncidentNotFound, MemoryRejected
from bot.ports.incidents import IncidentStore
from bot.ports.memory import BankHit, RemoteBank
from bot.ports.unit_of_work import Changes

AT_ONCE = 4
PER_TRANSACTION = 100
# More rounds than this mean that somebody keeps editing the record; the outbox brings the last version to the bank.
SETTLES_WITHIN = 5


@dataclass(slots=True)
class FillProgress:
    """What filling the bank has done so far."""

    total: int = 0
    retained: int = 0
    # (incident id, reason)
    refused: list[tuple[str, str]] = field(default_factory=list)

    @property
    def done(self) -> int:
        """Return how many records were processed."""
        return self.retained + len(self.refused)


@dataclass(frozen=True, slots=True)
class FillBank:
    """Retain every recallable record of the store in the bank; repeating it is cheap, for the bank replaces by id."""

    store: IncidentStore
    bank: RemoteBank

    async def __call__(self, filled: FillProgress) -> AsyncIterator[FillProgress]:
        """Yield `filled` after every few records. Raises StoreUnavailable, MemoryUnavailable: run it again then."""
        ids = [record.incident_id for record in await self.store.list_records(OPERATOR, recallable_only=True)]
        filled.total = len(ids)
        for start in range(0, len(ids), AT_ONCE):
            tried = (self._retain(incident_id, filled) for incident_id in ids[start : start + AT_ONCE])
            for outcome in await asyncio.gather(*tried, return_exceptions=True):
                if isinstance(outcome, BaseException):
                    raise outcome
            yield filled

    async def _retain(self, incident_id: str, filled: FillProgress) -> None:
        try:
            await self._retain_until_settled(incident_id)
        except MemoryRejected as problem:
            filled.refused.append((incident_id, str(problem)))
        else:
            filled.retained += 1

    async def _retain_until_settled(self, incident_id: str) -> None:
        """Retain the record until the store has no newer version.

        The running bot may retain a newer version at the same time, and calls overtake each other. What the bank has
        in the end must be what the store has, so the record is read again after each call.
        """
        retained: Incident | None = None
        for _ in range(SETTLES_WITHIN):
            try:
                record = await self.store.read_record(incident_id)
            except IncidentNotFound:
                await self.bank.retract(incident_id)
                return
            if record == retained:
                return
            await self.bank.retain(record)
            retained = record


@dataclass(slots=True)
class PullProgress:
    """What the import from the bank has done so far."""

    read: int = 0
    added: int = 0
    here: int = 0
    # Retracted here before, so not imported.
    forgotten: int = 0
    # Documents without a record.
    outside: int = 0


@dataclass(frozen=True, slots=True)
class PullRecords:
    """Import the records that only the bank has, as an import by the operator."""

    store: IncidentStore
    bank: RemoteBank

    async def __call__(self, pulled: PullProgress) -> AsyncIterator[PullProgress]:
        """Yield `pulled` after each portion. Raises StoreUnavailable, MemoryUnavailable."""
        portion: dict[str, BankHit] = {}
        async for hit in self.bank.list_documents():
            portion[hit.incident_id] = hit
            if len(portion) == PER_TRANSACTION:
                await self._store_portion(portion, pulled)
                yield pulled
                portion = {}
        await self._store_portion(portion, pulled)
        yield pulled

    async def _store_portion(self, portion: dict[str, BankHit], pulled: PullProgress) -> None:
        here = await self.store.find_records(tuple(portion))
        forgotten = await self.store.find_retracted(tuple(portion))
        bank_only = {incident_id: hit for incident_id, hit in portion.items() if incident_id not in here}
        records_to_add = [
            hit.incident for hit in bank_only.values() if hit.incident and hit.incident_id not in forgotten
        ]
        if records_to_add:
            ids = frozenset(record.incident_id for record in records_to_add)
            records = tuple(mark_imported(record) for record in records_to_add)
            await self.store.commit(Changes(records=records, recallable=ids, skips_bank=True))
        pulled.read += len(portion)
        pulled.added += len(records_to_add)
        pulled.here += len(here)
        pulled.forgotten += len(forgotten - here.keys())
        pulled.outside += sum(hit.incident is None for hit in bank_only.values())


def mark_imported(record: Incident) -> Incident:
    """Return the record as an operator imports it: outcomes as written, marked as imported."""
    return replace(record, attempts=tuple(replace(attempt, how="import") for attempt in record.attempts))
