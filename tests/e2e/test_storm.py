"""A small storm against the real bot: no event lost, a brief or a summary for each incident, none twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.storm import Plan, storm

pytestmark = pytest.mark.integration  # for its length; it needs no service


async def test_every_incident_of_a_storm_is_answered_once(tmp_path: Path) -> None:
    plan = Plan(alerts=100, fingerprints=30, channels=3, seconds=2.0)
    async with storm(tmp_path, plan) as run:
        figures = await run.run()
        incidents = await run.incidents()
    assert (figures["alerts"], incidents) == (100, 30)
    assert figures["fingerprints_unanswered"] == 0
    assert figures["incidents_with_two_briefs"] == 0
    assert figures["summaries"] >= 3, "each channel has more of one service than can be answered one by one"
    assert figures["briefs"] <= 3 * (5 + 1), "five of a service, and one of the other"
