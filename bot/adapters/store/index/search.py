"""One question's search through the index: candidates by words and by vectors, and their exact scores.

Must not load records. Where nearly all documents have a vector, all are scored by words and vectors; otherwise, and for
the few that have none, parts of words stand in for the meaning.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import sqlalchemy as sa

from bot.adapters.store.database.statements import is_visible_to_viewer
from bot.adapters.store.index import reading
from bot.adapters.store.index.dense_scan import SignScan
from bot.adapters.store.index.reading import BY_WORDS, WITH_VECTORS
from bot.adapters.store.index.scoring import IndexedDocument, score_documents
from bot.adapters.store.index.tables import documents
from bot.adapters.store.index.vectors import compute_cosines
from bot.domain.access.visibility import Viewer
from bot.domain.recall.ranking import TextScore
from bot.ports.embedding import Vectors

NEAREST, SCANNED = 50, 150
# Up to this share (or number) of documents without a vector, the others are searched by theirs.
WAITING_SHARE, WAITING_FEW = 0.1, 20


@dataclass(frozen=True, slots=True)
class IndexQuery:
    """A question to the index."""

    wanted: Counter[str]  # its words as the index has them
    said: tuple[str, ...]  # its words as they were written
    viewer: Viewer
    exclude: frozenset[str]  # incident ids that must not come back
    also: frozenset[str]  # ids to be scored in any case


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Text scores, and the numbers of the texts' forms, by incident id."""

    scores: Mapping[str, TextScore] = field(default_factory=dict)
    forms: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DocumentPools:
    """Documents to be scored, by number, with their cosines where they have a vector."""

    by_words: Mapping[int, IndexedDocument]
    others: Mapping[int, IndexedDocument]
    cosines: Mapping[int, float] = field(default_factory=dict)

    @property
    def all(self) -> Mapping[int, IndexedDocument]:
        """Documents of both pools."""
        return {**self.by_words, **self.others}


def run_search(connection: sa.Connection, search: IndexQuery, question: Vectors | None, scan: SignScan) -> SearchResult:
    """Search on one consistent view of the index. `question` None: by words alone."""
    collection, everything = reading.read_collection(connection, search.wanted, search.viewer)
    conditions = _build_conditions(search, all_seen=everything == collection.documents)
    if question is not None and _is_dense_ready(connection, scan, everything):
        in_words = reading.find_pool(connection, search.wanted, collection, WITH_VECTORS, conditions)
        pools = _add_nearest(connection, search, in_words, question, scan)
    else:
        in_words = reading.find_pool(connection, search.wanted, collection, BY_WORDS, conditions)
        pools = _split_pools(connection, in_words, reading.find_document_numbers(connection, search.also), {})
    held = pools.all
    said = search.said if any(number not in pools.cosines for number in held) else ()
    near = {document.incident_id: pools.cosines[n] for n, document in held.items() if n in pools.cosines}
    told = score_documents(search.wanted, said, collection, [*pools.by_words.values()], [*pools.others.values()], near)
    return SearchResult(told, {document.incident_id: document.form for document in held.values()})


def _build_conditions(search: IndexQuery, *, all_seen: bool) -> tuple[sa.ColumnElement[bool], ...]:
    """Return what a document must meet to be a candidate. Checking every document that holds a word costs time, so
    nothing is checked where the viewer may see all."""
    seen = () if all_seen else (is_visible_to_viewer(search.viewer, documents.c.visibility),)
    return (*seen, documents.c.incident_id.not_in(sorted(search.exclude))) if search.exclude else seen


def _is_dense_ready(connection: sa.Connection, scan: SignScan, everything: int) -> bool:
    """Return whether nearly all documents have a vector; the signs in memory are caught up then."""
    few = max(WAITING_FEW, int(everything * WAITING_SHARE))
    without = reading.count_pending(connection, few + 1)
    if without > few:
        return False
    scan.catch_up(connection, everything - without)
    return True


def _add_nearest(
    connection: sa.Connection, search: IndexQuery, in_words: list[int], question: Vectors, scan: SignScan
) -> DocumentPools:
    more = len(search.exclude)
    near = scan.find_nearest(question, search.viewer, SCANNED + more)
    also = reading.find_document_numbers(connection, search.also)
    kept = reading.read_vectors(connection, list(dict.fromkeys((*in_words, *near, *also))))
    measured = compute_cosines(question, list(kept.values())) if kept else ()
    found = {number: round(float(cosine), 5) for number, cosine in zip(kept, measured, strict=True)}
    nearest = sorted((n for n in near if n in found), key=lambda n: (-found[n], n))[: NEAREST + more]
    pools = _split_pools(connection, in_words, [*nearest, *also], found)
    others = {n: document for n, document in pools.others.items() if document.incident_id not in search.exclude}
    return DocumentPools(pools.by_words, others, found)


def _split_pools(
    connection: sa.Connection, in_words: list[int], others: list[int], found: Mapping[int, float]
) -> DocumentPools:
    numbers = list(dict.fromkeys((*in_words, *others)))
    held = reading.read_documents(connection, numbers, grams=any(number not in found for number in numbers))
    pool = {number: held[number] for number in in_words}
    return DocumentPools(pool, {number: document for number, document in held.items() if number not in pool}, found)
