"""What tests of channel share with other tests."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import sqlalchemy as sa

from bot.adapters.store.database.tables import audit
from bot.slack import ids
from bot.slack.payload import decode
from tests.slack.conftest import Desk, SteppingClock

LEDGER = "unknown-ledger-drift"


async def choose(desk: Desk, ts: str, do: str, user: str = "bob", channel: str = "alerts") -> None:
    """Choose an entry of the menu under a brief."""
    brief = desk.brief(ts, desk.slack.core.workspace.channel(channel).id)
    menu = next(e for b in brief["blocks"] if b["type"] == "actions" for e in b["elements"] if e["type"] == "overflow")
    value = next(o["value"] for o in menu["options"] if decode(o["value"])["do"] == do)
    assert (await desk.slack.click(channel, brief["ts"], ids.MORE, user=user, choice=value)).acked


async def opened(desk: Desk, user: str = "bob") -> dict[str, Any]:
    await desk.slack.wait_until(lambda: desk.slack.view(user) is not None)
    return dict(desk.slack.view(user) or {})


async def submit(desk: Desk, said: dict[str, Any], user: str = "bob") -> dict[str, str]:
    """Fill in and submit; the errors in the modal."""
    await opened(desk, user)
    outcome = await desk.slack.submit_view(said, user=user)
    assert outcome.notice == ""
    await desk.work()
    return dict(outcome.errors)


async def ask(desk: Desk, what: str, user: str = "bob", channel: str = "alerts") -> dict[str, Any]:
    """Type `/precedent …`; the ephemeral answer."""
    before = len(desk.slack.ephemerals(user))
    await desk.slack.slash(channel, "/precedent", what, user=user)
    found = await desk.slack.wait_until(lambda: desk.slack.ephemerals(user)[before:])
    return dict(found[-1])


async def press(desk: Desk, message: dict[str, Any], action: str, user: str, channel: str = "alerts") -> None:
    assert (await desk.slack.click(channel, message["ts"], action, user=user)).acked


async def settings_modal(desk: Desk, user: str = "alice", channel: str = "alerts") -> dict[str, Any]:
    await press(desk, await ask(desk, "channel", user, channel), ids.CHANGE_CHANNEL, user, channel)
    return await opened(desk, user)


async def audited(desk: Desk) -> list[tuple[str, str, str]]:
    async with desk.memory.store.database.read() as connection:
        found = await connection.execute(sa.select(audit.c.actor, audit.c.action, audit.c.object).order_by(audit.c.id))
        return [(row.actor, row.action, row.object) for row in found]


def go_on(desk: Desk, **by: float) -> None:
    assert isinstance(desk.deps.clock, SteppingClock)
    desk.deps.clock.at += timedelta(**by)


def replies(desk: Desk, ts: str, channel: str = "C0ALERTS") -> list[Any]:
    return list(desk.slack.replies(channel, ts))


def shown(message: Any) -> str:
    return json.dumps(message["blocks"], ensure_ascii=False)
