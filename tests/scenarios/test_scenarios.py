"""The decision core end to end, without any I/O of the product: alert and memories in, brief out.

A scenario is a folder: `alert.json` (the alert; text scores [bm25_share, bm25_mass, chargram_share] by incident id; the
time), `memories.jsonl` (records, or {"seeds": "all" | [ids]}) and `expected.json`: the keys of the brief's JSON that it
states must be exactly so; a list must have as many items.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.domain.brief.as_json import build_brief_json
from bot.domain.brief.decide import Brief, decide
from bot.domain.incidents.record import Incident
from bot.domain.recall.query import build_query
from bot.domain.recall.ranking import MissingPart, Recalled, rank
from tests.builders import NOW, alert_from, candidate, incident_from, seed_incidents, when

SCENARIOS = sorted(path.parent for path in Path(__file__).parent.glob("*/expected.json"))


def memories(path: Path) -> list[Incident]:
    found: list[Incident] = []
    for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        seeds = seed_incidents()
        found += (
            [seeds[i] for i in (seeds if row["seeds"] == "all" else row["seeds"])]
            if "seeds" in row
            else [incident_from(row)]
        )
    return found


def decided(folder: Path) -> Brief:
    given = json.loads((folder / "alert.json").read_text(encoding="utf-8"))
    alert, records, scores = alert_from(given["alert"]), memories(folder / "memories.jsonl"), given.get("scores", {})
    candidates = [candidate(record, *scores.get(record.incident_id, ())) for record in records]
    missing = tuple(MissingPart(*m) for m in given.get("missing", ()))
    recalled = Recalled(rank(build_query(alert), candidates, known=len(records)), len(records), missing)
    now = when(given.get("now")) or NOW
    return decide(alert, recalled, (), now, memory_mode=given.get("memory_mode", "on"))


def brief_of(folder: Path) -> dict[str, Any]:
    return build_brief_json(decided(folder))


def differences(expected: Any, found: Any, where: str = "brief") -> list[str]:
    if isinstance(expected, dict) and isinstance(found, dict):
        return [
            d
            for key, value in expected.items()
            for d in differences(value, found.get(key, "(absent)"), f"{where}.{key}")
        ]
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        return [
            d
            for n, (one, other) in enumerate(zip(expected, found, strict=True))
            for d in differences(one, other, f"{where}[{n}]")
        ]
    return [] if expected == found else [f"{where}: expected {expected!r}, found {found!r}"]


@pytest.mark.parametrize("folder", SCENARIOS, ids=[folder.name for folder in SCENARIOS])
def test_scenario(folder: Path) -> None:
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    assert differences(expected, brief_of(folder)) == []


def test_there_are_scenarios_and_a_wrong_expectation_would_show() -> None:
    assert len(SCENARIOS) >= 20
    assert differences({"a": [1], "b": None, "c": 1}, {"a": [1, 2], "c": 2}) == [
        "brief.a: expected [1], found [1, 2]",
        "brief.b: expected None, found '(absent)'",
        "brief.c: expected 1, found 2",
    ]
