"""Writing the index: documents, their full-text rows, and how many documents each term and name occurs in.

A document gets the vector of an equal text at once, where there is one; otherwise it waits for one in `index_pending`.
Must not open transactions: it writes into the one that writes the records.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.adapters.store.database.statements import ColumnValues, split_batches
from bot.adapters.store.index.scoring import format_word_counts
from bot.adapters.store.index.tables import (
    FTS_ADD,
    FTS_REMOVE,
    documents,
    names,
    pending,
    signs,
    terms,
    totals,
    vectors,
)
from bot.domain.incidents.record import Incident
from bot.domain.text.tokens import count_grams, hash_form, split_words, tokenize

IDS_PER_STATEMENT = 500
AT_ONCE = 8
NAMED = ("vendor", "service", "region")
_ALIKE = sa.text(
    """SELECT d.form, v.vector, s.signs FROM (
         SELECT d.form, min(v.doc_id) AS doc_id FROM index_documents d JOIN index_vectors v ON v.doc_id = d.doc_id
         WHERE d.form IN (SELECT value FROM json_each(:forms)) GROUP BY d.form
       ) AS d JOIN index_vectors v ON v.doc_id = d.doc_id JOIN index_signs s ON s.doc_id = d.doc_id"""
)
_HELD = sa.text("SELECT * FROM index_documents WHERE incident_id IN (SELECT value FROM json_each(:ids))")
LAST_NUMBER = sa.text("SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'index_documents'), 0)")


def build_searchable_text(record: Incident) -> str:
    """Return the text that is searched of a record: what it looked like and why; not what was tried, which would match
    checks."""
    parts = [
        record.title,
        record.service,
        record.vendor,
        record.region,
        *record.symptoms,
        *(text for _, text in record.list_texts()),
        *(alert.title for alert in record.alerts if alert.title != record.title),
    ]
    return "\n".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class SqliteIndexWriter:
    """Keeps the index in step with the records."""

    async def put(self, connection: AsyncConnection, records: Sequence[Incident]) -> None:
        """Index these records, replacing what was indexed under their ids."""
        if not records:
            return
        first = (await connection.execute(LAST_NUMBER)).scalar_one() + 1
        # many texts are cut into tokens in a thread, to keep the event loop free; work done at once is in one already
        if len(records) > AT_ONCE and isinstance(connection, AsyncConnection):
            rows = await asyncio.to_thread(_build_document_rows, records, first)
        else:
            rows = _build_document_rows(records, first)
        alike = await _find_equal_vectors(connection, {row["form"] for row in rows})
        await self.drop(connection, [record.incident_id for record in records])
        await connection.execute(_INSERT, rows)
        await connection.execute(FTS_ADD, rows)
        await _count_rows(connection, rows, 1)
        known = [row | alike[row["form"]] for row in rows if row["form"] in alike]
        await store_vectors(connection, known)
        if waiting := [{"doc_id": row["doc_id"]} for row in rows if row["form"] not in alike]:
            await connection.execute(_WAIT, waiting)

    async def drop(self, connection: AsyncConnection, incident_ids: Sequence[str]) -> None:
        """Drop these ids from the index; unknown ones are fine."""
        for portion in split_batches(incident_ids, IDS_PER_STATEMENT):
            held = await connection.execute(_HELD, {"ids": json.dumps(list(portion))})
            rows = [dict(row) for row in held.mappings()]
            if rows:
                await connection.execute(FTS_REMOVE, rows)
                for table in (documents, vectors, signs, pending):
                    gone = table.c.doc_id.in_([row["doc_id"] for row in rows])
                    await connection.execute(sa.delete(table).where(gone))
                await _count_rows(connection, rows, -1)


async def store_vectors(connection: AsyncConnection, rows: Sequence[ColumnValues]) -> None:
    """Store vectors; each row has `doc_id`, `visibility`, `vector`, `signs`."""
    if rows:
        await connection.execute(sa.insert(vectors), [{"doc_id": r["doc_id"], "vector": r["vector"]} for r in rows])
        kept = [{name: r[name] for name in ("doc_id", "visibility", "signs")} for r in rows]
        await connection.execute(sa.insert(signs), kept)


async def _find_equal_vectors(connection: AsyncConnection, forms: set[int]) -> dict[int, dict[str, bytes]]:
    """Return the vectors of documents whose text has one of these forms."""
    rows = await connection.execute(_ALIKE, {"forms": json.dumps(sorted(forms))})
    return {row.form: {"vector": row.vector, "signs": row.signs} for row in rows}


def _build_document_rows(records: Iterable[Incident], first: int) -> list[ColumnValues]:
    return [_build_document_row(record, number) for number, record in enumerate(records, first)]


def _build_document_row(record: Incident, doc_id: int) -> ColumnValues:
    text = build_searchable_text(record)
    found, written = tokenize(text), split_words(text)
    return {
        "doc_id": doc_id,
        "incident_id": record.incident_id,
        "visibility": record.source.visibility,
        "terms": " ".join(found),
        "words": format_word_counts(written),
        "length": len(found),
        "grams": sum(count_grams(word) for word in written),
        "form": hash_form(text),
        "vendor": record.vendor,
        "service": record.service,
        "region": record.region,
    }


async def _count_rows(connection: AsyncConnection, rows: Sequence[ColumnValues], sign: int) -> None:
    held: Counter[tuple[str, str]] = Counter()
    named: Counter[tuple[str, str]] = Counter()
    many: Counter[str] = Counter()
    length: Counter[str] = Counter()
    for row in rows:
        held.update((term, row["visibility"]) for term in set(row["terms"].split()))
        named.update((kind, row[kind]) for kind in NAMED if row[kind])
        many[row["visibility"]] += 1
        length[row["visibility"]] += row["length"]
    in_terms = [{"term": term, "visibility": scope, "documents": sign * n} for (term, scope), n in held.items()]
    in_names = [{"kind": kind, "name": name, "documents": sign * n} for (kind, name), n in named.items()]
    in_totals = [
        {"visibility": scope, "documents": sign * n, "length": sign * length[scope]} for scope, n in many.items()
    ]
    await _run_counted(connection, _ADD_TERMS, in_terms)
    await _run_counted(connection, _ADD_NAMES, in_names)
    await _run_counted(connection, _ADD_TOTALS, in_totals)
    if sign < 0:
        # only what was counted down can be gone; a search through all terms would take long in a large store
        await _run_counted(connection, _DROP_TERMS, in_terms)
        await _run_counted(connection, _DROP_NAMES, in_names)


async def _run_counted(connection: AsyncConnection, statement: sa.Executable, counted: Sequence[ColumnValues]) -> None:
    if counted:
        await connection.execute(statement, counted)


def _delete_unused(table: sa.Table) -> sa.Delete:
    keys = [column == sa.bindparam(f"{column.name}") for column in table.primary_key.columns]
    return sa.delete(table).where(*keys, table.c.documents <= 0)


def _build_upsert(table: sa.Table, keys: Sequence[str], amounts: Sequence[str]) -> sqlite.Insert:
    statement = sqlite.insert(table)
    sums = {name: table.c[name] + statement.excluded[name] for name in amounts}
    return statement.on_conflict_do_update(index_elements=keys, set_=sums)


# Made once: making a statement takes longer than executing it.
_ADD_TERMS = _build_upsert(terms, ("term", "visibility"), ("documents",))
_ADD_NAMES = _build_upsert(names, ("kind", "name"), ("documents",))
_ADD_TOTALS = _build_upsert(totals, ("visibility",), ("documents", "length"))
_INSERT, _WAIT = sa.insert(documents), sa.insert(pending)
_DROP_TERMS, _DROP_NAMES = _delete_unused(terms), _delete_unused(names)
