"""Speed and size of the store with its index, at one size. Must not judge quality: texts are templated.

usage: python -m tests.bench.speed COUNT [--lexical] [--real]

Prints one JSON object. It runs in a process of its own, so that memory is this size's alone. CPU seconds are those of
all threads of the process; the vector of the question is made before the clock starts where the model is real.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bot.adapters.memory.embedding import OnnxEmbedder, find_model
from bot.adapters.store import Store, open_store
from bot.domain.access.visibility import Viewer
from bot.domain.incidents.record import Incident
from bot.domain.recall.query import Query, build_text_query
from bot.ports.embedding import Embedder, Vectors
from bot.ports.unit_of_work import Changes
from bot.workflows.recall.recall import RecallPrecedents
from tests.bench.multiply import multiply
from tests.bench.synthetic import SyntheticEmbedder
from tests.bench.texts import incidents, questions
from tests.fakes import FakeClock, FakeIds

PER_COMMIT = 500
QUESTIONS, RECORDED = 120, 60
# A larger store is this one's rows several times over: writing a million incidents takes a quarter of an hour.
WRITTEN_AT_MOST = 100_000
INDEX_TABLES = "index_%", "sqlite_autoindex_index_%"


@dataclass
class Remembering:
    """An embedder that keeps the vectors of questions, so that they can be made before the clock starts."""

    inner: Embedder
    kept: dict[str, Vectors] = field(default_factory=dict)
    cpu_s: list[float] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.inner.name

    async def embed_question(self, text: str) -> Vectors:
        if text not in self.kept:
            begun = time.process_time()
            self.kept[text] = await self.inner.embed_question(text)
            self.cpu_s.append(time.process_time() - begun)
        return self.kept[text]

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return await self.inner.embed_documents(texts)


def percentiles_ms(seconds: Sequence[float]) -> dict[str, float]:
    p50, p99 = np.percentile(seconds, [50, 99]) * 1000
    return {"p50": round(float(p50), 2), "p99": round(float(p99), 2)}


def resident_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def ingested(place: Path, count: int, embedder: Remembering | None, figures: dict[str, Any]) -> None:
    """Write `count` incidents as an import does, and make their vectors."""
    store = await open_store(f"sqlite+aiosqlite:///{place}", FakeClock(), FakeIds(), embedder=embedder)
    begun, batch = time.process_time(), list[Incident]()
    for record in incidents(count):
        batch.append(record)
        if len(batch) == PER_COMMIT:
            await keep(store, batch)
            batch = []
    await keep(store, batch)
    figures["ingest_per_cpu_s"] = round(count / (time.process_time() - begun))
    begun = time.process_time()
    while store.vectors and await store.vectors.fill_some(PER_COMMIT):
        pass
    if store.vectors:
        figures["vectors_per_cpu_s"] = round(count / max(1e-9, time.process_time() - begun))
    await store.close()


@asynccontextmanager
async def filled(
    place: Path, count: int, embedder: Remembering | None, figures: dict[str, Any]
) -> AsyncIterator[Store]:
    """A store of `count` incidents, opened anew after it was filled: what is measured starts cold."""
    url, copies = f"sqlite+aiosqlite:///{place}", max(1, count // WRITTEN_AT_MOST)
    await ingested(place, count // copies, embedder, figures)
    if copies > 1:
        await asyncio.to_thread(multiply, place, copies)
    begun = time.perf_counter()
    store = await open_store(url, FakeClock(), FakeIds(), embedder=embedder)
    await store.index.find_candidates(Query("first question after the start"), Viewer())
    figures["cold_start_ms"] = round((time.perf_counter() - begun) * 1000)
    yield store
    await store.close()


async def keep(store: Store, records: Sequence[Incident]) -> None:
    if records:
        ids = frozenset(record.incident_id for record in records)
        await store.incidents.commit(Changes(records=tuple(records), recallable=ids))


async def sizes(store: Store, count: int) -> dict[str, int]:
    """Bytes on disk per incident: of the index, and of everything."""
    async with store.database.read() as connection:
        index = "SELECT sum(pgsize) FROM dbstat WHERE name LIKE ? OR name LIKE ?"
        in_index = (await connection.exec_driver_sql(index, INDEX_TABLES)).scalar_one()
        everything = (await connection.exec_driver_sql("SELECT sum(pgsize) FROM dbstat")).scalar_one()
    return {"index_bytes": round(in_index / count), "all_bytes": round(everything / count)}


async def recalls(store: Store, count: int, embedder: Remembering | None) -> dict[str, Any]:
    """CPU and wall time of whole recalls: candidates, records, ranking."""
    recall, cpu, wall = RecallPrecedents(index=store.index), [], []
    asked = [build_text_query(text) for text in questions(QUESTIONS, count)]
    for number, query in enumerate([*asked[:5], *asked]):
        if embedder:
            await embedder.embed_question(query.text)
        begun, began = time.process_time(), time.perf_counter()
        await recall.precedents(query, Viewer())
        if number >= 5:  # the first ones warm the caches
            cpu.append(time.process_time() - begun)
            wall.append(time.perf_counter() - began)
    return {"recall_cpu_ms": percentiles_ms(cpu), "recall_wall_ms": percentiles_ms(wall)}


async def recorded(store: Store, count: int) -> dict[str, Any]:
    """From the start of the commit until it returns: the record is recallable then, and on the disk."""
    wall = []
    for number, record in enumerate(incidents(RECORDED, seed=99)):
        fresh = Incident(f"NEW-{number}", f"{record.title} fresh{number}", symptoms=record.symptoms)
        begun = time.perf_counter()
        await keep(store, [fresh])
        wall.append(time.perf_counter() - begun)
        found = await store.index.find_candidates(Query(f"fresh{number}"), Viewer()) if number % 20 == 0 else None
        assert found is None or fresh.incident_id in {candidate.incident.incident_id for candidate in found}
    return {"record_to_recallable_ms": percentiles_ms(wall)}


async def measure(count: int, embedder: Remembering | None) -> dict[str, Any]:
    figures: dict[str, Any] = {"incidents": count, "model": embedder.name if embedder else "none (lexical)"}
    with tempfile.TemporaryDirectory() as folder:
        async with filled(Path(folder) / "speed.db", count, embedder, figures) as store:
            figures |= await sizes(store, count)
            figures |= await recalls(store, count, embedder)
            figures |= await recorded(store, count)
    if embedder and isinstance(embedder.inner, OnnxEmbedder):
        figures["question_cpu_ms"] = percentiles_ms(embedder.cpu_s[1:])
        embedder.inner.close()
    return figures | {"resident_mb": round(resident_mb())}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int)
    parser.add_argument("--lexical", action="store_true")
    parser.add_argument("--real", action="store_true", help="embed with the model instead of synthetic vectors")
    given = parser.parse_args()
    model: Embedder = OnnxEmbedder(find_model()) if given.real else SyntheticEmbedder()
    print(json.dumps(asyncio.run(measure(given.count, None if given.lexical else Remembering(model)))))


if __name__ == "__main__":
    main()
