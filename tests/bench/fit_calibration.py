"""Fit the weights of `bot.domain.recall.ranking.Calibration` on retrieval sets, for either mode. Must not be run by the tests.

usage: python -m tests.bench.fit_calibration SETS_DIR [--lexical]

A set is a folder with `store.jsonl` ({"id", "title", "text"}) and `queries.jsonl` ({"id", "text", "relevant", "exclude"}).
An item is a query with one of its five best candidates; every other query loses its true documents, so that the
probability also learns what it looks like when nothing true is there. Sets without any relevant document are never
fitted on: they are reported only. Each family of sets (those that share a store) is also judged by what the others
taught.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bot.adapters.memory.embedding import OnnxEmbedder, find_model
from bot.adapters.store import Store, open_store
from bot.domain.recall.query import OPERATOR, build_text_query
from bot.domain.recall.ranking import HYBRID, LEXICAL, Candidate, fuse_score, measure_background
from bot.ports.unit_of_work import Changes
from bot.records.incident_json import read_record
from tests.fakes import FakeClock, FakeIds

TOP = 5
# What is weighed in either mode. With vectors words and meaning are weighed against each other by `fused` alone: how
# much of either orders best is measured by rank, over all sets; a probability is no measure of that.
FEATURES = {
    "hybrid": ("fused", "background"),
    "lexical": ("bm25_share", "bm25_mass", "chargram_share", "background"),
}
# Where the weights are drawn to, weakly (intercept first): with few families a fit may run far off.
START = {"hybrid": (-6.0, 4.0, 5.0), "lexical": (-4.43, 0.51, 2.09, 1.37, 4.0)}
PULL = 0.0003
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Item:
    """One query with one candidate: features, whether it is a true one, and which query it belongs to."""

    features: tuple[float, ...]
    true: bool
    query: str


@dataclass(frozen=True)
class Family:
    """Sets that share a store are no test of each other."""

    key: str
    items: dict[str, list[Item]]


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def features_of(candidate: Candidate, background: float) -> tuple[float, ...]:
    """As `rank` sees them."""
    score, distance = candidate.score, fuse_score(candidate.score) - background
    if score.cosine is not None:
        return (fuse_score(score), distance)
    return (score.bm25_share, score.bm25_mass, score.chargram_share, distance)


def store_key(folder: Path) -> str:
    """Sets with equal stores have equal keys."""
    return hashlib.sha256((folder / "store.jsonl").read_bytes()).hexdigest()


async def filled_store(folder: Path, directory: Path, embedder: OnnxEmbedder | None) -> Store:
    store = await open_store(f"sqlite+aiosqlite:///{directory}/fit.db", FakeClock(), FakeIds(), embedder=embedder)
    if await store.index.count_records(OPERATOR):
        return store
    records = tuple(
        read_record({"incident_id": d["id"], "title": title_of(d), "symptoms": [d["text"]]})
        for d in rows(folder / "store.jsonl")
    )
    await store.incidents.commit(Changes(records=records, recallable=frozenset(r.incident_id for r in records)))
    while store.vectors and await store.vectors.fill_some():
        pass
    return store


async def items_of(folder: Path, store: Store) -> list[Item]:
    """The items of one set."""
    found = []
    for number, asked in enumerate(rows(folder / "queries.jsonl")):
        true = frozenset(asked["relevant"])
        left_out = frozenset(asked.get("exclude", ())) | (true if number % 2 else frozenset())
        candidates = await store.index.find_candidates(build_text_query(asked["text"], exclude=left_out), OPERATOR)
        background = measure_background(candidates)
        for candidate in candidates[:TOP]:
            right = candidate.incident.incident_id in true
            found.append(Item(features_of(candidate, background), right, f"{folder.name}/{number}"))
    return found


def title_of(document: dict[str, Any]) -> str:
    return str(document.get("title") or document["text"].splitlines()[0][:200])


def fit(items: list[Item], mode: str) -> Floats:
    """Logistic regression drawn towards the start; a feature that would count against a candidate is left out."""
    x, y = matrix(items), np.array([item.true for item in items], dtype=float)
    start, used = np.array(START[mode]), list(range(x.shape[1]))
    while True:
        weights = newton(x[:, used], y, start[used])
        negative = [column for column, weight in zip(used[1:], weights[1:], strict=True) if weight < 0]
        if not negative:
            full = np.zeros(x.shape[1])
            full[used] = weights
            return full
        used.remove(negative[0])


def newton(x: Floats, y: Floats, start: Floats) -> Floats:
    weights = start.copy()
    for _ in range(100):
        p = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        gradient = x.T @ (p - y) / len(y) + PULL * (weights - start)
        hessian = (x * (p * (1 - p))[:, None]).T @ x / len(y) + PULL * np.eye(x.shape[1])
        weights = weights - 0.5 * np.linalg.solve(hessian, gradient)
    return weights


def matrix(items: list[Item]) -> Floats:
    return np.array([(1.0, *item.features) for item in items])


def report(name: str, items: list[Item], weights: Floats) -> None:
    """What would be shown of these items at possible (.2) and strong (.5), and how much of it is true."""
    p = 1 / (1 + np.exp(-matrix(items) @ weights))
    true = np.array([item.true for item in items])
    told = np.clip(p, 1e-9, 1 - 1e-9)
    loss = -np.where(true, np.log(told), np.log(1 - told)).mean()
    line = f"{name:52} log loss {loss:.3f}"
    for bound in (0.2, 0.5):
        shown = p >= bound
        queries = {item.query for item, seen in zip(items, shown, strict=True) if seen}
        share = len(queries) / len({item.query for item in items})
        precision = true[shown].mean() if shown.any() else float("nan")
        line += f"  >={bound}: queries {share:.3f}, precision {precision:.2f}"
    print(line, flush=True)


def current(mode: str) -> Floats:
    if mode == "hybrid":
        return np.array([HYBRID.intercept, HYBRID.cosine, HYBRID.background])
    return np.array([LEXICAL.intercept, *(getattr(LEXICAL, name) for name in FEATURES[mode])])


async def families(folders: Iterable[Path], embedder: OnnxEmbedder | None) -> list[Family]:
    by_store: dict[str, list[Path]] = {}
    for folder in folders:
        by_store.setdefault(store_key(folder), []).append(folder)
    found = []
    for key, shared in by_store.items():
        with tempfile.TemporaryDirectory() as directory:
            store = await filled_store(shared[0], Path(directory), embedder)
            found.append(Family(key, {folder.name: await items_of(folder, store) for folder in shared}))
            await store.close()
    return found


def learnt(chosen: Iterable[Family]) -> list[Item]:
    """Sets of which nothing is relevant teach nothing here, for they are what the figures are judged by."""
    return [i for family in chosen for items in family.items.values() if any(i.true for i in items) for i in items]


async def main(folders: list[Path], mode: str) -> None:
    embedder = OnnxEmbedder(find_model()) if mode == "hybrid" else None
    found = await families(folders, embedder)
    weights = fit(learnt(found), mode)
    for family in found:
        others = learnt(other for other in found if other is not family)
        for name, items in family.items.items():
            report(f"{name}, weights now", items, current(mode))
            report(f"{name}, fitted on other stores only", items, fit(others, mode) if others else weights)
            report(f"{name}, fitted on all", items, weights)
    print("all:", {n: round(float(w), 2) for n, w in zip(("intercept", *FEATURES[mode]), weights, strict=True)})


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("sets", type=Path)
    parser.add_argument("--lexical", action="store_true")
    given = parser.parse_args()
    asyncio.run(
        main(
            sorted(path.parent for path in given.sets.glob("*/queries.jsonl")), "lexical" if given.lexical else "hybrid"
        )
    )
