"""What tests of cases share with other tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CASES = Path(__file__).parent / "cases"
NAMES = sorted(str(p.relative_to(CASES))[: -len(".alert.json")] for p in CASES.glob("*/*.alert.json"))


def event(name: str) -> dict[str, Any]:
    loaded = json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))
    assert isinstance(loaded, dict)
    return loaded


def holds(symptom: dict[str, Any], found: list[dict[str, Any]]) -> bool:
    """Whether one found symptom tells what is wanted: the code, or name and value."""
    wanted = [symptom[k] for k in ("code", "name", "value") if symptom.get(k)]
    return any(all(str(w).casefold() in json.dumps(f, ensure_ascii=False).casefold() for w in wanted) for f in found)
