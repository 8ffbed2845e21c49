"""What tests of intake share with other tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import aiohttp

from bot.bootstrap.application import Application
from bot.playground.server import LocalSlack

CHANNEL = "alerts-direct"
TOKEN = "s3cret-token-of-the-tests"


@dataclass
class Served:
    slack: LocalSlack
    bot: Application
    channel_id: str

    async def send(self, path: str, body: Any, token: str = TOKEN) -> tuple[int, dict[str, Any]]:
        url = f"http://127.0.0.1:{self.bot.port}/webhook/{path}"
        headers = {"Authorization": f"Bearer {token}"}
        async with aiohttp.ClientSession() as session, session.post(url, json=body, headers=headers) as answer:
            return answer.status, await answer.json()

    def posts(self) -> list[dict[str, Any]]:
        mine = self.slack.bot_id
        return [m for m in self.slack.messages(CHANNEL) if m.get("bot_id") == mine and "thread_ts" not in m]

    def replies(self) -> list[dict[str, Any]]:
        mine = self.slack.bot_id
        found = [m for m in self.slack.messages(CHANNEL) if m.get("bot_id") == mine]
        return [m for m in found if m.get("thread_ts") not in (None, m["ts"])]
