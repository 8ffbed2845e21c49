"""Benchmark of masking: time for 1 MB of one line, in hostile shapes, and how it grows from half of that.

`figures()` gives one row for each shape, slowest first; run alone with `python -m tests.bench.masking`. Must not store or
post anything.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass

from bot.domain.text.redaction import mask
from tests.bench.alerts import LINES, LIST, LOG, fill

ROUNDS = 2
# Every rule has to be tried on this one.
ALL_NAMES = "pass secret token= :aa eyJ sk- @ (+ 4242 "


@dataclass(frozen=True, slots=True)
class Figure:
    """What one shape took: the best of some rounds in milliseconds of the processor, for 1 MB and for half of it."""

    shape: str
    ms: float
    half_ms: float


def shapes() -> dict[str, str]:
    """One megabyte of text, by name."""
    pieces = {**LINES, "every name": ALL_NAMES, "a log dump": LOG, "a label list": LIST}
    return {name: fill(piece) for name, piece in pieces.items()}


def took_ms(text: str, rounds: int = ROUNDS) -> float:
    """The best of some rounds, in milliseconds of the processor."""
    found = []
    for _ in range(rounds):
        began = time.process_time()
        mask(text)
        found.append((time.process_time() - began) * 1000)
    return round(min(found), 1)


def figures() -> tuple[Figure, ...]:
    """All shapes, slowest first."""
    found = (Figure(name, took_ms(text), took_ms(text[: len(text) // 2])) for name, text in shapes().items())
    return tuple(sorted(found, key=lambda figure: -figure.ms))


def table(found: tuple[Figure, ...], most: int = 6) -> list[str]:
    """The slowest shapes and an ordinary one as a table in Markdown."""
    shown = [*found[:most], *(f for f in found[most:] if f.shape == "a log dump")]
    rows = [f"| {f.shape} | {f.ms:g} | {f.half_ms:g} | ×{f.ms / max(f.half_ms, 0.1):.1f} |" for f in shown]
    return ["| 1 MB of | CPU ms | half of it | growth |", "|---|---|---|---|", *rows]


def main() -> None:
    """Print the figures as JSON Lines."""
    for figure in figures():
        line = {"shape": figure.shape, "ms": figure.ms, "half_ms": figure.half_ms}
        sys.stdout.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
