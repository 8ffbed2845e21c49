"""A real alert's life: Prometheus finds it, Alertmanager posts it with its default template, the bot keeps one brief."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bot.bootstrap.modes.playground import OpenPlayground, Playground
from bot.domain.incidents.lifecycle import Lifecycle
from bot.domain.recall.query import OPERATOR
from tests.e2e.process import said
from tests.e2e.prometheus import monitoring, require
from tests.e2e.prometheus_support import CHANNEL, own

PATIENCE_S = 25.0


def titles(opened: OpenPlayground) -> list[str]:
    """What Alertmanager has posted, by the beginnings of the titles."""
    posts = [
        m for m in opened.slack.messages(CHANNEL) if m.get("attachments") and m.get("thread_ts", m["ts"]) == m["ts"]
    ]
    return [str(post["attachments"][0]["title"]).partition(" ")[0] for post in posts]


async def life_of(opened: OpenPlayground, state: str, fired: int) -> Lifecycle:
    """The one incident, once it stands so."""
    for _ in range(int(PATIENCE_S / 0.1)):
        lives = await opened.bot.memory.incidents.list_open_lifecycles(OPERATOR)
        assert len(lives) <= 1
        if lives and lives[0].state.value == state and lives[0].fired >= fired:
            return lives[0]
        await asyncio.sleep(0.1)
    raise AssertionError(f"never {state}, fired {fired}: {lives}; posted {titles(opened)}")


@pytest.mark.integration
async def test_a_real_alert_is_one_incident_with_one_brief_through_all_its_life(tmp_path: Path) -> None:
    require()
    async with Playground(seeded=False).open() as opened:
        await opened.slack.add_channel(CHANNEL, members=["maya"], bot=True)
        webhook = await opened.slack.webhook_url(CHANNEL)
        async with monitoring(tmp_path, webhook, CHANNEL) as pods:
            pods.become(a=True)
            await opened.slack.wait_until(lambda: own(opened), PATIENCE_S)
            assert titles(opened) == ["[FIRING:1]"]
            assert (await life_of(opened, "open", 1)).firing == 1

            pods.become(b=True, c=True)
            await opened.slack.wait_until(lambda: "[FIRING:3]" in titles(opened), PATIENCE_S)
            await opened.slack.wait_until(lambda: titles(opened).count("[FIRING:3]") >= 2, PATIENCE_S)
            fired = len(titles(opened))
            repeated = await life_of(opened, "open", fired)
            assert (repeated.firing, repeated.members) == (3, 3)

            pods.become(b=False, c=False)
            await opened.slack.wait_until(lambda: titles(opened)[-1] == "[FIRING:1]", PATIENCE_S)
            await opened.slack.wait_until(lambda: "2 of 3 cleared" in said(own(opened)[0]), PATIENCE_S)
            partly = await life_of(opened, "open", fired + 1)
            assert (partly.firing, partly.members) == (1, 3)

            pods.become(a=False)
            await opened.slack.wait_until(lambda: "[RESOLVED]" in titles(opened), PATIENCE_S)
            cleared = await life_of(opened, "cleared", fired + 1)
            await opened.slack.wait_until(lambda: "*Cleared*" in said(own(opened)[0]), PATIENCE_S)

            pods.become(a=True)
            again = await life_of(opened, "open", cleared.fired + 1)
            assert (again.incident_id, len(again.spells)) == (cleared.incident_id, 2)
            await opened.slack.wait_until(lambda: "1× in 30 days" in said(own(opened)[0]), PATIENCE_S)
        assert len(own(opened)) <= 2
        assert "INC-1" in said(own(opened)[0])
