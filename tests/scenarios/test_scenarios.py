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
from tests.scenarios.scenarios_support import SCENARIOS, decided


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
