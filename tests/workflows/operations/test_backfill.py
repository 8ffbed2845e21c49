"""Incidents that were read from a channel's past: what people record of them, and what happens when they come back now."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from bot.bootstrap.modes.backfill import admit_silently
from bot.domain.incidents.lifecycle import IncidentState
from bot.domain.recall.query import OPERATOR
from bot.workflows.resolutions.resolve import FixOutcome, Resolution
from tests.workflows.world import START, World, format_ts, world


async def heard_long_after(w: World, days: float, state: str = "firing") -> None:
    """An alert of some days ago is read now, in silence."""
    ts = format_ts(START - timedelta(days=days))
    event: dict[str, Any] = {"channel": "C1", "ts": ts, "alert": {"state": state, "severity": "critical"}, "past": True}
    await replace(w.answer, admit=admit_silently)(await w.row(event))


async def test_what_is_recorded_of_a_past_incident_happened_then(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await heard_long_after(w, 20)
        await heard_long_after(w, 19.9, "resolved")
        assert await w.drain_outbox() == []
        told = Resolution(
            FixOutcome.RECOVERED, "INC-1", fix="Fail over", thread=("C1", format_ts(START - timedelta(days=20)))
        )
        kept = (await w.resolve(told, "U1", "view:1")).incident
        ended = START - timedelta(days=19.9)
        assert (kept.resolved_at, kept.attempts[0].at) == (ended, ended)
        assert (await w.memory.incidents.read_lifecycle("INC-1")).state is IncidentState.RESOLVED
        await w.drain_outbox()
        ts = await w.post(severity="critical")
        (brief,) = await w.memory.incidents.list_briefs("INC-2")
        assert brief.root_ts == ts
        best = brief.brief.recommendation
        assert best is not None
        assert (best.fix, best.confidence, best.last_worked) == ("Fail over", "MEDIUM", ended)


async def test_a_past_alert_that_comes_back_now_has_its_brief(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        for days in (21, 9, 1.2, 0.9):
            await heard_long_after(w, days)
        assert await w.memory.incidents.list_open_lifecycles(OPERATOR) == ()
        await w.post(severity="critical")
        (life,) = await w.memory.incidents.list_open_lifecycles(OPERATOR)
        assert (life.state, life.fired) == (IncidentState.OPEN, 3)
        (brief,) = await w.memory.incidents.list_briefs(life.incident_id)
        assert brief.brief.history is not None
        assert brief.brief.history.times == 2  # those before this one
