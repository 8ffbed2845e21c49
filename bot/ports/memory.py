"""The memory bank and the index, as workflows see them. Must not promise equal scores between banks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from bot.domain.incident import Incident
from bot.domain.query import KnownNames, Query, Viewer
from bot.domain.ranking import Candidate, Recalled


@dataclass(frozen=True, slots=True)
class BankHit:
    """One document that a bank recalled, best first. `incident` is None where only the store knows the record."""

    incident_id: str
    incident: Incident | None = None


class MemoryBank(Protocol):
    """Retain and recall incident records.

    Promise: `retain` replaces by incident id and is idempotent; after it returns, the record is recallable; `retract`
    of an unknown id is fine; `recall` gives each incident at most once, best first, and [] for nothing.
    Raises MemoryUnavailable (try again later) or MemoryRejected (never will work). Callers set the deadline.
    """

    async def retain(self, incident: Incident) -> None:
        """Keep this record, replacing what was kept under its id."""
        ...

    async def retract(self, incident_id: str) -> None:
        """Forget this record."""
        ...

    async def recall(self, query: Query, limit: int) -> tuple[BankHit, ...]:
        """The documents nearest to the query, at most `limit`, best first."""
        ...


class Index(Protocol):
    """Search over the store's recallable records (resolved or imported), always there.

    Promise: a record is found as soon as the commit that wrote it returned; what the viewer may not see is left out
    before scoring; `query.exclude` too. Raises StoreUnavailable.
    """

    async def candidates(self, query: Query, viewer: Viewer, limit: int = 50) -> tuple[Candidate, ...]:
        """Candidates by text (best first, at most `limit`), and all with the query's fingerprint, with text scores."""
        ...

    async def scored(self, query: Query, viewer: Viewer, incident_ids: tuple[str, ...]) -> tuple[Candidate, ...]:
        """These records with their text scores against the query; unknown or invisible ids are left out."""
        ...

    async def known(self, viewer: Viewer) -> int:
        """How many recallable records the viewer may see."""
        ...

    async def known_names(self) -> KnownNames:
        """Vendors, services and regions that recallable records name."""
        ...


class Recall(Protocol):
    """The one way to precedents: fallback, grouping, visibility and tiers, for whichever bank is used.

    Promise: never raises for a bank that is down: the index answers, and `Recalled.missing` says so. Raises
    StoreUnavailable only when nothing at all can be asked.
    """

    async def precedents(self, query: Query, viewer: Viewer) -> Recalled:
        """All tiers, best first."""
        ...
