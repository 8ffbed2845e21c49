"""Text scores: word BM25 and character-n-gram BM25 between a query and stored documents. Must not read the database.

The rarity of a term is taken over what the viewer may see; that of an n-gram over the candidates. Both count some
documents more than there are, which hold none of the query: in a store of five records nothing is really rare yet.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bot.domain.recall.ranking import TextScore
from bot.domain.text.tokens import build_grams

K1 = 1.2
B = 0.75
PRIOR_DOCUMENTS = 50
TIMES = "*"


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """A stored document as the index keeps it: its `terms` separated by spaces and their number, the number of its
    text's form; `words` as `counted_words` writes them and how many n-grams they have, where n-grams are counted."""

    incident_id: str
    terms: str
    length: int
    form: int = 0
    words: str = ""
    grams: int = 0


@dataclass(frozen=True, slots=True)
class SearchableCollection:
    """What the viewer may search."""

    documents: int
    mean_length: float
    held: Mapping[str, int]


def format_word_counts(words: Iterable[str]) -> str:
    """Return words with their counts as text: "disk full*2". No word holds an asterisk or a space."""
    return " ".join(word if n == 1 else f"{word}{TIMES}{n}" for word, n in Counter(words).items())


def score_rarity(documents: int, holding: int) -> float:
    """Return BM25's inverse document frequency, never negative."""
    return math.log(1 + (documents - holding + 0.5) / (holding + 0.5))


def saturate(times: int, length: int, mean_length: float) -> float:
    """Return BM25's term frequency part, at most K1 + 1."""
    return times * (K1 + 1) / (times + K1 * (1 - B + B * length / max(mean_length, 1.0)))


def score_documents(
    query_terms: Mapping[str, int],
    query_words: Sequence[str],
    collection: SearchableCollection,
    pool: Sequence[IndexedDocument],
    others: Sequence[IndexedDocument] = (),
    cosines: Mapping[str, float] | None = None,
) -> dict[str, TextScore]:
    """Return the scores of `pool` (the candidates by words) and `others` (known otherwise), by incident id. `cosines`
    are those of documents with a vector. Without `query_words` n-grams are not counted."""
    held, repeats = _count_distinct(query_terms, collection, pool)
    number = collection.documents + PRIOR_DOCUMENTS - repeats
    weight = {term: times * score_rarity(number, held.get(term, 0)) for term, times in query_terms.items()}
    highest = sum(weight.values()) * (K1 + 1)
    unit = score_rarity(number, 0) * (K1 + 1)
    grams = Counter(gram for word in query_words for gram in build_grams(word))
    shares = _score_grams(grams, pool, others) if grams else {}
    found = {}
    for document in (*pool, *others):
        bm25 = _score_bm25(document, weight, collection.mean_length)
        found[document.incident_id] = TextScore(
            bm25_share=bm25 / highest if highest else 0.0,
            bm25_mass=math.log1p(bm25 / unit),
            chargram_share=shares.get(document.incident_id, 0.0),
            cosine=(cosines or {}).get(document.incident_id),
        )
    return found


def _count_distinct(
    query_terms: Mapping[str, int], collection: SearchableCollection, pool: Sequence[IndexedDocument]
) -> tuple[dict[str, int], int]:
    """Return in how many documents each term occurs, with documents of the same words counted once, and how many were
    left out: an incident that came five times must not make its own words common."""
    copies = Counter(document.terms for document in pool)
    held = dict(collection.held)
    for terms, n in copies.items():
        for term in set(terms.split()) & query_terms.keys() if n > 1 else ():
            held[term] = max(1, held.get(term, n) - (n - 1))
    return held, sum(n - 1 for n in copies.values())


def _score_bm25(document: IndexedDocument, weight: Mapping[str, float], mean_length: float) -> float:
    there = document.terms.split()
    # sorted, so that equal documents have equal sums
    shared = sorted(weight.keys() & set(there))
    once = saturate(1, document.length, mean_length)
    bm25 = 0.0
    for term in shared:
        times = there.count(term)
        bm25 += weight[term] * (once if times == 1 else saturate(times, document.length, mean_length))
    return bm25


def _score_grams(
    wanted: Mapping[str, int], pool: Sequence[IndexedDocument], others: Sequence[IndexedDocument]
) -> dict[str, float]:
    """Score n-grams as BM25 does words. The table of words by n-grams is made once, because the same words are in many
    documents."""
    everything = (*pool, *others)
    column = {gram: number for number, gram in enumerate(wanted)}
    rows, hits = _find_gram_columns(everything, column)
    if not hits:
        return dict.fromkeys((document.incident_id for document in everything), 0.0)
    times = np.stack([_count_grams(document, rows, hits, len(column)) for document in everything])
    # texts that came several times are counted once: a recurrence does not make its own words common
    distinct = list({document.words: row for row, document in enumerate(pool)}.values())
    held = (times[distinct] > 0).sum(axis=0)
    number = len(distinct) + PRIOR_DOCUMENTS
    weight = np.array(list(wanted.values())) * np.log(1 + (number - held + 0.5) / (held + 0.5))
    lengths = np.array([document.grams for document in everything], dtype=np.float64)
    mean_length = max(float(lengths[distinct].sum()) / max(1, len(distinct)), 1.0)
    softened = K1 * (1 - B + B * lengths / mean_length)
    bm25 = (times * (K1 + 1) / (times + softened[:, None])) @ weight
    # equal documents must score equally: a product's last bits depend on the place of the row
    shares = np.round(bm25 / (weight.sum() * (K1 + 1)), 9)
    return {document.incident_id: float(share) for document, share in zip(everything, shares, strict=True)}


def _find_gram_columns(
    documents: Sequence[IndexedDocument], column: Mapping[str, int]
) -> tuple[Mapping[str, tuple[int, int]], list[int]]:
    """Return which columns each word's n-grams hit: a slice of one long list, for each word with any."""
    rows: dict[str, tuple[int, int]] = {}
    hits: list[int] = []
    for word in {entry.partition(TIMES)[0] for document in documents for entry in document.words.split()}:
        begin = len(hits)
        hits += [column[gram] for gram in build_grams(word) if gram in column]
        if len(hits) > begin:
            rows[word] = (begin, len(hits))
    return rows, hits


def _count_grams(
    document: IndexedDocument, rows: Mapping[str, tuple[int, int]], hits: Sequence[int], width: int
) -> npt.NDArray[np.float64]:
    """Return how often each of the question's n-grams occurs in the document."""
    found: list[int] = []
    for entry in document.words.split():
        word, _, many = entry.partition(TIMES)
        if word in rows:
            begin, end = rows[word]
            found += list(hits[begin:end]) * int(many or 1)
    return np.bincount(found, minlength=width).astype(np.float64) if found else np.zeros(width)
