"""What Alertmanager 0.25 really sent, posted to the local Slack's incoming webhook: one brief, updated, never multiplied."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from bot.bootstrap.modes.playground import OpenPlayground, Playground
from tests.e2e.process import said

CHANNEL = "alerts-prod"  # the payloads name it
SENT = sorted((Path(__file__).parent / "alertmanager").glob("*.json"), key=lambda p: p.name)


def sent(alert: str) -> list[dict[str, Any]]:
    """The bodies of one alert's life, in the order in which they were sent: firing, repeats, resolved."""
    return [json.loads(path.read_text())["body"] for path in SENT if alert in path.name]


@pytest.fixture
async def opened() -> AsyncIterator[OpenPlayground]:
    async with Playground(seeded=False).open() as running:
        await running.slack.add_channel(CHANNEL, members=["maya"], bot=True)
        yield running


async def post(opened: OpenPlayground, body: dict[str, Any]) -> str:
    """As Alertmanager does it; the ts of the message."""
    url = await opened.slack.webhook_url(CHANNEL)
    async with aiohttp.ClientSession() as session, session.post(url, json=body) as answer:
        assert (answer.status, await answer.text()) == (200, "ok")
    message = opened.slack.timeline(CHANNEL)[-1]
    return str(message["ts"])


def briefs(opened: OpenPlayground) -> list[dict[str, Any]]:
    mine = opened.slack.bot_id
    return [m for m in opened.slack.messages(CHANNEL) if m.get("bot_id") == mine]


async def state(opened: OpenPlayground, incident_id: str) -> tuple[str, int]:
    life = await opened.bot.memory.incidents.read_lifecycle(incident_id)
    return life.state.value, life.fired


async def reaches(opened: OpenPlayground, incident_id: str, wanted: tuple[str, int]) -> None:
    for _ in range(200):
        if await state(opened, incident_id) == wanted:
            return
        await asyncio.sleep(0.05)
    assert await state(opened, incident_id) == wanted


async def test_firing_repeat_and_resolved_are_one_brief(opened: OpenPlayground) -> None:
    firing, repeat, again, resolved = sent("PaymentGatewayErrorRateHigh")
    root = await post(opened, firing)
    (brief,) = await opened.slack.wait_until(lambda: briefs(opened), 15)
    assert brief["thread_ts"] == root
    assert "checkout-api" in said(brief)
    for number, body in enumerate((repeat, again), 2):
        await post(opened, body)
        await reaches(opened, "INC-1", ("open", number))
    await post(opened, resolved)
    await reaches(opened, "INC-1", ("cleared", 3))
    (updated,) = await opened.slack.wait_until(lambda: [b for b in briefs(opened) if "leared" in said(b)], 15)
    assert updated["ts"] == brief["ts"]
    assert len(briefs(opened)) == 1


async def test_a_group_that_shrinks_stays_one_incident_until_it_is_resolved(opened: OpenPlayground) -> None:
    three, two, resolved = sent("KubePodCrashLooping")
    root = await post(opened, three)
    looked = await opened.slack.wait_until(lambda: opened.slack.message(CHANNEL, root).get("reactions"), 15)
    assert looked is not None
    assert looked[0]["users"] == [opened.slack.bot_user]
    await post(opened, two)
    await reaches(opened, "INC-1", ("open", 2))
    await post(opened, resolved)
    await reaches(opened, "INC-1", ("cleared", 2))
    assert briefs(opened) == []
