"""What tests of assistant share with other tests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.slack.conftest import Desk

CHANNEL = "C0ALERTS"


async def ask(desk: Desk, text: str, root: str, user: str = "alice", *, named: bool = True) -> list[str]:
    """Say something in a thread; the texts of what the bot answered to it."""
    before = len(desk.slack.replies(CHANNEL, root))
    me = f"<@{desk.deps.identity.user_id}> " if named and desk.deps.identity else ""
    await desk.slack.post("alerts", me + text, user=user, thread_ts=root)
    await desk.work()
    return [shown(m) for m in desk.slack.replies(CHANNEL, root)[before:] if m.get("bot_id")]


def shown(message: Mapping[str, Any]) -> str:
    return json.dumps([message["text"], message.get("blocks")], ensure_ascii=False)
