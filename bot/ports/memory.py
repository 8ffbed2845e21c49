"""The memory bank and the index, as workflows see them. Scores of two banks are not comparable."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.domain.access.visibility import Viewer
from bot.domain.incidents.record import Incident
from bot.domain.recall.query import OPERATOR, KnownNames, Query
from bot.domain.recall.ranking import Candidate, Recalled


@dataclass(frozen=True, slots=True)
class BankHit:
    """One document that a bank recalled."""

    incident_id: str
    incident: Incident | None = None  # None where only the store knows the record
    text: str | None = None


class MemoryBank(Protocol):
    """Retain and recall incident records.

    Promise: `retain` replaces by incident id and is idempotent; after it returns, the record is recallable; `retract`
    of an unknown id is fine; `recall` gives each incident at most once, best first, [] for nothing, and nothing that
    the viewer may not see. Raises MemoryUnavailable (try again later) or MemoryRejected (never will work). Callers set
    the deadline.
    """

    async def retain(self, incident: Incident) -> None:
        """Store this record, replacing what was stored under its id."""
        ...

    async def retract(self, incident_id: str) -> None:
        """Forget this record."""
        ...

    async def recall(self, query: Query, limit: int, viewer: Viewer = OPERATOR) -> tuple[BankHit, ...]:
        """Return the documents nearest to the query, at most `limit`, best first."""
        ...


@dataclass(frozen=True, slots=True)
class BankStatus:
    """How a remote bank is doing."""

    bank: str
    version: str | None = None
    problem: str | None = None
    last_error: str | None = None
    last_error_at: datetime | None = None
    is_there: bool = True


class RemoteBank(MemoryBank, Protocol):
    """A bank on a server of its own, which other writers may share."""

    async def read_status(self) -> BankStatus:
        """Ask the server how it is. Never raises."""
        ...

    def list_documents(self) -> AsyncIterator[BankHit]:
        """Every document that carries a record or text of ours or under a scope we know, in no particular order."""
        ...


class RecordIndex(Protocol):
    """Search over the store's recallable records (resolved or imported), always available."""

    async def find_candidates(self, query: Query, viewer: Viewer, limit: int = 50) -> tuple[Candidate, ...]:
        """Candidates by text (best first, at most `limit`), and all with the query's fingerprint, with text scores."""
        ...

    async def score_records(self, query: Query, viewer: Viewer, incident_ids: tuple[str, ...]) -> tuple[Candidate, ...]:
        """Return these records with their text scores against the query; unknown or invisible ids are left out."""
        ...

    async def count_records(self, viewer: Viewer) -> int:
        """Return how many recallable records the viewer may see."""
        ...

    async def list_known_names(self) -> KnownNames:
        """Return vendors, services and regions that recallable records name."""
        ...


class Recall(Protocol):
    """The one way to precedents: fallback, grouping, visibility and tiers, for whichever bank is used.

    Promise: never raises for a bank that is down: the index answers, and `Recalled.missing` says so. Raises
    StoreUnavailable only when nothing at all can be asked.
    """

    async def precedents(self, query: Query, viewer: Viewer) -> Recalled:
        """Return precedents of all tiers, best first."""
        ...
