"""The RecordIndex port on SQLite's FTS5 and vectors. Must not decide what is a precedent.

Candidates are the documents that hold the question's words, and those whose vectors are nearest to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import sqlalchemy as sa

from bot.adapters.store.database.connection import Database
from bot.adapters.store.database.json_bodies import read_record_json
from bot.adapters.store.database.reader import ReadOnlyPool
from bot.adapters.store.database.statements import is_visible_to_viewer, split_batches
from bot.adapters.store.database.tables import record_fingerprints, records
from bot.adapters.store.index.dense_scan import SignScan
from bot.adapters.store.index.reading import count_visible
from bot.adapters.store.index.search import IndexQuery, SearchResult, run_search
from bot.adapters.store.index.tables import names
from bot.domain.access.visibility import Viewer
from bot.domain.recall.query import KnownNames, Query
from bot.domain.recall.ranking import Candidate, TextScore, fuse_score
from bot.domain.text.tokens import split_words, tokenize
from bot.observability import get_logger
from bot.ports.embedding import Embedder, Vectors
from bot.ports.errors import EmbeddingUnavailable

# Of texts that are equal but for numbers at most so many are candidates: something must be left to compare with.
ALIKE_AT_MOST = 20
# Candidates without a vector that come in addition to those with one.
WITHOUT_VECTOR = 10
IDS_PER_STATEMENT = 500
T = TypeVar("T")
log = get_logger("index")


class IndexUpdater(Protocol):
    """Updates an index that is in another file than the records."""

    async def catch_up(self) -> None:
        """Index what was committed since the last time."""
        ...


@dataclass(frozen=True, slots=True)
class SqlRecordIndex:
    """The RecordIndex port."""

    database: Database  # the index
    records_in: Database  # the records: the same database on SQLite
    follower: IndexUpdater | None = None
    embedder: Embedder | None = None
    scan: SignScan = field(default_factory=SignScan)
    _readers: list[ReadOnlyPool] = field(default_factory=list)

    async def find_candidates(self, query: Query, viewer: Viewer, limit: int = 50) -> tuple[Candidate, ...]:
        """See the port."""
        same_alert = await self._find_by_fingerprint(query, viewer)
        found = await self._search(query, viewer, same_alert)
        chosen = _select_best(found, limit)
        return await self._load_records((*chosen, *sorted(same_alert - frozenset(chosen))), found, query, viewer)

    async def score_records(self, query: Query, viewer: Viewer, incident_ids: tuple[str, ...]) -> tuple[Candidate, ...]:
        """See the port."""
        found = await self._search(query, viewer, frozenset(incident_ids))
        return await self._load_records(incident_ids, found, query, viewer)

    async def count_records(self, viewer: Viewer) -> int:
        """See the port."""
        return await self._ask(lambda connection: count_visible(connection, viewer))

    async def list_known_names(self) -> KnownNames:
        """See the port."""
        asked = sa.select(names.c.kind, names.c.name)
        rows = await self._ask(lambda connection: connection.execute(asked).all())
        by_kind = [frozenset(row.name for row in rows if row.kind == kind) for kind in ("vendor", "service", "region")]
        return KnownNames(*by_kind)

    def close(self) -> None:
        """Give the reading connections back; the databases' own connections are their owner's."""
        for reader in self._readers:
            reader.close()

    async def _ask(self, work: Callable[[sa.Connection], T]) -> T:
        """Read the index after it has caught up with the records."""
        if self.follower:
            await self.follower.catch_up()
        return await self._get_reader().ask(work)

    def _get_reader(self) -> ReadOnlyPool:
        if not self._readers:
            self._readers.append(ReadOnlyPool(self.database))
        return self._readers[0]

    async def _read_rows(self, asked: sa.Select[tuple[str, ...]]) -> Sequence[sa.Row[tuple[str, ...]]]:
        """Return rows of the records, which may be in another database than the index."""
        if self.records_in is self.database:
            return await self._get_reader().ask(lambda connection: connection.execute(asked).all())
        async with self.records_in.read() as connection:
            return (await connection.execute(asked)).all()

    async def _find_by_fingerprint(self, query: Query, viewer: Viewer) -> frozenset[str]:
        if not query.fingerprint:
            return frozenset()
        asked = (
            sa.select(records.c.incident_id)
            .join(record_fingerprints, record_fingerprints.c.incident_id == records.c.incident_id)
            .where(record_fingerprints.c.fingerprint == query.fingerprint, *_select_recallable(query, viewer))
        )
        return frozenset(row.incident_id for row in await self._read_rows(asked))

    async def _search(self, query: Query, viewer: Viewer, also: frozenset[str]) -> SearchResult:
        question = await self._embed_question(query)
        search = IndexQuery(Counter(tokenize(query.text)), tuple(split_words(query.text)), viewer, query.exclude, also)
        return await self._ask(lambda connection: run_search(connection, search, question, self.scan))

    async def _embed_question(self, query: Query) -> Vectors | None:
        if self.embedder is None or not query.text:
            return None
        try:
            return await self.embedder.embed_question(query.text)
        except EmbeddingUnavailable as problem:
            log.debug("a question is answered by words", reason=str(problem))
            return None

    async def _load_records(
        self, incident_ids: Sequence[str], found: SearchResult, query: Query, viewer: Viewer
    ) -> tuple[Candidate, ...]:
        bodies: dict[str, str] = {}
        for portion in split_batches(incident_ids, IDS_PER_STATEMENT):
            asked = sa.select(records.c.incident_id, records.c.body).where(
                records.c.incident_id.in_(portion), *_select_recallable(query, viewer)
            )
            bodies |= {row.incident_id: row.body for row in await self._read_rows(asked)}
        return tuple(
            Candidate(read_record_json(bodies[incident_id]), found.scores.get(incident_id, TextScore()))
            for incident_id in dict.fromkeys(incident_ids)
            if incident_id in bodies
        )


def _select_best(found: SearchResult, limit: int) -> list[str]:
    """Return the ids of the best, at most `limit`, and of equal texts at most `ALIKE_AT_MOST`. What has no vector yet
    cannot be compared with what has one, so some of it comes in addition."""
    ordered = sorted(found.scores, key=lambda incident_id: (-fuse_score(found.scores[incident_id]), incident_id))
    kept: dict[bool, list[str]] = {True: [], False: []}
    alike: Counter[int] = Counter()
    for incident_id in ordered:
        alike[found.forms[incident_id]] += 1
        score = found.scores[incident_id]
        if alike[found.forms[incident_id]] <= ALIKE_AT_MOST and fuse_score(score) > 0:
            kept[score.cosine is not None].append(incident_id)
    return kept[True][:limit] + kept[False][: WITHOUT_VECTOR if kept[True] else limit]


def _select_recallable(query: Query, viewer: Viewer) -> tuple[sa.ColumnElement[bool], ...]:
    return (
        records.c.recallable.is_(True),
        is_visible_to_viewer(viewer, records.c.visibility),
        records.c.incident_id.not_in(sorted(query.exclude)),
    )
