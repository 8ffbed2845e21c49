"""Recall precedents: the one way to them, for alerts and for questions. Must not score text, render or decide a
brief.

The index is always asked, for it knows a record as soon as it is stored. A bank adds what it finds; while it is down,
the answer says so. A record that was deleted here does not come back through a bank that has not heard of that.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.domain.access.visibility import Viewer
from bot.domain.incidents.record import Incident, VerificationStatus
from bot.domain.recall.query import Query, build_text_query
from bot.domain.recall.ranking import Candidate, MissingPart, OutsideMemory, Recalled, rank
from bot.observability import get_logger
from bot.ports.errors import MemoryRejected, MemoryUnavailable, StoreUnavailable
from bot.ports.incidents import IncidentStore
from bot.ports.memory import BankHit, MemoryBank, Recall, RecordIndex

OUTSIDE_AT_MOST = 5
LIMIT = 50
DEADLINE_S = 4.0
log = get_logger("recall")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallPrecedents:
    """Implement the Recall port on the index and, if one is set up, a memory bank."""

    index: RecordIndex
    bank: MemoryBank | None = None
    store: IncidentStore | None = None
    # How long the bank may take.
    deadline_s: float = DEADLINE_S
    limit: int = LIMIT

    async def precedents(self, query: Query, viewer: Viewer) -> Recalled:
        """See the port."""
        hits, missing = await self._ask_bank(query, viewer)
        try:
            count = await self.index.count_records(viewer)
            found = await self.index.find_candidates(query, viewer, self.limit)
            there = {candidate.incident.incident_id for candidate in found}
            more = tuple(hit.incident_id for hit in hits if hit.incident_id not in there)
            found += await self.index.score_records(query, viewer, more) if more else ()
            foreign = await self._find_foreign(hits, found)
        except StoreUnavailable as problem:
            if not hits:
                raise
            count, found, foreign, missing = 0, (), hits, (*missing, MissingPart("memory", str(problem)))
        candidates = (*found, *list_bank_only(foreign, found, query, viewer))
        return Recalled(rank(query, candidates, known=count), count, missing, list_outside(foreign))

    async def _find_foreign(self, hits: Sequence[BankHit], found: Sequence[Candidate]) -> tuple[BankHit, ...]:
        """Return the hits that are not in the store, whether visible or not, and were not retracted from it."""
        here = {candidate.incident.incident_id for candidate in found}
        others = [hit.incident_id for hit in hits if hit.incident_id not in here]
        if others and self.store:
            here |= set(await self.store.find_records(others)) | await self.store.find_retracted(others)
        return tuple(hit for hit in hits if hit.incident_id not in here)

    async def _ask_bank(self, query: Query, viewer: Viewer) -> tuple[tuple[BankHit, ...], tuple[MissingPart, ...]]:
        if self.bank is None:
            return (), ()
        try:
            async with asyncio.timeout(self.deadline_s):
                return (await self.bank.recall(query, self.limit, viewer))[: self.limit], ()
        except TimeoutError:
            reason = f"the memory bank did not answer within {self.deadline_s:g} s"
        except (MemoryUnavailable, MemoryRejected) as problem:
            reason = str(problem).rstrip(".")
        log.warning("the memory bank is missing", reason=reason)
        return (), (MissingPart("memory", f"{reason}; the local index answers"),)


def list_bank_only(
    hits: Sequence[BankHit], found: Sequence[Candidate], query: Query, viewer: Viewer
) -> tuple[Candidate, ...]:
    """Return the records that only a shared bank has, each once.

    Nobody here verified them, so their attempts are UNVERIFIED.
    """
    seen = {candidate.incident.incident_id for candidate in found} | query.exclude
    records: dict[str, Incident] = {}
    for hit in hits:
        if hit.incident and hit.incident_id not in seen and viewer.may_see(hit.incident.source.visibility):
            records.setdefault(hit.incident_id, mark_unverified(hit.incident))
    return tuple(Candidate(record) for record in records.values())


def list_outside(hits: Sequence[BankHit]) -> tuple[OutsideMemory, ...]:
    """Return the nearest few texts in the bank that are no records: they are listed, never counted."""
    texts = (OutsideMemory(hit.incident_id, hit.text) for hit in hits if hit.incident is None and hit.text)
    return tuple(texts)[:OUTSIDE_AT_MOST]


def mark_unverified(record: Incident) -> Incident:
    """Return the record with every attempt UNVERIFIED."""
    attempts = tuple(replace(attempt, status=VerificationStatus.UNVERIFIED) for attempt in record.attempts)
    return replace(record, attempts=attempts)


@dataclass(frozen=True, slots=True)
class LookUpPrecedents:
    """Answer a person's question: a text with filters."""

    recall: Recall
    index: RecordIndex

    async def __call__(
        self,
        text: str,
        viewer: Viewer,
        *,
        vendor: str | None = None,
        service: str | None = None,
        region: str | None = None,
        since: datetime | None = None,
        limit: int | None = None,
    ) -> tuple[Query, Recalled]:
        """Return the query and its precedents, best first: at most `limit`, none older than `since`.

        Raises StoreUnavailable.
        """
        known_names = await self.index.list_known_names()
        query = build_text_query(text, known_names, vendor=vendor, service=service, region=region)
        recalled = await self.recall.precedents(query, viewer)
        recent = [p for p in recalled.precedents if since is None or _is_after(p.incident, since)]
        return query, replace(recalled, precedents=tuple(recent[:limit]))


def _is_after(record: Incident, since: datetime) -> bool:
    return record.happened_at is not None and record.happened_at >= since
