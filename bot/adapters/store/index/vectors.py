"""Vectors in the index: how they are stored, and making those that are missing. Must not search.

A vector is stored twice: as 8-bit numbers with their scale, for exact cosines of a few, and as one bit a dimension (its
sign), for a scan over all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.adapters.store.database.connection import Database
from bot.adapters.store.database.json_bodies import read_record_json
from bot.adapters.store.database.statements import ColumnValues
from bot.adapters.store.database.tables import records
from bot.adapters.store.index.tables import documents, pending
from bot.adapters.store.index.writer import build_searchable_text, store_vectors
from bot.ports.embedding import Embedder, Vectors

SCALE_BYTES = 4
BATCH = 16


def pack_vectors(vector: Vectors) -> bytes:
    """Return each vector as a scale and 8-bit numbers."""
    scale = np.float32(max(float(np.abs(vector).max()), 1e-12) / 127)
    return bytes(scale.tobytes() + np.rint(vector / scale).astype(np.int8).tobytes())


def compute_sign_bits(vector: Vectors) -> bytes:
    """Return one bit a dimension: whether the number is positive."""
    return bytes(np.packbits(vector > 0))


def compute_cosines(question: Vectors, kept: Sequence[bytes]) -> npt.NDArray[np.float32]:
    """Return the cosine of the question with each packed vector."""
    rows = np.frombuffer(b"".join(kept), dtype=np.uint8).reshape(len(kept), -1)
    scales = np.ascontiguousarray(rows[:, :SCALE_BYTES]).view(np.float32)[:, 0]
    numbers = rows[:, SCALE_BYTES:].view(np.int8).astype(np.float32)
    # Rounding changes a vector's length a little; the cosine is of the direction.
    lengths = np.sqrt(np.einsum("ij,ij->i", numbers, numbers)) * scales
    # equal vectors must have equal cosines: a product's last bits depend on the place of the row
    found: npt.NDArray[np.float32] = np.round((numbers @ question) * scales / np.maximum(lengths, 1e-12), 5)
    return found


@dataclass(frozen=True, slots=True)
class VectorFiller:
    """Makes documents' missing vectors, a few at a time, while searching goes on. One filler works at a time."""

    database: Database
    records_in: Database
    embedder: Embedder
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def count_pending(self) -> int:
        """Return how many documents have no vector yet. Raises StoreUnavailable."""
        async with self.database.read() as connection:
            return int((await connection.execute(sa.select(sa.func.count()).select_from(pending))).scalar_one())

    async def fill_some(self, limit: int = BATCH) -> int:
        """Make at most `limit` vectors and return how many documents got one (equal texts share one) or were deleted
        meanwhile; 0 where nothing waits.

        Raises StoreUnavailable, EmbeddingUnavailable.
        """
        async with self._turn:
            async with self.database.read() as connection:
                wanted = await _select_pending(connection, limit)
            if not wanted:
                return 0
            texts = await self._read_texts(list(wanted.values()))
            held = {number: texts[incident_id] for number, incident_id in wanted.items() if incident_id in texts}
            made = await self.embedder.embed_documents(list(held.values()))
            async with self.database.write() as connection:
                await _store_vectors(connection, dict(zip(held, made, strict=True)))
                # a document without a record is about to be dropped; it must not be asked for again and again
                await connection.execute(sa.delete(pending).where(pending.c.doc_id.in_(list(wanted))))
            return len(wanted)

    async def _read_texts(self, incident_ids: Sequence[str]) -> dict[str, str]:
        asked = sa.select(records.c.incident_id, records.c.body).where(records.c.incident_id.in_(incident_ids))
        async with self.records_in.read() as connection:
            found = (await connection.execute(asked)).all()
        return {row.incident_id: build_searchable_text(read_record_json(row.body)) for row in found}


async def _select_pending(connection: AsyncConnection, limit: int) -> dict[int, str]:
    """Select the newest first: what was just recorded is what people ask for."""
    asked = sa.select(documents.c.doc_id, documents.c.incident_id)
    asked = asked.join(pending, pending.c.doc_id == documents.c.doc_id).order_by(pending.c.doc_id.desc()).limit(limit)
    return {row.doc_id: row.incident_id for row in await connection.execute(asked)}


async def _store_vectors(connection: AsyncConnection, made: dict[int, Vectors]) -> None:
    """Store the vectors for these documents and for all that wait with an equal text, where they still exist."""
    own = sa.select(documents.c.doc_id, documents.c.form).where(documents.c.doc_id.in_(list(made)))
    by_form = {row.form: made[row.doc_id] for row in await connection.execute(own)}
    alike = sa.select(documents.c.doc_id, documents.c.form, documents.c.visibility)
    alike = alike.join(pending, pending.c.doc_id == documents.c.doc_id).where(documents.c.form.in_(list(by_form)))
    rows: list[ColumnValues] = [dict(row) for row in (await connection.execute(alike)).mappings()]
    kept = {
        form: {"vector": pack_vectors(vector), "signs": compute_sign_bits(vector)} for form, vector in by_form.items()
    }
    await store_vectors(connection, [row | kept[row["form"]] for row in rows])
    await connection.execute(sa.delete(pending).where(pending.c.doc_id.in_([row["doc_id"] for row in rows])))
