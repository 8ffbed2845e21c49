"""`precedent backfill` as a process: killed and run again, beside a bot that answers the same channel."""

from __future__ import annotations

import asyncio
import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.bootstrap.past import CLEARED, FIRING, Past
from tests.e2e.process import ROOT, BotProcess, said, served, until

pytestmark = pytest.mark.integration  # for its length; it needs no service

OUTAGES = 60
NEW = "[FIRING:1] BesideTheBackfill payments-api (prod eu-west-1 critical)"


async def backfill(bot: BotProcess, *more: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "backfill", "#alerts", "--json", "--calls-a-minute", "600", *more,
        cwd=ROOT, env=bot.environment(), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip


async def ended(process: asyncio.subprocess.Process) -> dict[str, Any]:
    out, err = await asyncio.wait_for(process.communicate(), 120)
    assert process.returncode == 0, err.decode()
    (found,) = json.loads(out)["channels"]
    assert isinstance(found, dict)
    return found


async def test_killed_and_run_again_beside_the_bot_that_answers(tmp_path: Path) -> None:
    async with served(tmp_path) as bot:
        past = Past(bot.slack, now=datetime.now(tz=UTC))
        for n in range(OUTAGES):
            at = past.ago(days=85 - n * 1.4)
            root = past.tool(FIRING, at)
            past.tool(CLEARED, at + timedelta(minutes=20))
            past.person("failed over", at + timedelta(minutes=5), root)
        past.sort()
        first = await backfill(bot)
        assert first.stderr is not None
        await asyncio.wait_for(first.stderr.readline(), 60)  # a portion is kept, the next is under way
        await asyncio.sleep(0.3)
        first.kill()
        await first.wait()
        again = await backfill(bot)
        payload = {"username": "Alertmanager", "attachments": [{"color": "danger", "title": NEW}]}
        posted = await bot.slack.post_alert("alerts", payload)
        found = await ended(again)
        assert (found["incidents"], found["open"], found["alerts"]) == (OUTAGES + 1, 1, {"alertmanager": 2 * OUTAGES})
        (worth,) = found["worth_recording"]
        assert (worth["fired"], worth["more"]) == (OUTAGES, OUTAGES - 1)
        (brief,) = await until(bot.slack, lambda: bot.slack.replies("alerts", posted["ts"]))
        assert "BesideTheBackfill" in said(brief)
        once_more = await ended(await backfill(bot))
        assert (once_more["incidents"], once_more["alerts"]) == (found["incidents"], found["alerts"])
        posts = bot.slack.core.traffic.calls("chat.postMessage")
        assert [call["args"].get("thread_ts") for call in posts] == [posted["ts"]]
        assert bot.slack.core.traffic.calls("reactions.add") == []
