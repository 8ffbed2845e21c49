"""The seeds: incidents, alerts and channels for demo and playground. `serve` does not load them.

Their dates are moved as a whole so that the newest is three days old: old records count less, and a demo must show the
same next year.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from bot.domain.incidents.record import Attempt, Incident
from bot.ports.errors import StoreUnavailable
from bot.records.incident_json import read_record

# An installed package carries the files that lie at the top of a checkout.
_PACKAGE = Path(__file__).resolve().parents[2]
FILES = _PACKAGE / "_files" if (_PACKAGE / "_files").is_dir() else _PACKAGE.parent
SEEDS = FILES / "seeds"
NEWEST_AGE = timedelta(days=3)


def read_seed_incidents(now: datetime, folder: Path = SEEDS) -> tuple[Incident, ...]:
    """Return the seed incidents, re-dated to end three days before `now`. Raises StoreUnavailable if there are none."""
    path = folder / "incidents.jsonl"
    if not path.is_file():
        raise StoreUnavailable(
            f"The seeds are missing: {path.name} is not in {folder}. Install Precedent again, or use a full checkout."
        )
    records = tuple(
        read_record(json.loads(line), how="import")
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.strip()
    )
    return move_in_time(records, now)


def move_in_time(records: Iterable[Incident], now: datetime) -> tuple[Incident, ...]:
    """Move all times by the same whole number of days, so that the newest incident is three days old."""
    kept = tuple(records)
    newest = max((t for r in kept for t in (r.started_at, r.resolved_at) if t), default=None)
    if newest is None:
        return kept
    by = timedelta(days=(now - NEWEST_AGE - newest).days)
    return tuple(_shift_record(record, by) for record in kept)


def _shift_record(record: Incident, by: timedelta) -> Incident:
    return replace(
        record,
        started_at=record.started_at + by if record.started_at else None,
        resolved_at=record.resolved_at + by if record.resolved_at else None,
        attempts=tuple(_shift_attempt(a, by) for a in record.attempts),
    )


def _shift_attempt(attempt: Attempt, by: timedelta) -> Attempt:
    return replace(attempt, at=attempt.at + by) if attempt.at else attempt


def read_seed_alert(name: str, folder: Path = SEEDS) -> dict[str, Any]:
    """Return one sample alert post, as its tool sends it."""
    found: dict[str, Any] = json.loads((folder / "alerts" / f"{name}.json").read_text(encoding="utf-8"))
    return found
