"""Other engines on the same texts and vectors. Must not import the product: it may run in an environment of its own.

usage: python peers.py FOLDER    with texts.json, questions.json, vectors.npy and asked.npy; prints one JSON object

Engines that are not installed are left out. Each figure: CPU milliseconds a question, and how long one more document
takes until it is found.
"""

from __future__ import annotations

import importlib.util
import json
import sqlite3
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

TOP = 50
Search = Callable[[int], object]
Add = Callable[[], object]


def installed(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def words(text: str) -> list[str]:
    return text.lower().split()


def rank_bm25(texts: list[str], asked: list[str], _vectors: Any, _asked: Any) -> tuple[Search, Add]:
    from rank_bm25 import BM25Okapi  # type: ignore[import-not-found,unused-ignore]  # optional peer

    held = BM25Okapi([words(text) for text in texts])
    return (
        lambda n: np.argsort(held.get_scores(words(asked[n])))[-TOP:],
        lambda: BM25Okapi([words(text) for text in [*texts, "one more"]]),
    )


def bm25s(texts: list[str], asked: list[str], _vectors: Any, _asked: Any) -> tuple[Search, Add]:
    import bm25s as engine  # type: ignore[import-not-found,unused-ignore]  # optional peer

    def built(corpus: list[str]) -> Any:
        made = engine.BM25()
        made.index(engine.tokenize(corpus, show_progress=False), show_progress=False)
        return made

    held = built(texts)

    def search(n: int) -> object:
        return held.retrieve(engine.tokenize(asked[n], show_progress=False), k=TOP, show_progress=False)

    return search, lambda: built([*texts, "one more"])


def chromadb(texts: list[str], _asked: list[str], vectors: Any, asked: Any) -> tuple[Search, Add]:
    import chromadb as engine  # type: ignore[import-not-found,unused-ignore]  # optional peer

    held = engine.EphemeralClient().create_collection("peer", metadata={"hnsw:space": "cosine"})
    for start in range(0, len(texts), 2_000):
        ids = [str(n) for n in range(start, min(start + 2_000, len(texts)))]
        held.add(ids=ids, embeddings=vectors[start : start + 2_000])
    return (
        lambda n: held.query(query_embeddings=asked[n : n + 1], n_results=TOP),
        lambda: held.add(ids=["one more"], embeddings=vectors[:1]),
    )


def naive_fts5(texts: list[str], asked: list[str], _vectors: Any, _asked: Any) -> tuple[Search, Add]:
    held = sqlite3.connect(":memory:")
    held.execute("CREATE VIRTUAL TABLE t USING fts5(text, tokenize='porter unicode61')")
    held.executemany("INSERT INTO t VALUES (?)", [(text,) for text in texts])

    def search(n: int) -> object:
        said = {"".join(c for c in word if c.isalnum()) for word in words(asked[n])} - {""}
        expression = " OR ".join(f'"{word}"' for word in sorted(said))
        return held.execute("SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT ?", (expression, TOP)).fetchall()

    return search, lambda: held.execute("INSERT INTO t VALUES ('one more')")


# name, package, largest store it is measured with
PEERS: tuple[tuple[str, str, int, Callable[..., tuple[Search, Add]]], ...] = (
    ("rank_bm25", "rank_bm25", 10_000, rank_bm25),
    ("bm25s", "bm25s", 10_000, bm25s),
    ("chromadb", "chromadb", 10_000, chromadb),
    ("naive FTS5", "sqlite3", 100_000, naive_fts5),
)


def times_ms(search: Search, count: int) -> dict[str, float]:
    search(0)
    spent = []
    for n in range(count):
        begun = time.process_time()
        search(n)
        spent.append(time.process_time() - begun)
    p50, p99 = np.percentile(spent, [50, 99]) * 1000
    return {"p50": round(float(p50), 2), "p99": round(float(p99), 2)}


def main(folder: Path) -> None:
    texts: list[str] = json.loads((folder / "texts.json").read_text(encoding="utf-8"))
    asked: list[str] = json.loads((folder / "questions.json").read_text(encoding="utf-8"))
    vectors, asked_vectors = np.load(folder / "vectors.npy"), np.load(folder / "asked.npy")
    found: dict[str, Any] = {}
    for name, package, largest, build in PEERS:
        if installed(package) and len(texts) <= largest:
            search, add = build(texts, asked, vectors, asked_vectors)
            figures: dict[str, Any] = {"cpu_ms": times_ms(search, len(asked))}
            begun = time.perf_counter()
            add()
            found[name] = figures | {"add_ms": round((time.perf_counter() - begun) * 1000, 2)}
    print(json.dumps(found))


def arguments(given: Sequence[str]) -> Path:
    if len(given) != 2:
        sys.exit(__doc__)
    return Path(given[1])


if __name__ == "__main__":
    main(arguments(sys.argv))
