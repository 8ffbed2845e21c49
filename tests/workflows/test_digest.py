"""Digests owed to channels."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from bot.ports.chat import Channel
from bot.slack.messages import SlackSurfaces
from bot.workflows.digest import PostDigests
from tests.workflows.world import START, world


async def test_a_channel_that_is_shared_by_now_gets_no_digest(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        for channel in ("C1", "C2"):
            await w.post(channel)
        w.chat.channels["C2"] = Channel("C2", is_shared=True)
        await w.owed()
        post = PostDigests(w.memory.incidents, w.memory.claims, w.chat, SlackSurfaces(), w.clock)
        assert await post(START.date(), START - timedelta(days=7), START, "the week") == 1
        assert [row.owed.payload["channel"] for row in await w.owed()] == ["C1"]
