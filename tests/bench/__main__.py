"""`make bench`: all measurements in one run, written to BENCHMARKS.md. Must not be run by the tests.

usage: python -m tests.bench [--sizes 1000,10000,100000,1000000] [--out BENCHMARKS.md] [--only "Masking,Quality"]

RECALL_SETS names a folder of retrieval sets: then quality is measured, too. BENCH_PEERS_PYTHON names an interpreter in
which rank_bm25, bm25s and chromadb are installed (default: this one; what is not installed is left out).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from bot.adapters.memory.embedding import OnnxEmbedder, find_model
from bot.adapters.store.index.writer import build_searchable_text
from bot.ports.embedding import Vectors
from tests.bench import masking, quality
from tests.bench.synthetic import SyntheticEmbedder
from tests.bench.texts import incidents, questions

# From here up vectors are synthetic: the model makes some twenty a second.
SYNTHETIC_FROM = 10_000
PEERS_AT = (1_000, 10_000)
PEER_QUESTIONS = 60


def said(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def speed(count: int, *flags: str) -> dict[str, Any]:
    said(f"speed at {count} {' '.join(flags)}")
    command = [sys.executable, "-m", "tests.bench.speed", str(count), *flags]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


async def _vectors(texts: list[str]) -> Vectors:
    return await SyntheticEmbedder().embed_documents(texts)


def peers(count: int) -> dict[str, Any]:
    said(f"peers at {count}")
    python = os.environ.get("BENCH_PEERS_PYTHON", sys.executable)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        texts, asked = [build_searchable_text(record) for record in incidents(count)], questions(PEER_QUESTIONS, count)
        (folder / "texts.json").write_text(json.dumps(texts), encoding="utf-8")
        (folder / "questions.json").write_text(json.dumps(asked), encoding="utf-8")
        np.save(folder / "vectors.npy", asyncio.run(_vectors(texts)))
        np.save(folder / "asked.npy", asyncio.run(_vectors(asked)))
        script = Path(__file__).with_name("peers.py")
        done = subprocess.run([python, str(script), name], capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def pair(figures: dict[str, float] | None) -> str:
    return f"{figures['p50']:g} / {figures['p99']:g}" if figures else ""


def speed_table(found: list[dict[str, Any]]) -> list[str]:
    lines = [
        "| incidents | vectors | recall, CPU ms p50 / p99 | wall ms | question's vector, CPU ms | record to recallable, wall ms"
        " | index, bytes an incident | with records | resident MB | first recall after a start, ms | ingest, a CPU s |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for f in found:
        cells = [
            f"{f['incidents']:,}",
            f["model"],
            pair(f["recall_cpu_ms"]),
            pair(f["recall_wall_ms"]),
            pair(f.get("question_cpu_ms")),
            pair(f["record_to_recallable_ms"]),
            f["index_bytes"],
            f["all_bytes"],
            f["resident_mb"],
            f["cold_start_ms"],
            f["ingest_per_cpu_s"],
        ]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return lines


def growth(found: list[dict[str, Any]]) -> list[str]:
    """How recall's CPU time grows between the sizes, of the same mode."""
    told = []
    hybrid = [f for f in found if "lexical" not in f["model"]]
    for small, large in pairwise(hybrid):
        times = large["recall_cpu_ms"]["p50"] / small["recall_cpu_ms"]["p50"]
        told.append(f"{small['incidents']:,} to {large['incidents']:,}: ×{times:.1f}")
    return [f"Growth of recall's median CPU time with vectors: {'; '.join(told)}."] if told else []


def peer_table(found: dict[int, dict[str, Any]]) -> list[str]:
    lines = ["| engine | incidents | a question, CPU ms p50 / p99 | one more document, ms |", "|---|---|---|---|"]
    for count, engines in found.items():
        lines += [f"| {name} | {count:,} | {pair(f['cpu_ms'])} | {f['add_ms']:g} |" for name, f in engines.items()]
    return lines


def quality_part() -> list[str]:
    folder = os.environ.get("RECALL_SETS")
    if not folder:
        return ["RECALL_SETS was not given: quality was not measured in this run."]
    lines: list[str] = []
    for mode in ("hybrid", "lexical"):
        said(f"quality, {mode}")
        embedder = OnnxEmbedder(find_model()) if mode == "hybrid" else None
        measured = asyncio.run(quality.measure(Path(folder), embedder))
        lines += [f"### {mode.capitalize()}", "", *quality.table(measured), ""]
    return lines


def evidence_part(sizes: list[int]) -> list[str]:
    lines = [
        "| incidents | alerts | sources | wall ms p50 / p99 | CPU ms p50 / p99 | longest, wall ms | deadline |",
        "|---|---|---|---|---|---|---|",
    ]
    for size in (size for size in sizes if 10_000 <= size <= 100_000):
        for flags in ([], ["--hang"]):
            said(f"evidence at {size} {' '.join(flags)}")
            command = [sys.executable, "-m", "tests.bench.evidence", str(size), *flags]
            found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            if not flags:
                bare = (pair(found["without_evidence_brief_ms"]), pair(found["without_evidence_brief_cpu_ms"]))
                lines.append(f"| {size:,} | 200 | none | {' | '.join(bare)} |  |  |")
            cells = [pair(found["brief_ms"]), pair(found["brief_cpu_ms"]), found["longest_ms"], found["deadline_ms"]]
            which = "three, one hangs" if flags else "three"
            lines.append(f"| {size:,} | {found['alerts']:,} | {which} | {' | '.join(map(str, cells))} |")
    return lines


def speed_part(sizes: list[int]) -> list[str]:
    small = [size for size in sizes if size < SYNTHETIC_FROM]
    found = [speed(size, "--real") if size in small else speed(size) for size in sizes]
    lexical = [speed(size, "--lexical") for size in sizes if size <= 100_000]
    return [
        "Templated texts; a recall is candidates, records and ranking, without the question's vector. Vectors are the"
        f" model's below {SYNTHETIC_FROM:,} incidents and synthetic from there up (`synthetic`: clusters with noise).",
        "",
        *speed_table([*found, *lexical]),
        "",
        *growth(found),
    ]


def peers_part(sizes: list[int]) -> list[str]:
    return [
        "The same texts and (synthetic) vectors; candidates only, no records, no ranking, nothing kept on the disk.",
        "",
        *peer_table({size: peers(size) for size in PEERS_AT if size in sizes}),
    ]


def masking_part(_sizes: list[int]) -> list[str]:
    return ["One line of a megabyte, the slowest shapes first.", "", *masking.table(masking.figures())]


PARTS: dict[str, Callable[[list[int]], list[str]]] = {
    "Speed and size": speed_part,
    "Briefs with evidence": evidence_part,
    "Peers": peers_part,
    "Masking": masking_part,
    "Quality": lambda _sizes: quality_part(),
}


def kept(path: Path) -> dict[str, str]:
    """The parts that the file holds, by name."""
    if not path.exists():
        return {}
    _, *parts = path.read_text(encoding="utf-8").split("\n## ")
    return {part.partition("\n")[0]: part.partition("\n")[2].strip() for part in parts}


def made(name: str, sizes: list[int]) -> str:
    """A part, measured now."""
    lines = PARTS[name](sizes)
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    host = f"{platform.machine()}, {os.cpu_count()} CPUs, Python {platform.python_version()}"
    return "\n".join([*lines, "", f"_{date.today().isoformat()}; {host}; load averages at the end {load}._"]).strip()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", default="1000,10000,100000,1000000")
    parser.add_argument("--out", type=Path, default=Path("BENCHMARKS.md"))
    parser.add_argument("--only", default=",".join(PARTS), help="parts to measure anew; the others stay as they are")
    given = parser.parse_args()
    sizes, wanted, parts = [int(size) for size in given.sizes.split(",")], given.only.split(","), kept(given.out)
    parts |= {name: made(name, sizes) for name in PARTS if name in wanted}
    text = "\n\n".join(f"## {name}\n\n{parts[name]}" for name in PARTS if name in parts)
    given.out.write_text(
        f"# Benchmarks\n\nMade by `python -m tests.bench` (`make bench`).\n\n{text}\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
