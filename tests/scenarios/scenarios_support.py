"""What tests of scenarios share with other tests."""

from __future__ import annotations

import json
from pathlib import Path

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
