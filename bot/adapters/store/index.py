"""Search over the recallable records: the Index port on SQLite's FTS5. Must not decide what is a precedent.

Candidates are the documents that FTS5 ranks best for the query's terms: all of them in a store of less than
`FULL_BELOW` documents, the rarest ones above. They are scored exactly, in a thread, from their stored tokens.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.adapters.store.bodies import record_from_json
from bot.adapters.store.engine import Database
from bot.adapters.store.index_tables import documents, fts, terms, totals
from bot.adapters.store.scoring import Collection, Document, combined, rarity, scores
from bot.adapters.store.statements import batches, seen_by
from bot.adapters.store.tables import record_fingerprints, records
from bot.domain.query import KnownNames, Query, Viewer
from bot.domain.ranking import Candidate, TextScore
from bot.domain.text import tokens, words

POOL = 300
FULL_BELOW = 20_000
TERMS_AT_MOST = 200
RAREST_AT_MOST = 8
RAREST_SHARE = 0.03
IDS_PER_STATEMENT = 500


class CatchUp(Protocol):
    """Brings an index that lives in another file than the records up to date."""

    async def catch_up(self) -> None:
        """Index what was committed since the last time."""
        ...


@dataclass(frozen=True, slots=True)
class SqlIndex:
    """The Index port. `records_in` holds the records, `database` the index: the same one on SQLite."""

    database: Database
    records_in: Database
    follower: CatchUp | None = None

    async def candidates(self, query: Query, viewer: Viewer, limit: int = 50) -> tuple[Candidate, ...]:
        """See the port."""
        same_alert = await self._with_fingerprint(query, viewer)
        found = await self._scores(query, viewer, same_alert)
        best = sorted(found, key=lambda incident_id: (-combined(found[incident_id]), incident_id))
        chosen = [incident_id for incident_id in best if combined(found[incident_id]) > 0][:limit]
        return await self._load((*chosen, *(same_alert - frozenset(chosen))), found, query, viewer)

    async def scored(self, query: Query, viewer: Viewer, incident_ids: tuple[str, ...]) -> tuple[Candidate, ...]:
        """See the port."""
        found = await self._scores(query, viewer, frozenset(incident_ids))
        return await self._load(incident_ids, found, query, viewer)

    async def known(self, viewer: Viewer) -> int:
        """See the port."""
        asked = sa.select(sa.func.count()).where(records.c.recallable, seen_by(viewer, records.c.visibility))
        async with self.records_in.read() as connection:
            return int((await connection.execute(asked)).scalar_one())

    async def known_names(self) -> KnownNames:
        """See the port."""
        async with self.records_in.read() as connection:
            named = [await _names(connection, column) for column in ("vendor", "service", "region")]
        return KnownNames(*named)

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

    async def _scores(self, query: Query, viewer: Viewer, also: frozenset[str]) -> dict[str, TextScore]:
        if self.follower:
            await self.follower.catch_up()
        wanted = Counter(tokens(query.text))
        async with self.database.read() as connection:
            collection = await _collection(connection, wanted, viewer)
            in_pool = await _pool(connection, _matching(wanted, collection), query, viewer)
            pool = await _documents(connection, in_pool)
            others = await _documents(connection, await _ids_of(connection, also, frozenset(in_pool)))
        return await asyncio.to_thread(scores, wanted, words(query.text), collection, pool, others)

    async def _load(
        self, incident_ids: Sequence[str], found: dict[str, TextScore], query: Query, viewer: Viewer
    ) -> tuple[Candidate, ...]:
        bodies: dict[str, str] = {}
        async with self.records_in.read() as connection:
            for portion in batches(incident_ids, IDS_PER_STATEMENT):
                asked = sa.select(records.c.incident_id, records.c.body).where(
                    records.c.incident_id.in_(portion), *_recallable(query, viewer)
                )
                bodies |= {row.incident_id: row.body for row in await connection.execute(asked)}
        return tuple(
            Candidate(record_from_json(bodies[incident_id]), found.get(incident_id, TextScore()))
            for incident_id in dict.fromkeys(incident_ids)
            if incident_id in bodies
        )


def _recallable(query: Query, viewer: Viewer) -> tuple[sa.ColumnElement[bool], ...]:
    return (
        records.c.recallable.is_(True),
        seen_by(viewer, records.c.visibility),
        records.c.incident_id.not_in(sorted(query.exclude)),
    )


async def _names(connection: AsyncConnection, column: str) -> frozenset[str]:
    named = records.c[column]
    asked = sa.select(named).where(records.c.recallable, named.is_not(None)).distinct()
    return frozenset((await connection.execute(asked)).scalars())


async def _collection(connection: AsyncConnection, wanted: Iterable[str], viewer: Viewer) -> Collection:
    counted = sa.select(sa.func.sum(totals.c.documents), sa.func.sum(totals.c.length))
    number, length = (await connection.execute(counted.where(seen_by(viewer, totals.c.visibility)))).one()
    held: dict[str, int] = {}
    for portion in batches(list(wanted), IDS_PER_STATEMENT):
        asked = (
            sa.select(terms.c.term, sa.func.sum(terms.c.documents).label("held"))
            .where(terms.c.term.in_(portion), seen_by(viewer, terms.c.visibility))
            .group_by(terms.c.term)
        )
        held |= {row.term: row.held for row in await connection.execute(asked)}
    return Collection(documents=number or 0, mean_length=(length or 0) / max(1, number or 0), held=held)


def _matching(wanted: Counter[str], collection: Collection) -> list[str]:
    """The terms to search by, repeated as in the query: what is repeated there counts more."""
    there = [term for term in wanted if collection.held.get(term)]
    rarest = sorted(there, key=lambda term: (collection.held[term], term))
    if collection.documents < FULL_BELOW:
        heaviest = sorted(there, key=lambda t: (-wanted[t] * rarity(collection.documents, collection.held[t]), t))
        chosen = heaviest[:TERMS_AT_MOST]
    else:
        chosen, postings = rarest[:1], collection.held[rarest[0]] if rarest else 0
        for term in rarest[1:RAREST_AT_MOST]:
            postings += collection.held[term]
            if postings > RAREST_SHARE * collection.documents:
                break
            chosen.append(term)
    return [term for term in chosen for _ in range(min(wanted[term], 3))]


async def _pool(connection: AsyncConnection, matching: Sequence[str], query: Query, viewer: Viewer) -> list[int]:
    if not matching:
        return []
    expression = " OR ".join(f'"{term}"' for term in matching)
    asked: sa.Select[Any] = (
        sa.select(documents.c.doc_id)
        .join(fts, fts.c.rowid == documents.c.doc_id)
        .where(
            fts.c.index_fts.op("MATCH")(expression),
            seen_by(viewer, documents.c.visibility),
            documents.c.incident_id.not_in(sorted(query.exclude)),
        )
        .order_by(sa.func.bm25(fts.c.index_fts), documents.c.incident_id)
        .limit(POOL)
    )
    return list((await connection.execute(asked)).scalars())


async def _ids_of(connection: AsyncConnection, incident_ids: frozenset[str], known: frozenset[int]) -> list[int]:
    found: list[int] = []
    for portion in batches(sorted(incident_ids), IDS_PER_STATEMENT):
        asked = sa.select(documents.c.doc_id).where(documents.c.incident_id.in_(portion))
        found += [doc_id for doc_id in (await connection.execute(asked)).scalars() if doc_id not in known]
    return found


async def _documents(connection: AsyncConnection, doc_ids: Sequence[int]) -> list[Document]:
    found: dict[int, Document] = {}
    for portion in batches(doc_ids, IDS_PER_STATEMENT):
        rows = await connection.execute(sa.select(documents).where(documents.c.doc_id.in_(portion)))
        found |= {row.doc_id: Document(row.incident_id, row.terms, row.words, row.length, row.grams) for row in rows}
    return [found[doc_id] for doc_id in doc_ids]
