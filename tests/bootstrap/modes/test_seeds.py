from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.bootstrap.modes.seeds import NEWEST_AGE, SEEDS, move_in_time, read_seed_alert, read_seed_incidents
from bot.domain.incidents.record import Incident
from bot.ports.errors import StoreUnavailable

NOW = datetime(2031, 5, 4, 3, 2, tzinfo=UTC)


def test_the_newest_seed_is_always_three_days_old_and_distances_stay() -> None:
    then, later = read_seed_incidents(NOW), read_seed_incidents(NOW + timedelta(days=400))
    newest = max(t for r in then for t in (r.started_at, r.resolved_at) if t)
    assert NEWEST_AGE <= NOW - newest < NEWEST_AGE + timedelta(days=1)
    assert {b.started_at - a.started_at for a, b in zip(then, later, strict=True) if a.started_at and b.started_at} == {
        timedelta(days=400)
    }
    assert {
        b.attempts[0].at - a.attempts[0].at
        for a, b in zip(then, later, strict=True)
        if a.attempts and a.attempts[0].at and b.attempts[0].at
    } == {timedelta(days=400)}


def test_there_are_at_least_24_and_their_ids_differ() -> None:
    ids = [r.incident_id for r in read_seed_incidents(NOW)]
    assert len(ids) == len(set(ids)) >= 24


def test_records_without_times_stay() -> None:
    record = Incident("X-1", "No dates")
    assert move_in_time([record], NOW) == (record,)


def test_missing_seeds_are_said(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="full checkout"):
        read_seed_incidents(NOW, tmp_path)


def test_every_sample_alert_is_a_post() -> None:
    names = [p.stem for p in (SEEDS / "alerts").glob("*.json")]
    assert len(names) >= 10
    assert all({"text", "attachments", "blocks"} & set(read_seed_alert(name)) for name in names)
    assert json.loads((SEEDS / "channels.json").read_text())["channels"]
