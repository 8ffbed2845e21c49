"""What tests of nudge share with other tests."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from bot.bootstrap.wiring.resolutions import build_post_nudges
from bot.settings import Settings
from tests.slack.conftest import ROOT, Desk, SteppingClock

EVENING = datetime(2026, 11, 24, 20, 0, tzinfo=UTC)  # of a Tuesday
MORNING = datetime(2026, 11, 25, 10, 30, tzinfo=UTC)


async def cleared(desk: Desk, name: str, author: str) -> str:
    """An incident that cleared after this person wrote in its thread; its id."""
    ts = await desk.alert(name)
    await desk.slack.post("alerts", "looking", user=author, thread_ts=ts)
    incident_id = await desk.memory.incidents.find_incident("C0ALERTS", ts) or ""
    fired = (ROOT / "seeds/alerts" / f"{name}.json").read_text(encoding="utf-8")
    over = fired.replace("[FIRING:1]", "[RESOLVED]").replace('"firing"', '"resolved"').replace("danger", "good")
    await desk.slack.post_alert("alerts", json.loads(over))
    await desk.work()
    assert (await desk.memory.incidents.read_lifecycle(incident_id)).state == "cleared"
    return incident_id


def at(desk: Desk, when: datetime) -> SteppingClock:
    """Set the clock of bot and Slack."""
    clock = desk.deps.clock
    assert isinstance(clock, SteppingClock)
    clock.at = when
    return clock


async def ask(desk: Desk) -> dict[str, Any]:
    """It is half past ten on the next day: what alice is asked."""
    at(desk, MORNING)
    base = replace(desk.base, settings=Settings())
    job = build_post_nudges(base)
    assert job is not None
    off = build_post_nudges(replace(base, settings=Settings(nudge="off")))
    assert off is None
    assert await job() == 1
    await desk.work()
    return dict(desk.slack.messages(desk.slack.dm("alice"))[-1])
