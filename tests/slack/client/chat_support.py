"""What tests of chat share with other tests."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from bot.domain.delivery.kinds import Operation
from bot.ports.chat import Posting

BLOCKS = ({"type": "section", "text": {"type": "mrkdwn", "text": "hello"}},)


class ToldClock:
    at = datetime(2026, 11, 29, 3, 0, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at


def post(delivery: str = "d1", channel: str = "C0ALERTS", **given: Any) -> Posting:
    return Posting(Operation.POST, channel, delivery, "hello", BLOCKS, incident_id="INC-1", **given)
