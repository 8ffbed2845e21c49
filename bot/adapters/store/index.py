"""Search over the recallable records: the Index port on SQLite's FTS5 and vectors. Must not decide what is a precedent.

Candidates are the documents that hold the question's words, and those whose vectors are nearest to it. All are scored
exactly, in a thread: by words and vectors, or by words and parts of words while there is no model or many documents
have no vector yet.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.adapters.store import index_search as reading
from bot.adapters.store.bodies import record_from_json
from bot.adapters.store.dense_scan import SignScan
from bot.adapters.store.engine import Database
from bot.adapters.store.index_search import BY_WORDS, WITH_VECTORS, Search
from bot.adapters.store.index_tables import names, totals
from bot.adapters.store.scoring import Collection, Document, combined, scores
from bot.adapters.store.statements import batches, seen_by
from bot.adapters.store.tables import record_fingerprints, records
from bot.adapters.store.vectors import cosines
from bot.domain.query import KnownNames, Query, Viewer
from bot.domain.ranking import Candidate, TextScore
from bot.domain.text import tokens, words
from bot.observability import logger
from bot.ports import EmbeddingUnavailable
from bot.ports.embedding import Embedder, Vectors

NEAREST, SCANNED = 50, 200
# Of texts that are equal but for numbers at most so many are candidates: something must be left to compare with.
ALIKE_AT_MOST = 20
# Up to this share (or number) of documents without a vector, the others are searched by theirs.
WAITING_SHARE, WAITING_FEW = 0.1, 20
IDS_PER_STATEMENT = 500
log = logger("index")


class CatchUp(Protocol):
    """Brings an index that lives in another file than the records up to date."""

    async def catch_up(self) -> None:
        """Index what was committed since the last time."""
        ...


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found: text scores and text forms by incident id."""

    scores: Mapping[str, TextScore] = field(default_factory=dict)
    forms: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Pools:
    """Documents to be scored, by number: found by words, and others; with their cosines where they have a vector."""

    by_words: Mapping[int, Document]
    others: Mapping[int, Document]
    cosines: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SqlIndex:
    """The Index port. `records_in` holds the records, `database` the index: the same one on SQLite."""

    database: Database
    records_in: Database
    follower: CatchUp | None = None
    embedder: Embedder | None = None
    scan: SignScan = field(default_factory=SignScan)

    async def candidates(self, query: Query, viewer: Viewer, limit: int = 50) -> tuple[Candidate, ...]:
        """See the port."""
        same_alert = await self._with_fingerprint(query, viewer)
        found = await self._search(query, viewer, same_alert)
        chosen = _best(found, limit)
        return await self._load((*chosen, *sorted(same_alert - frozenset(chosen))), found, query, viewer)

    async def scored(self, query: Query, viewer: Viewer, incident_ids: tuple[str, ...]) -> tuple[Candidate, ...]:
        """See the port."""
        found = await self._search(query, viewer, frozenset(incident_ids))
        return await self._load(incident_ids, found, query, viewer)

    async def known(self, viewer: Viewer) -> int:
        """See the port."""
        await self._catch_up()
        asked = sa.select(sa.func.coalesce(sa.func.sum(totals.c.documents), 0))
        async with self.database.read() as connection:
            return int((await connection.execute(asked.where(seen_by(viewer, totals.c.visibility)))).scalar_one())

    async def known_names(self) -> KnownNames:
        """See the port."""
        await self._catch_up()
        async with self.database.read() as connection:
            rows = (await connection.execute(sa.select(names.c.kind, names.c.name))).all()
        by_kind = [frozenset(row.name for row in rows if row.kind == kind) for kind in ("vendor", "service", "region")]
        return KnownNames(*by_kind)

    async def _catch_up(self) -> None:
        if self.follower:
            await self.follower.catch_up()

    async def _with_fingerprint(self, query: Query, viewer: Viewer) -> frozenset[str]:
        if not query.fingerprint:
            return frozenset()
        asked = (
            sa.select(records.c.incident_id)
            .join(record_fingerprints, record_fingerprints.c.incident_id == records.c.incident_id)
            .where(record_fingerprints.c.fingerprint == query.fingerprint, *_recallable(query, viewer))
        )
        async with self.records_in.read() as connection:
            return frozenset((await connection.execute(asked)).scalars())

    async def _search(self, query: Query, viewer: Viewer, also: frozenset[str]) -> Found:
        await self._catch_up()
        question = await self._question(query)
        search = Search(Counter(tokens(query.text)), viewer, query.exclude)
        async with self.database.read() as connection:
            collection = await reading.collection_of(connection, search.wanted, viewer)
            if question is not None and not await self._ready(connection):
                question = None
            if question is None:
                pools = await _pools_by_words(connection, search, collection, also)
            else:
                pools = await self._pools(connection, search, collection, also, question)
        said = words(query.text) if _counts_grams(pools) else []
        found = await asyncio.to_thread(_scored, search, said, collection, pools)
        everything = (*pools.by_words.values(), *pools.others.values())
        return Found(found, {document.incident_id: document.form for document in everything})

    async def _question(self, query: Query) -> Vectors | None:
        if self.embedder is None or not query.text:
            return None
        try:
            return await self.embedder.question(query.text)
        except EmbeddingUnavailable as problem:
            log.debug("a question is answered by words", reason=str(problem))
            return None

    async def _ready(self, connection: AsyncConnection) -> bool:
        """Whether nearly all documents have a vector; the signs in memory are caught up then."""
        everything = (await connection.execute(sa.select(sa.func.sum(totals.c.documents)))).scalar_one() or 0
        few = max(WAITING_FEW, int(everything * WAITING_SHARE))
        without = await reading.waiting(connection, few + 1)
        if without > few:
            return False
        await self.scan.catch_up(connection, everything - without)
        return True

    async def _pools(
        self,
        connection: AsyncConnection,
        search: Search,
        collection: Collection,
        also: frozenset[str],
        question: Vectors,
    ) -> Pools:
        in_words = await reading.pool_of(connection, search, collection, WITH_VECTORS)
        near = await self.scan.nearest(question, search.viewer, SCANNED + len(search.exclude))
        known = await reading.numbers_of(connection, also) if also else []
        kept = await reading.vectors_of(connection, list(dict.fromkeys((*in_words, *near, *known))))
        found = dict(zip(kept, map(float, cosines(question, list(kept.values()))), strict=True)) if kept else {}
        nearest = sorted((n for n in near if n in found), key=lambda n: (-found[n], n))[: NEAREST + len(search.exclude)]
        grams = any(number not in found for number in (*in_words, *known))
        there = await reading.documents_of(connection, list(dict.fromkeys((*in_words, *nearest, *known))), grams=grams)
        held = {n: d for n, d in there.items() if d.incident_id not in search.exclude}
        pool = {number: held[number] for number in in_words if number in held}
        return Pools(pool, {n: d for n, d in held.items() if n not in pool}, found)

    async def _load(
        self, incident_ids: Sequence[str], found: Found, query: Query, viewer: Viewer
    ) -> tuple[Candidate, ...]:
        bodies: dict[str, str] = {}
        async with self.records_in.read() as connection:
            for portion in batches(incident_ids, IDS_PER_STATEMENT):
                asked = sa.select(records.c.incident_id, records.c.body).where(
                    records.c.incident_id.in_(portion), *_recallable(query, viewer)
                )
                bodies.update((incident_id, body) for incident_id, body in await connection.execute(asked))
        return tuple(
            Candidate(record_from_json(bodies[incident_id]), found.scores.get(incident_id, TextScore()))
            for incident_id in dict.fromkeys(incident_ids)
            if incident_id in bodies
        )


def _best(found: Found, limit: int) -> list[str]:
    """The ids of the best, at most `limit`, and of texts that are alike at most `ALIKE_AT_MOST`."""
    ordered = sorted(found.scores, key=lambda incident_id: (-combined(found.scores[incident_id]), incident_id))
    chosen: list[str] = []
    alike: Counter[int] = Counter()
    for incident_id in ordered:
        alike[found.forms[incident_id]] += 1
        if alike[found.forms[incident_id]] <= ALIKE_AT_MOST and combined(found.scores[incident_id]) > 0:
            chosen.append(incident_id)
    return chosen[:limit]


async def _pools_by_words(
    connection: AsyncConnection, search: Search, collection: Collection, also: frozenset[str]
) -> Pools:
    in_words = await reading.pool_of(connection, search, collection, BY_WORDS)
    known = await reading.numbers_of(connection, also) if also else []
    held = await reading.documents_of(connection, list(dict.fromkeys((*in_words, *known))), grams=True)
    pool = {number: held[number] for number in in_words}
    return Pools(pool, {number: document for number, document in held.items() if number not in pool})


def _counts_grams(pools: Pools) -> bool:
    return any(number not in pools.cosines for number in (*pools.by_words, *pools.others))


def _scored(search: Search, said: Sequence[str], collection: Collection, pools: Pools) -> dict[str, TextScore]:
    near = {pools_id: pools.cosines[n] for n, pools_id in _ids(pools) if n in pools.cosines}
    pool, others = list(pools.by_words.values()), list(pools.others.values())
    return scores(search.wanted, said, collection, pool, others, near)


def _ids(pools: Pools) -> list[tuple[int, str]]:
    return [(n, document.incident_id) for held in (pools.by_words, pools.others) for n, document in held.items()]


def _recallable(query: Query, viewer: Viewer) -> tuple[sa.ColumnElement[bool], ...]:
    return (
        records.c.recallable.is_(True),
        seen_by(viewer, records.c.visibility),
        records.c.incident_id.not_in(sorted(query.exclude)),
    )
