"""The parser that docs/contributing.md writes from beginning to end reads the post beside it as it says."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import bot.parsers
from bot.parsers import PARSERS, read
from bot.parsers.message import parse_message
from bot.parsers.shape import build_shape
from tests.parsers.cases_support import NAMES, event, holds

TEXT = (Path(__file__).parents[2] / "docs" / "contributing.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(json|python)\n(.*?)```", TEXT, re.DOTALL)
POST, FACTS = (json.loads(block) for kind, block in BLOCKS if kind == "json")
CODE = next(block for kind, block in BLOCKS if kind == "python")


def module(folder: Path) -> ModuleType:
    file = folder / "patrol.py"
    file.write_text(CODE, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("patrol", file)
    assert spec
    assert spec.loader
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def post(old: str, new: str) -> dict[str, Any]:
    changed: dict[str, Any] = json.loads(json.dumps(POST).replace(old, new))
    return changed


def test_the_documented_parser_reads_the_documented_post(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "bot.parsers.patrol" not in {parser.__name__ for parser in PARSERS}:  # whoever tries the guide has added it
        assert not build_shape(read(POST))["is_alert"]
    patrol = module(tmp_path)
    monkeypatch.setattr(bot.parsers, "PARSERS", (patrol, *PARSERS))
    after = build_shape(read(POST))
    for name in ("is_alert", "kind", "delivery", "tool", "state", "severity", "title", "service", "region"):
        assert after[name] == FACTS[name], name
    assert [s for s in FACTS["symptoms"] if not holds(s, after["symptoms"])] == []
    assert FACTS["links"] == [after["links"]["source"]]

    closed = build_shape(read(post("7731 opened", "7802 closed")))
    assert (closed["state"], closed["fingerprint"]) == ("resolved", after["fingerprint"])
    assert build_shape(read(post("checkout-api", "ledger-api")))["fingerprint"] != after["fingerprint"]
    assert [
        name for name in NAMES if not name.startswith("patrol/") and patrol.matches(parse_message(event(name)))
    ] == []
    assert len(CODE.splitlines()) <= 80
