"""SIGTERM while a call to Slack is under way: a short one is waited for, a long one is given back for the next start."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.bootstrap.modes.playground import read_manifest
from bot.playground.server import LocalSlack
from tests.e2e.crashes_support import begun, settled
from tests.e2e.process import BotProcess, until
from tests.e2e.story_support import ALERT, CHANNEL, brief_of

pytestmark = pytest.mark.integration  # for its length; it needs no service

LEASE_S = 600


@pytest.fixture
async def bot(tmp_path: Path) -> AsyncIterator[BotProcess]:
    """With a lease that would keep what is not given back away from the next start for long."""
    async with await LocalSlack.start(manifest=read_manifest(), retry_delays_s=(0.2, 0.2, 0.2)) as slack:
        bot = BotProcess(slack, tmp_path / "bot.db", more={"LEASE_S": str(LEASE_S)})
        await bot.start()
        try:
            yield bot
        finally:
            await bot.kill()


async def test_a_call_that_ends_in_time_is_waited_for(bot: BotProcess) -> None:
    await bot.slack.slow(3, "chat.postMessage")
    posted = await bot.slack.post_alert(CHANNEL, ALERT)
    await until(bot.slack, lambda: begun(bot, "chat.postMessage"))
    assert await bot.stop() == 0
    assert len(bot.slack.replies(CHANNEL, posted["ts"])) == 1
    await bot.slack.heal()
    await bot.start()
    await settled(bot, posted["ts"], 1)
    assert begun(bot, "chat.postMessage") == 1
    assert begun(bot, "conversations.replies") == 0


async def test_a_call_that_does_not_end_is_given_back(bot: BotProcess) -> None:
    await bot.slack.slow(60, "chat.postMessage")
    posted = await bot.slack.post_alert(CHANNEL, ALERT)
    await until(bot.slack, lambda: begun(bot, "chat.postMessage"))
    assert await bot.stop() == 0
    assert bot.slack.replies(CHANNEL, posted["ts"]) == []
    await bot.slack.heal()
    await bot.start()
    await brief_of(bot, posted["ts"])
    await asyncio.sleep(2)
    assert len(bot.slack.replies(CHANNEL, posted["ts"])) == 1


async def test_an_event_whose_work_does_not_end_is_given_back(bot: BotProcess) -> None:
    await bot.slack.slow(60, "conversations.info")
    posted = await bot.slack.post_alert(CHANNEL, ALERT)
    await until(bot.slack, lambda: begun(bot, "conversations.info"))
    assert await bot.stop() == 0
    await bot.slack.heal()
    await bot.start()
    await settled(bot, posted["ts"], 1)
