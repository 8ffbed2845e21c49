"""What tests of memo reaction share with other tests."""

from __future__ import annotations

import json
from typing import Any

from bot.slack import ids
from tests.slack.conftest import Desk


async def marked(desk: Desk, ts: str, user: str) -> dict[str, Any]:
    """React to a message; what that person is asked."""
    before = len(desk.slack.ephemerals(user))
    await desk.slack.react("alerts", ts, "memo", user=user)
    await desk.work()
    return dict(desk.slack.ephemerals(user)[before:][-1])


async def press(desk: Desk, asked: dict[str, Any], answer: str, user: str) -> str:
    """Answer; what the person reads then, in the place of the question or beside it."""
    await desk.slack.click("alerts", asked["ts"], f"{ids.MEMO}.{answer}", user=user)
    found = await desk.slack.wait_until(
        lambda: [m for m in desk.slack.ephemerals(user) if "Record this" not in m["text"]]
    )
    await desk.work()
    return json.dumps(found[-1], ensure_ascii=False)
