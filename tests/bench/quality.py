"""Quality of recall on retrieval sets, through the same workflow as the bot's. Must not be run by the tests.

A set is a folder with `store.jsonl` and `queries.jsonl`, as `fit_calibration` describes; a query may name `near_miss`
documents, which must come after the relevant ones.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.adapters.memory.embedding import OnnxEmbedder
from bot.adapters.store import Store
from bot.domain.recall.query import OPERATOR, build_text_query
from bot.domain.recall.ranking import Precedent, Tier
from bot.workflows.recall.recall import RecallPrecedents
from tests.bench.fit_calibration import filled_store, rows, store_key

DEPTH = 10


@dataclass(frozen=True)
class Quality:
    """Figures of one set. `mrr` and what follows are None where nothing is relevant."""

    name: str
    queries: int
    shown: float
    mrr: float | None = None
    first: float | None = None
    near_miss: float | None = None
    tops: tuple[float, ...] = ()


async def measure(folder: Path, embedder: OnnxEmbedder | None, kept: Path | None = None) -> list[Quality]:
    """The figures of every set in a folder; stores are made anew, or kept in `kept` for the next time."""
    stores: dict[str, Store] = {}
    found = []
    with tempfile.TemporaryDirectory() as temporary:
        for path in sets_in(folder):
            key = store_key(path)[:12] + ("-v" if embedder else "")
            if key not in stores:
                place = (kept or Path(temporary)) / key
                stores[key] = await filled_store(path, place, embedder)
            found.append(await _set(path.name, rows(path / "queries.jsonl"), RecallPrecedents(index=stores[key].index)))
        for store in stores.values():
            await store.close()
    return found


def sets_in(folder: Path) -> list[Path]:
    """The folders of the sets, by name."""
    return sorted(path.parent for path in folder.glob("*/queries.jsonl"))


async def _set(name: str, asked: list[dict[str, Any]], recall: RecallPrecedents) -> Quality:
    answers = [(await recall.precedents(build_text_query(each["text"]), OPERATOR)).precedents[:DEPTH] for each in asked]
    shown = sum(any(p.tier is not Tier.NONE for p in answer) for answer in answers) / len(answers)
    tops = tuple(answer[0].probability if answer else 0.0 for answer in answers)
    if not any(each["relevant"] for each in asked):
        return Quality(name, len(asked), shown, tops=tops)
    ranks = [_rank(each, answer) for each, answer in zip(asked, answers, strict=True)]
    pairs = [won for each, answer in zip(asked, answers, strict=True) for won in _pairs(each, answer)]
    return Quality(
        name,
        len(asked),
        shown,
        mrr=sum(1 / rank for rank in ranks if rank) / len(ranks),
        first=sum(rank == 1 for rank in ranks) / len(ranks),
        near_miss=sum(pairs) / len(pairs) if pairs else None,
        tops=tops,
    )


def _listed(each: dict[str, Any], answer: tuple[Precedent, ...]) -> list[str]:
    return [p.incident.incident_id for p in answer if p.incident.incident_id not in each.get("exclude", ())]


def _rank(each: dict[str, Any], answer: tuple[Precedent, ...]) -> int:
    return next((n for n, found in enumerate(_listed(each, answer), 1) if found in each["relevant"]), 0)


def _pairs(each: dict[str, Any], answer: tuple[Precedent, ...]) -> list[bool]:
    listed, rank = _listed(each, answer), _rank(each, answer)
    return [
        bool(rank) and (miss not in listed or listed.index(miss) + 1 > rank) for miss in each.get("near_miss") or ()
    ]


def auroc(good: tuple[float, ...], bad: tuple[float, ...]) -> float:
    """How often a top probability of an answerable query is above that of one that nothing answers."""
    return sum((g > b) + 0.5 * (g == b) for g in good for b in bad) / (len(good) * len(bad))


def table(found: list[Quality]) -> list[str]:
    """The figures as lines of Markdown."""
    answerable = next((q.tops for q in found if q.name == "b_metric_paraphrase"), None)
    lines = ["| set | queries | MRR@10 | first right | near-miss | shown | AUROC |", "|---|---|---|---|---|---|---|"]
    for q in found:
        against = auroc(answerable, q.tops) if answerable and q.mrr is None else None
        cells = [
            f"{value:.3f}" if value is not None else "" for value in (q.mrr, q.first, q.near_miss, q.shown, against)
        ]
        lines.append(f"| {q.name} | {q.queries} | {' | '.join(cells)} |")
    return lines
