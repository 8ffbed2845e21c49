"""The index with vectors: made from words by a stand-in for the model, and by the model where it is installed."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa

from bot.adapters.memory.embedding import DOCUMENT_TOKENS, ModelFiles, OnnxEmbedder, find_model
from bot.adapters.store import Store, open_store
from bot.adapters.store.index import dense_scan, search
from bot.adapters.store.index.dense_scan import SignScan
from bot.adapters.store.index.tables import pending, signs, vectors
from bot.adapters.store.index.vectors import compute_cosines, compute_sign_bits, pack_vectors
from bot.domain.access.visibility import Viewer
from bot.domain.incidents.record import Incident, Source
from bot.domain.recall.query import OPERATOR, Query
from bot.domain.recall.ranking import Candidate
from bot.ports.embedding import Vectors
from bot.ports.errors import EmbeddingUnavailable
from bot.ports.unit_of_work import Changes
from tests.databases import fresh
from tests.fakes import FakeClock, FakeIds

MEANS = {"cash": "money", "funds": "money", "dead": "down", "gone": "down"}


@dataclass
class Synonyms:
    """A vector for each word, the same for words that mean the same; texts are the sum of their words."""

    name: str = "synonyms"
    down: bool = False
    asked: list[str] = field(default_factory=list)

    async def embed_question(self, text: str) -> Vectors:
        if self.down:
            raise EmbeddingUnavailable("the model is gone")
        return self._vector(text)

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return np.stack([await self.embed_question(text) for text in texts])

    def _vector(self, text: str) -> Vectors:
        words = [MEANS.get(word, word) for word in text.lower().split()]
        seeds = [np.random.default_rng(zlib.crc32(word.encode())) for word in words]
        total = np.sum([seed.standard_normal(384) for seed in seeds], axis=0).astype(np.float32)
        unit: Vectors = total / np.linalg.norm(total)
        return unit


def url(folder: Path) -> str:
    return fresh(folder / "test.db")


@pytest.fixture
def model() -> Synonyms:
    return Synonyms()


@pytest.fixture
async def store(tmp_path: Path, model: Synonyms) -> AsyncIterator[Store]:
    store = await open_store(url(tmp_path), FakeClock(), FakeIds(), embedder=model)
    yield store
    await store.close()


def incident(number: int, title: str, **other: object) -> Incident:
    return replace(Incident(f"INC-{number}", title), **other)  # type: ignore[arg-type]  # a test's shorthand


async def keep(store: Store, *records: Incident) -> None:
    await store.incidents.commit(Changes(records=records, recallable=frozenset(r.incident_id for r in records)))


async def fill(store: Store) -> None:
    assert store.vectors
    while await store.vectors.fill_some():
        pass


async def found(
    store: Store, text: str, viewer: Viewer = OPERATOR, exclude: frozenset[str] = frozenset()
) -> tuple[Candidate, ...]:
    return await store.index.find_candidates(Query(text, exclude=exclude), viewer)


def ids(candidates: Sequence[Candidate]) -> list[str]:
    return [c.incident.incident_id for c in candidates]


async def count(store: Store, table: sa.Table) -> int:
    async with store.database.read() as connection:
        return int((await connection.execute(sa.select(sa.func.count()).select_from(table))).scalar_one())


async def test_what_means_the_same_is_found_without_a_shared_word(store: Store) -> None:
    await keep(store, incident(1, "funds gone"), incident(2, "disk full"))
    await fill(store)
    best = (await found(store, "cash dead"))[0]
    assert best.incident.incident_id == "INC-1"
    assert best.score.bm25_share == 0
    assert best.score.cosine == pytest.approx(1, abs=0.01)


async def test_a_record_is_found_by_its_words_before_it_has_a_vector(store: Store) -> None:
    await keep(store, incident(1, "disk full"))
    await fill(store)
    await keep(store, incident(2, "disk broken"))
    candidates = {c.incident.incident_id: c.score for c in await found(store, "disk broken")}
    assert candidates["INC-1"].cosine is not None
    assert candidates["INC-2"].cosine is None
    assert candidates["INC-2"].chargram_share > 0.4
    await fill(store)
    fresh = {c.incident.incident_id: c.score for c in await found(store, "disk broken")}
    assert fresh["INC-2"].cosine == pytest.approx(1, abs=0.01)
    assert fresh["INC-2"].chargram_share == 0


async def test_while_many_have_no_vector_all_are_judged_by_words(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "WAITING_FEW", 1)
    await keep(store, incident(1, "disk full"))
    await fill(store)
    await keep(store, incident(2, "disk broken"), incident(3, "disk lost"))
    assert {c.score.cosine for c in await found(store, "disk")} == {None}


async def test_a_model_that_fails_leaves_words(store: Store, model: Synonyms) -> None:
    await keep(store, incident(1, "disk full"))
    await fill(store)
    model.down = True
    (only,) = await found(store, "disk")
    assert only.score.cosine is None


async def test_replaced_and_retracted_records_take_their_vectors_along(store: Store) -> None:
    await keep(store, incident(1, "funds gone"), incident(2, "disk full"))
    await fill(store)
    await keep(store, incident(1, "certificate expired"))
    await store.incidents.commit(Changes(retracted=("INC-2",)))
    await fill(store)
    assert (await count(store, vectors), await count(store, signs), await count(store, pending)) == (1, 1, 0)
    (only,) = await found(store, "certificate")
    assert only.incident.title == "certificate expired"
    assert 0.5 < (only.score.cosine or 0) < 1


async def test_equal_texts_are_embedded_once(store: Store, model: Synonyms) -> None:
    await keep(store, *(incident(n, f"disk {n} full") for n in range(40)))
    assert store.vectors
    assert await store.vectors.count_pending() == 40
    await fill(store)
    assert len(model.asked) < 20
    asked = len(model.asked)
    await keep(store, incident(99, "Disk 7 full"), incident(3, "disk 3  full", lesson=None))
    assert await store.vectors.count_pending() == 0
    assert len(model.asked) == asked
    assert {c.score.cosine is None for c in await found(store, "disk")} == {False}


async def test_a_vector_that_comes_too_late_is_dropped(store: Store, model: Synonyms) -> None:
    await keep(store, incident(1, "funds gone"))

    class Slow(Synonyms):
        async def embed_documents(self, texts: Sequence[str]) -> Vectors:
            await keep(store, incident(1, "certificate expired"))
            return await super().embed_documents(texts)

    assert store.vectors
    await replace(store.vectors, embedder=Slow()).fill_some()
    assert await count(store, vectors) == 0
    await fill(store)
    assert (await found(store, "certificate expired"))[0].score.cosine == pytest.approx(1, abs=0.01)


async def test_what_a_viewer_may_not_see_is_left_out_before_the_nearest_are_taken(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "SCANNED", 2)
    hidden = [incident(n, f"funds {'x' * n}", source=Source(visibility="private:G1")) for n in range(5)]
    await keep(store, *hidden, incident(7, "money money mostly"), incident(8, "disk"))
    await fill(store)
    assert ids(await found(store, "cash", Viewer()))[0] == "INC-7"
    assert len(ids(await found(store, "cash", Viewer(frozenset({"private:G1"}))))) == 2
    assert "INC-7" not in ids(await found(store, "cash", exclude=frozenset({"INC-7"})))


async def test_another_process_sees_new_vectors_and_another_model_begins_anew(store: Store, tmp_path: Path) -> None:
    other = await open_store(url(tmp_path), FakeClock(), FakeIds(), embedder=Synonyms())
    assert ids(await found(other, "cash")) == []
    await keep(store, incident(1, "funds gone"))
    await fill(store)
    assert ids(await found(other, "cash")) == ["INC-1"]
    await other.close()
    plain = await open_store(url(tmp_path), FakeClock(), FakeIds())
    assert await count(plain, vectors) == 1
    await plain.close()
    newer = await open_store(url(tmp_path), FakeClock(), FakeIds(), embedder=Synonyms("newer"))
    assert (await count(newer, vectors), await count(newer, pending)) == (0, 1)
    await fill(newer)
    assert ids(await found(newer, "cash")) == ids(await found(store, "cash")) == ["INC-1"]
    await newer.close()


async def test_rows_of_what_went_away_are_forgotten_when_they_are_many(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dense_scan, "GONE_AT_LEAST", 2)
    await keep(store, *(incident(n, f"disk {'x' * n}") for n in range(6)))
    await fill(store)
    await found(store, "disk")
    assert store.index.scan.count == 6
    await store.incidents.commit(Changes(retracted=tuple(f"INC-{n}" for n in range(5))))
    assert ids(await found(store, "disk")) == ["INC-5"]
    assert store.index.scan.count == 1


def test_the_nearest_by_signs_are_those_of_a_full_comparison() -> None:
    made = np.random.default_rng(1).standard_normal((3_000, 384)).astype(np.float32)
    held = dense_scan._create_empty()
    rows = [(n + 1, 10 * n, "public", compute_sign_bits(vector)) for n, vector in enumerate(made)]
    dense_scan._add_rows(held, rows[:100])  # type: ignore[arg-type]  # tuples as the database gives them
    dense_scan._add_rows(held, rows[100:])  # type: ignore[arg-type]  # tuples as the database gives them
    scan = SignScan()
    scan._held = held
    question = made[1_234] + 0.3 * made[77]
    expected = np.argsort(((made > 0) != (question > 0)).sum(axis=1), kind="stable")[:50] * 10
    assert scan.find_nearest(question, OPERATOR, 50) == expected.tolist()
    assert len(scan.find_nearest(question, OPERATOR, 9_000)) == 3_000
    assert scan.find_nearest(question, Viewer(frozenset()), 50) == []


def test_packed_vectors_keep_the_cosine() -> None:
    made = np.random.default_rng(2).standard_normal((50, 384)).astype(np.float32)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    assert len(pack_vectors(made[0])) == 388
    assert compute_cosines(made[0], [pack_vectors(v) for v in made]) == pytest.approx(made @ made[0], abs=0.01)
    assert compute_cosines(made[0], [pack_vectors(np.zeros(384, np.float32))]) == pytest.approx([0])


# the model


async def test_the_installed_model_knows_what_means_the_same() -> None:
    embedder = OnnxEmbedder(find_model())
    one, same, other = await embedder.embed_documents(
        ["the server is out of disk space", "no storage left", "bread recipe"]
    )
    asked = await embedder.embed_question("the server is out of disk space")
    embedder.close()
    assert asked @ one == pytest.approx(1, abs=1e-5)
    assert one @ same > 0.3 > one @ other
    assert one.shape == (384,)


async def test_long_texts_are_cut_and_none_are_fine() -> None:
    embedder = OnnxEmbedder(find_model())
    long, longer = await embedder.embed_documents(["disk " * DOCUMENT_TOKENS, "disk " * 4_000 + "bread"])
    assert long == pytest.approx(longer)
    assert (await embedder.embed_documents([])).size == 0
    embedder.close()


async def test_a_model_that_cannot_be_loaded_is_said_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "model.onnx").write_bytes(b"no model")
    (tmp_path / "tokenizer.json").write_text("{}")
    embedder = OnnxEmbedder(find_model(str(tmp_path)))
    for _ in range(3):
        with pytest.raises(EmbeddingUnavailable, match="cannot be loaded"):
            await embedder.embed_question("x")
    embedder.close()
    said = capsys.readouterr()
    assert (said.out + said.err).count("no embeddings") == 1


async def test_weights_other_than_the_released_ones_are_refused(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(b"something else")
    files = ModelFiles(tmp_path / "model.onnx", find_model().tokenizer, "x", sha256="0" * 64)
    with pytest.raises(EmbeddingUnavailable, match="not the model that was released"):
        await OnnxEmbedder(files).embed_question("x")


def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EmbeddingUnavailable, match=r"model\.onnx is missing"):
        find_model(str(tmp_path))
    monkeypatch.setattr("bot.adapters.memory.embedding.LIBRARIES", ("onnxruntime", "no_such_library"))
    with pytest.raises(EmbeddingUnavailable, match="no_such_library not installed"):
        find_model()
