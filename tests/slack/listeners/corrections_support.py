"""What tests of corrections share with other tests."""

from __future__ import annotations

import json
from typing import Any

from bot.slack import ids
from tests.slack.conftest import Desk
from tests.slack.listeners.channel_support import submit

LEDGER = "unknown-ledger-drift"
FIX = "Flush the ledger cache of quagga\nRestart the worker"
SAID = {"outcome": "recovered", "fix": FIX, "root_cause": "a stale quagga cache", "failed_checks": "DNS, 10"}


async def press_record(desk: Desk, brief_ts: str, user: str, channel: str = "C0ALERTS") -> None:
    before = (desk.slack.view(user) or {}).get("id")
    await desk.slack.click(channel, brief_ts, ids.RECORD, user=user)
    await desk.slack.wait_until(lambda: (desk.slack.view(user) or {"id": before})["id"] != before)


async def recorded(desk: Desk, user: str = "alice", channel: str = "C0ALERTS", **other: str) -> str:
    """An incident that this person resolved; its id."""
    ts = await desk.alert(LEDGER, channel)
    await press_record(desk, desk.brief(ts, channel)["ts"], user, channel)
    assert await submit(desk, SAID | other, user) == {}
    return await desk.memory.incidents.find_incident(channel, ts) or ""


async def asks(desk: Desk, what: str, user: str, channel: str = "alerts") -> dict[str, Any]:
    """Type `/precedent …`; the modal that opens."""
    before = (desk.slack.view(user) or {}).get("id")
    await desk.slack.slash(channel, "/precedent", what, user=user)
    await desk.slack.wait_until(lambda: (desk.slack.view(user) or {"id": before})["id"] != before)
    return dict(desk.slack.view(user) or {})


async def refused(desk: Desk, what: str, user: str, channel: str = "alerts") -> str:
    """Type `/precedent …`; what is said to the asker alone, where no modal opens."""
    before = len(desk.slack.ephemerals(user))
    await desk.slack.slash(channel, "/precedent", what, user=user)
    found = await desk.slack.wait_until(lambda: desk.slack.ephemerals(user)[before:])
    assert desk.slack.view(user) is None
    return str(found[-1]["text"])


def told(desk: Desk, ts: str, channel: str = "C0ALERTS") -> str:
    return json.dumps(desk.slack.replies(channel, ts), ensure_ascii=False)
