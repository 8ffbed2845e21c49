"""kill -9 at the worst moments: after the restart there is one reply, and each resolution is there once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.slack import ids
from tests.e2e.crashes_support import begun, settled
from tests.e2e.process import BotProcess, said, served, until
from tests.e2e.story_support import ALERT, CHANNEL, block, brief_of

pytestmark = pytest.mark.integration  # for its length; it needs no service


@pytest.fixture
async def bot(tmp_path: Path) -> AsyncIterator[BotProcess]:
    async with served(tmp_path) as running:
        yield running


async def test_killed_after_the_ack_and_before_any_work(bot: BotProcess) -> None:
    await bot.slack.slow(30, "conversations.info")
    posted = await bot.slack.post_alert(CHANNEL, ALERT)
    await until(bot.slack, lambda: begun(bot, "conversations.info"))
    await bot.slack.core.idle()
    await bot.kill()
    await bot.slack.heal()
    await bot.start()
    await settled(bot, posted["ts"], 1)


async def test_killed_between_commit_and_posting(bot: BotProcess) -> None:
    await bot.slack.slow(30, "chat.postMessage")
    posted = await bot.slack.post_alert(CHANNEL, ALERT)
    await until(bot.slack, lambda: begun(bot, "chat.postMessage"))
    await bot.kill()
    await bot.slack.heal()
    await bot.start()
    await settled(bot, posted["ts"], 1)


async def test_killed_after_posting_and_before_knowing_it(bot: BotProcess) -> None:
    await bot.slack.lose_answers(1, "chat.postMessage")
    await bot.slack.slow(30, "conversations.replies")
    posted = await bot.slack.post_alert(CHANNEL, ALERT)
    await brief_of(bot, posted["ts"])
    await bot.kill()
    await bot.slack.heal()
    await bot.start()
    await settled(bot, posted["ts"], 1)


async def test_an_answer_that_got_lost_is_looked_for_before_posting_again(bot: BotProcess) -> None:
    await bot.slack.lose_answers(1, "chat.postMessage")
    posted = await bot.slack.post_alert(CHANNEL, ALERT)
    await settled(bot, posted["ts"], 1)


async def test_a_resolution_survives_a_kill_between_commit_and_posting_and_a_second_submission(bot: BotProcess) -> None:
    posted = await bot.slack.post_alert(CHANNEL, ALERT)
    brief = await brief_of(bot, posted["ts"])
    await bot.slack.click(CHANNEL, brief["ts"], ids.RECORD)
    view = await until(bot.slack, bot.slack.view)
    await bot.slack.slow(30, "chat.postMessage")
    answers = {block(ids.OUTCOME): "recovered", block(ids.FIX): "Rebuild the partition"}
    assert (await bot.slack.submit_view(answers)).acked
    await until(bot.slack, lambda: begun(bot, "chat.postMessage") >= 2)
    await bot.kill()
    await bot.slack.heal()
    await bot.start()
    bot.slack.core.surfaces.screen("U0ALICE").modals.append(view)
    assert (await bot.slack.submit_view(answers)).acked
    await settled(bot, posted["ts"], 2)
    later = await bot.slack.post_alert(CHANNEL, ALERT)
    assert "worked 1 of 1" in said(await brief_of(bot, later["ts"]))


async def test_slack_down_for_a_while_loses_nothing(bot: BotProcess) -> None:
    await bot.slack.limit(2, "chat.postMessage", retry_after_s=1)
    await bot.slack.fail("http_500", "chat.postMessage", 2)
    posted = await bot.slack.post_alert(CHANNEL, ALERT)
    await settled(bot, posted["ts"], 1)
