"""Reading the index: which documents hold the question's words, and what is stored of them. Must not score.

In a small collection every word is searched; in a large one the rarest, as far as the documents that hold them stay
within a budget. What only common words would have found is left to the vectors.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from bot.adapters.store.database.statements import split_batches
from bot.adapters.store.index.scoring import IndexedDocument, SearchableCollection, score_rarity
from bot.adapters.store.index.tables import documents, fts
from bot.domain.access.visibility import Viewer

IDS_PER_STATEMENT = 500


@dataclass(frozen=True, slots=True)
class SearchEffort:
    """How far words are searched."""

    pool: int  # documents scored exactly
    full_below: int  # a smaller collection is searched by all words
    words_at_most: int
    rarest_at_most: int
    base: int
    share: float

    def budget(self, collection: int) -> int:
        """Return how many documents may hold the words that are searched by."""
        return int(self.base + self.share * collection)


# Vectors find what common words would: fewer words and documents give the same answers (measured).
WITH_VECTORS = SearchEffort(pool=80, full_below=2_000, words_at_most=200, rarest_at_most=6, base=1_000, share=0.01)
BY_WORDS = SearchEffort(pool=300, full_below=5_000, words_at_most=200, rarest_at_most=12, base=6_000, share=0.02)


_MATCHING = """SELECT rowid FROM index_fts WHERE index_fts MATCH ? AND rowid > ?
ORDER BY bm25(index_fts), rowid LIMIT ?"""
_TOTALS = "SELECT visibility, documents, length FROM index_totals"
_HOLDING = "SELECT term, visibility, documents FROM index_terms WHERE term IN (SELECT value FROM json_each(?))"


def read_collection(
    connection: sa.Connection, wanted: Iterable[str], viewer: Viewer
) -> tuple[SearchableCollection, int]:
    """Return what the viewer may search, with the number of documents that hold each word, and how many documents there
    are in all."""
    scopes = connection.exec_driver_sql(_TOTALS).fetchall()
    seen = [(number, length) for scope, number, length in scopes if viewer.may_see(scope)]
    documents_seen = sum(number for number, _ in seen)
    held: Counter[str] = Counter()
    for term, scope, number in connection.exec_driver_sql(_HOLDING, (json.dumps(list(wanted)),)).fetchall():
        held[term] += number if viewer.may_see(scope) else 0
    mean_length = sum(length for _, length in seen) / max(1, documents_seen)
    return SearchableCollection(documents_seen, mean_length, held), sum(number for _, number, _ in scopes)


def count_visible(connection: sa.Connection, viewer: Viewer) -> int:
    """Return how many documents the viewer may search."""
    scopes = connection.exec_driver_sql(_TOTALS).fetchall()
    return sum(number for scope, number, _ in scopes if viewer.may_see(scope))


def choose_words(wanted: Counter[str], collection: SearchableCollection, effort: SearchEffort) -> list[str]:
    """Return the words to search by, the most telling first."""
    there = [term for term in wanted if collection.held.get(term)]
    if collection.documents < effort.full_below:
        weight = {t: wanted[t] * score_rarity(collection.documents, collection.held[t]) for t in there}
        return sorted(there, key=lambda t: (-weight[t], t))[: effort.words_at_most]
    rarest = sorted(there, key=lambda term: (collection.held[term], term))
    chosen, postings = rarest[:1], collection.held[rarest[0]] if rarest else 0
    budget = effort.budget(collection.documents)
    for term in rarest[1 : effort.rarest_at_most]:
        postings += collection.held[term]
        if postings > budget:
            break
        chosen.append(term)
    return chosen


def find_pool(
    connection: sa.Connection,
    wanted: Counter[str],
    collection: SearchableCollection,
    effort: SearchEffort,
    conditions: Sequence[sa.ColumnElement[bool]],
) -> list[int]:
    """Return the numbers of the documents that FTS5 ranks best of those that meet the conditions, at most
    `effort.pool`."""
    chosen = choose_words(wanted, collection, effort)
    if not chosen:
        return []
    # what is repeated in the question counts more
    expression = " OR ".join(f'"{term}"' for term in chosen for _ in range(min(wanted[term], 3)))
    oldest = _find_oldest(connection, chosen, collection, effort)
    if not conditions:
        return [row[0] for row in connection.exec_driver_sql(_MATCHING, (expression, oldest, effort.pool)).fetchall()]
    asked: sa.Select[Any] = sa.select(fts.c.rowid).join(documents, fts.c.rowid == documents.c.doc_id)
    asked = asked.where(fts.c.index_fts.op("MATCH")(expression), fts.c.rowid > oldest, *conditions)
    asked = asked.order_by(sa.func.bm25(fts.c.index_fts), fts.c.rowid).limit(effort.pool)
    return list(connection.execute(asked).scalars())


def _find_oldest(
    connection: sa.Connection, chosen: Sequence[str], collection: SearchableCollection, effort: SearchEffort
) -> int:
    """Return where to begin: where even the rarest word is in far more documents than the budget, only the newest are
    read."""
    held, budget = collection.held[chosen[0]], effort.budget(collection.documents)
    if collection.documents < effort.full_below or held <= 2 * budget:
        return 0
    last = connection.execute(sa.select(sa.func.max(documents.c.doc_id))).scalar_one()
    return int(last * (1 - budget / held))


def find_document_numbers(connection: sa.Connection, incident_ids: Iterable[str]) -> list[int]:
    """Return the numbers of these incidents' documents."""
    found: list[int] = []
    for portion in split_batches(sorted(incident_ids), IDS_PER_STATEMENT):
        asked = sa.select(documents.c.doc_id).where(documents.c.incident_id.in_(portion))
        found += connection.execute(asked).scalars()
    return found


# One parameter for any number of documents: as many parameters as numbers would take longer than the reading.
_WAITING = "SELECT count(*) FROM (SELECT 1 FROM index_pending LIMIT ?)"
_DOCUMENTS = """SELECT doc_id, incident_id, terms, length, form FROM index_documents
WHERE doc_id IN (SELECT value FROM json_each(?))"""
_WITH_WORDS = """SELECT doc_id, incident_id, terms, length, form, words, grams FROM index_documents
WHERE doc_id IN (SELECT value FROM json_each(?))"""
_VECTORS = "SELECT doc_id, vector FROM index_vectors WHERE doc_id IN (SELECT value FROM json_each(?))"


def read_documents(connection: sa.Connection, numbers: Sequence[int], *, grams: bool) -> dict[int, IndexedDocument]:
    """Return what is stored of these documents, by number; `grams`: also what character n-grams are counted from."""
    rows = connection.exec_driver_sql(_WITH_WORDS if grams else _DOCUMENTS, (str(list(numbers)),)).fetchall()
    return {number: IndexedDocument(*stored) for number, *stored in rows}


def read_vectors(connection: sa.Connection, numbers: Sequence[int]) -> dict[int, bytes]:
    """Return the vectors of these documents, packed, where they have one."""
    rows = connection.exec_driver_sql(_VECTORS, (str(list(numbers)),)).fetchall()
    return {row[0]: row[1] for row in rows}


def count_pending(connection: sa.Connection, most: int) -> int:
    """Return how many documents have no vector yet, counted up to `most`."""
    return int(connection.exec_driver_sql(_WAITING, (most,)).scalar_one())
