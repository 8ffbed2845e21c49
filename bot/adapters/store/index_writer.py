"""Writing the index: documents, their full-text rows, and how many documents each term occurs in.

Must not open transactions: it writes into the one that writes the records.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.adapters.store.index_tables import FTS_ADD, FTS_REMOVE, documents, terms, totals
from bot.adapters.store.statements import batches, to_json
from bot.domain.incident import Incident
from bot.domain.text import gram_count, tokens, words

IDS_PER_STATEMENT = 500
# more records than this are cut into tokens in a thread, to keep the event loop free
AT_ONCE = 8
Counts = dict[tuple[str, str], int]


def searchable_text(record: Incident) -> str:
    """What is searched of a record: what it looked like and why; not what was tried (that would match checks)."""
    parts = [
        record.title,
        record.service,
        record.vendor,
        record.region,
        *record.symptoms,
        record.customer_impact,
        record.root_cause,
        record.lesson,
        *(alert.title for alert in record.alerts if alert.title != record.title),
    ]
    return "\n".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class SqliteIndexWriter:
    """Keeps the index in step with the records."""

    async def put(self, connection: AsyncConnection, records: Sequence[Incident]) -> None:
        """Index these records, replacing what was indexed under their ids."""
        await self.drop(connection, [record.incident_id for record in records])
        if not records:
            return
        first = (await connection.execute(sa.select(sa.func.coalesce(sa.func.max(documents.c.doc_id), 0)))).scalar_one()
        if len(records) > AT_ONCE:
            rows = await asyncio.to_thread(_document_rows, records, first + 1)
        else:
            rows = _document_rows(records, first + 1)
        await connection.execute(sa.insert(documents), rows)
        await connection.execute(FTS_ADD, rows)
        await _count(connection, rows, 1)

    async def drop(self, connection: AsyncConnection, incident_ids: Sequence[str]) -> None:
        """Forget these ids; unknown ones are fine."""
        for portion in batches(incident_ids, IDS_PER_STATEMENT):
            asked = sa.select(documents).where(documents.c.incident_id.in_(portion))
            rows = [dict(row) for row in (await connection.execute(asked)).mappings()]
            if rows:
                await connection.execute(FTS_REMOVE, rows)
                gone = documents.c.doc_id.in_([row["doc_id"] for row in rows])
                await connection.execute(sa.delete(documents).where(gone))
                await _count(connection, rows, -1)


def _document_rows(records: Iterable[Incident], first: int) -> list[dict[str, Any]]:
    return [_document_row(record, number) for number, record in enumerate(records, first)]


def _document_row(record: Incident, doc_id: int) -> dict[str, Any]:
    text = searchable_text(record)
    found, written = tokens(text), words(text)
    return {
        "doc_id": doc_id,
        "incident_id": record.incident_id,
        "visibility": record.source.visibility,
        "terms": " ".join(found),
        "words": to_json(Counter(written)),
        "length": len(found),
        "grams": sum(gram_count(word) for word in written),
    }


async def _count(connection: AsyncConnection, rows: Sequence[dict[str, Any]], sign: int) -> None:
    held: Counter[tuple[str, str]] = Counter()
    many: Counter[str] = Counter()
    length: Counter[str] = Counter()
    for row in rows:
        held.update((term, row["visibility"]) for term in set(row["terms"].split()))
        many[row["visibility"]] += 1
        length[row["visibility"]] += row["length"]
    in_terms = [{"term": term, "visibility": scope, "documents": sign * n} for (term, scope), n in held.items()]
    in_totals = [
        {"visibility": scope, "documents": sign * n, "length": sign * length[scope]} for scope, n in many.items()
    ]
    if in_terms:
        await connection.execute(_adding(terms, ("term", "visibility"), ("documents",)), in_terms)
    await connection.execute(_adding(totals, ("visibility",), ("documents", "length")), in_totals)
    if sign < 0:
        await connection.execute(sa.delete(terms).where(terms.c.documents <= 0))


def _adding(table: sa.Table, keys: Sequence[str], amounts: Sequence[str]) -> sqlite.Insert:
    statement = sqlite.insert(table)
    sums = {name: table.c[name] + statement.excluded[name] for name in amounts}
    return statement.on_conflict_do_update(index_elements=keys, set_=sums)
