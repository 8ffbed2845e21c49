"""What tests of listeners share with other tests."""

from __future__ import annotations

import asyncio
from typing import Any

from slack_bolt.request.async_request import AsyncBoltRequest

from tests.slack.conftest import Desk


async def dispatch(desk: Desk, payload: dict[str, Any]) -> Any:
    """A request as Socket Mode hands it over, for what the local Slack's people cannot do."""
    answer = await desk.app.async_dispatch(AsyncBoltRequest(mode="socket_mode", body=payload))
    await asyncio.sleep(0.3)  # the listener goes on after its acknowledgement
    return answer


BASE = {
    "team": {"id": "T0PLAYGROUND", "domain": "playground"},
    "user": {"id": "U0ALICE"},
    "trigger_id": "1.2.3",
    "token": "t",
    "response_url": "http://127.0.0.1:9/response",
}
