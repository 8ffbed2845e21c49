"""What tests of prometheus share with other tests."""

from __future__ import annotations

from typing import Any

from bot.bootstrap.modes.playground import OpenPlayground

CHANNEL = "alerts-prod"


def own(opened: OpenPlayground) -> list[dict[str, Any]]:
    return [m for m in opened.slack.messages(CHANNEL) if m.get("bot_id") == opened.slack.bot_id]
