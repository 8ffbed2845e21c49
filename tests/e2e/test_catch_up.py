"""The bot is stopped, or its connection is cut; what was posted meanwhile is answered once, and marked late."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.process import BotProcess, said, served, until

pytestmark = pytest.mark.integration  # for its length; it needs no service

CHANNEL = "alerts"


def alert(name: str, state: str = "FIRING:1") -> dict[str, Any]:
    colour = "danger" if "FIRING" in state else "good"
    title = f"[{state}] {name} payments-api (prod eu-west-1 critical)"
    return {"username": "Alertmanager", "attachments": [{"color": colour, "title": title}]}


async def briefs(bot: BotProcess, root: str, *, state: str = "") -> dict[str, Any]:
    """The only answer in this thread, once it says so."""
    (reply,) = await until(bot.slack, lambda: [m for m in bot.slack.replies(CHANNEL, root) if state in said(m)])
    assert len(bot.slack.replies(CHANNEL, root)) == 1
    found: dict[str, Any] = reply
    return found


async def test_posts_of_a_stop_are_answered_once_and_marked_late(tmp_path: Path) -> None:
    async with served(tmp_path) as bot:
        first = await bot.slack.post_alert(CHANNEL, alert("BeforeTheStop"))
        assert "late" not in said(await briefs(bot, first["ts"]))
        assert await bot.stop() == 0
        missed = [(await bot.slack.post_alert(CHANNEL, alert(f"Missed{n}")))["ts"] for n in range(3)]
        await bot.slack.post_alert(CHANNEL, alert("BeforeTheStop", "RESOLVED"))
        await bot.slack.idle(30)
        await bot.start()
        for root in missed:
            assert "after a gap" in said(await briefs(bot, root))
        cleared = await briefs(bot, first["ts"], state="*Cleared*")
        assert "late" not in said(cleared)
        after = await bot.slack.post_alert(CHANNEL, alert("AfterTheStart"))
        assert "late" not in said(await briefs(bot, after["ts"]))
        assert await bot.stop() == 0
        await bot.start()
        again = await bot.slack.post_alert(CHANNEL, alert("OnceMore"))
        await briefs(bot, again["ts"])
        for root in (first["ts"], *missed, after["ts"]):
            assert len(bot.slack.replies(CHANNEL, root)) == 1, "a second look finds nothing new"
