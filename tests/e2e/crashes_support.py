"""What tests of crashes share with other tests."""

from __future__ import annotations

import asyncio

from tests.e2e.process import BotProcess
from tests.e2e.story_support import CHANNEL, brief_of


def begun(bot: BotProcess, method: str) -> int:
    """How many calls of a method have arrived, answered or not."""
    return bot.slack.counters().get(f"begun:{method}", 0)


async def settled(bot: BotProcess, ts: str, replies: int) -> None:
    """Wait for the replies, then long enough that a second one would have come."""
    await brief_of(bot, ts, replies)
    await asyncio.sleep(3)
    assert len(bot.slack.replies(CHANNEL, ts)) == replies
