"""What tests of details share with other tests."""

from __future__ import annotations

import json
from typing import Any

from bot.slack import ids
from tests.slack.conftest import Desk

LEDGER = "unknown-ledger-drift"


async def details(desk: Desk, ts: str, user: str = "bob", channel: str = "C0ALERTS") -> str:
    """Press Details; what the modal says in the end."""
    await desk.slack.click(channel, desk.brief(ts, channel)["ts"], ids.DETAILS, user=user)
    await desk.slack.wait_until(lambda: "Looking it up" not in text_of(desk.slack.view(user)))
    return text_of(desk.slack.view(user))


def text_of(view: Any) -> str:
    return json.dumps(view["blocks"], ensure_ascii=False) if view else "Looking it up"
