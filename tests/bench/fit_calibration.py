"""Fit the lexical weights of `bot.domain.ranking.Calibration` on retrieval sets. Must not be run by the tests.

usage: python -m tests.bench.fit_calibration SETS_DIR

A set is a folder with `store.jsonl` ({"id", "title", "text"}) and `queries.jsonl` ({"id", "text", "relevant", "exclude"}).
An item is a query with one of its five best candidates; every other query loses its true documents, so that the
probability also learns what it looks like when nothing true is there. Sets without any relevant document are never
fitted on: they are reported only. Each set is also fitted without, and judged by what the others taught.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bot.adapters.store import open_store
from bot.adapters.store.scoring import combined
from bot.domain.query import OPERATOR, query_from_text
from bot.domain.ranking import BACKGROUND_RANKS, LEXICAL, Candidate
from bot.ports.records import read_record
from bot.ports.store import Changes
from tests.fakes import FakeClock, FakeIds

TOP = 5
FEATURES = ("bm25_share", "bm25_mass", "chargram_share", "background")
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Item:
    """One query with one candidate: features, whether it is a true one, and which query it belongs to."""

    features: tuple[float, ...]
    true: bool
    query: str


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def features_of(candidate: Candidate, candidates: Iterable[Candidate]) -> tuple[float, ...]:
    """As `rank` sees them."""
    fused = sorted((combined(c.score) for c in candidates), reverse=True)[BACKGROUND_RANKS]
    background = sum(fused) / (BACKGROUND_RANKS.stop - BACKGROUND_RANKS.start)
    score = candidate.score
    return (score.bm25_share, score.bm25_mass, score.chargram_share, combined(score) - background)


async def items_of(folder: Path) -> list[Item]:
    """The items of one set."""
    found = []
    with tempfile.TemporaryDirectory() as directory:
        store = await open_store(f"sqlite+aiosqlite:///{directory}/fit.db", FakeClock(), FakeIds())
        records = tuple(
            read_record({"incident_id": d["id"], "title": title_of(d), "symptoms": [d["text"]]})
            for d in rows(folder / "store.jsonl")
        )
        await store.incidents.commit(Changes(records=records, recallable=frozenset(r.incident_id for r in records)))
        for number, asked in enumerate(rows(folder / "queries.jsonl")):
            true = frozenset(asked["relevant"])
            left_out = frozenset(asked.get("exclude", ())) | (true if number % 2 else frozenset())
            candidates = await store.index.candidates(query_from_text(asked["text"], exclude=left_out), OPERATOR)
            for candidate in candidates[:TOP]:
                right = candidate.incident.incident_id in true
                found += [Item(features_of(candidate, candidates), right, f"{number}")]
        await store.close()
    return found


def title_of(document: dict[str, Any]) -> str:
    return str(document.get("title") or document["text"].splitlines()[0][:200])


def fit(items: list[Item], ridge: float = 1e-3) -> Floats:
    """Logistic regression by Newton steps; a feature that would count against a candidate is left out."""
    x, y = matrix(items), np.array([item.true for item in items], dtype=float)
    used = list(range(x.shape[1]))
    while True:
        weights = newton(x[:, used], y, ridge)
        negative = [column for column, weight in zip(used[1:], weights[1:], strict=True) if weight < 0]
        if not negative:
            full = np.zeros(x.shape[1])
            full[used] = weights
            return full
        used.remove(negative[0])


def newton(x: Floats, y: Floats, ridge: float) -> Floats:
    weights = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ weights))
        gradient = x.T @ (p - y) / len(y) + ridge * weights
        hessian = (x * (p * (1 - p))[:, None]).T @ x / len(y) + ridge * np.eye(x.shape[1])
        weights = weights - np.linalg.solve(hessian, gradient)
    return weights


def matrix(items: list[Item]) -> Floats:
    return np.array([(1.0, *item.features) for item in items])


def report(name: str, items: list[Item], weights: Floats) -> None:
    """What would be shown of these items at possible (.2) and strong (.5), and how much of it is true."""
    p = 1 / (1 + np.exp(-matrix(items) @ weights))
    true = np.array([item.true for item in items])
    line = f"{name:44}"
    for bound in (0.2, 0.5):
        shown = p >= bound
        queries = {item.query for item, seen in zip(items, shown, strict=True) if seen}
        share = len(queries) / len({item.query for item in items})
        precision = true[shown].mean() if shown.any() else float("nan")
        line += f"  >={bound}: queries {share:.3f}, precision {precision:.2f}"
    print(line)


def current() -> Floats:
    return np.array([LEXICAL.intercept, *(getattr(LEXICAL, name) for name in FEATURES)])


async def main(folders: list[Path]) -> None:
    sets = {folder.name: await items_of(folder) for folder in folders}
    answerable = {name: items for name, items in sets.items() if any(item.true for item in items)}
    for name, items in sets.items():
        others = [item for other, kept in answerable.items() if other != name for item in kept]
        report(f"{name}, weights now", items, current())
        report(f"{name}, fitted on the others", items, fit(others))
    weights = fit([item for items in answerable.values() for item in items])
    print("all:", {n: round(float(w), 3) for n, w in zip(("intercept", *FEATURES), weights, strict=True)})


if __name__ == "__main__":
    asyncio.run(main(sorted(path.parent for path in Path(sys.argv[1]).glob("*/queries.jsonl"))))
