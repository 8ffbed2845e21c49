"""Shadow mode on the local Slack: the whole bot, started with and without it on one database."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from bot.adapters.store.database.tables import outbox
from bot.bootstrap.application import Application, run_application
from bot.bootstrap.modes.playground import build_local_settings, load_seeds
from bot.domain.delivery.kinds import Operation
from bot.playground import LocalSlack
from bot.ports.delivery.outbox_admin import UNDELIVERED, OutboxState
from bot.slack import ids
from bot.slack.views.shadow import render_left_out
from bot.workflows.operations.shadow import ReportLeftOut, describe_mode
from tests.slack.conftest import MANIFEST, ROOT, SteppingClock

NOT_IN = "the bot is not in it; invite it: /invite @Precedent"
ALERTS, SECRET, SHADOW = "C0ALERTS", "C0SECRET", "C0SHADOW"
GATEWAY = json.loads((ROOT / "seeds/alerts/payment-gateway-504.json").read_text())
OVER = json.loads((ROOT / "seeds/alerts/payment-gateway-504-resolved.json").read_text())
LEDGER = json.loads((ROOT / "seeds/alerts/unknown-ledger-drift.json").read_text())


def another(name: str, post: dict[str, Any] = GATEWAY) -> dict[str, Any]:
    """The gateway's alert under another name: another incident."""
    return dict(json.loads(json.dumps(post).replace("PaymentGatewayErrorRateHigh", name)))


@dataclass
class Watched:
    """A workspace with a shadow channel, and what the bot says in it."""

    slack: LocalSlack
    clock: SteppingClock
    folder: Path
    logged: list[Any]
    channel: str = SHADOW

    @asynccontextmanager
    async def bot(self, *, shadow: bool) -> AsyncIterator[Application]:
        """The bot on the one database, with the mode on or off."""
        channel = self.channel if shadow else None
        settings = build_local_settings(self.slack, self.folder / "bot.db").model_copy(
            update={"shadow_channel": channel}
        )
        async with run_application(settings, self.clock) as bot:
            await self.slack.wait_connected()
            yield bot

    def ours(self, channel: str) -> list[dict[str, Any]]:
        return [m for m in self.slack.messages(channel) if m.get("bot_id") == self.slack.bot_id]

    async def say(self, text: str, channel: str = SHADOW, count: int = 1) -> list[dict[str, Any]]:
        """The bot's messages with this text, as soon as there are so many."""

        def found() -> list[dict[str, Any]] | None:
            said = [m for m in self.ours(channel) if text in json.dumps(m, ensure_ascii=False)]
            return said if len(said) >= count else None

        return list(await self.slack.wait_until(found, 15) or ())

    async def opened(self, text: str) -> dict[str, Any]:
        """The modal that alice sees, as soon as it holds this text; it is closed then."""

        def found() -> dict[str, Any] | None:
            view = self.slack.view("alice")
            return dict(view) if view and text in json.dumps(view) else None

        view = await self.slack.wait_until(found, 10)
        await self.slack.close_view(user="alice")
        return view or {}

    def is_silent(self, channel: str = ALERTS) -> bool:
        """Whether the bot was never seen there: no message, no reaction."""
        return not self.ours(channel) and not any(m.get("reactions") for m in self.slack.messages(channel))

    async def settled(self, bot: Application) -> None:
        """Everything is worked off and delivered."""
        await self.slack.idle(5)
        for _ in range(200):
            counts = await bot.memory.outbox.count_rows()
            waiting = await bot.memory.store.inbox_admin.count_rows()
            if not any(n for k, n in counts.items() if k in {"slack.pending", "slack.sending"}) and not any(
                waiting.get(k) for k in ("pending", "working")
            ):
                return
            await self.slack.idle(1)
            await self.slack.core.wait_for_change(0.1)
        raise AssertionError(counts)


@pytest.fixture
async def watched(tmp_path: Path, logged: list[Any]) -> AsyncIterator[Watched]:
    clock = SteppingClock()
    clock.at = datetime(2027, 3, 1, 12, tzinfo=UTC)  # a Monday: digests were due at nine
    async with await LocalSlack.start(manifest=MANIFEST, now=clock.stamp) as slack:
        slack.core.workspace.add_channel(SHADOW, "watching", members=["alice", "bob", slack.bot_user])
        made = Watched(slack, clock, tmp_path, logged)
        await load_seeds(build_local_settings(slack, tmp_path / "bot.db"))
        yield made


@pytest.mark.integration  # for its length; it needs no service
async def test_a_team_watches_first_then_lets_it_speak(watched: Watched) -> None:
    async with watched.bot(shadow=True) as bot:
        first = await watched.slack.post_alert(ALERTS, GATEWAY)
        (brief,) = await watched.say("Shadow mode: for <#C0ALERTS>")
        link = watched.slack.core.permalink(watched.slack.core.workspace.channel(ALERTS), first)
        assert link in json.dumps(brief)
        assert "thread_ts" not in brief or brief["thread_ts"] == brief["ts"]

        # an edit of it happens there, and keeps the line above it
        await watched.slack.post_alert(ALERTS, OVER)
        (edited,) = await watched.say("leared")
        assert edited["ts"] == brief["ts"]
        assert "Shadow mode: for <#C0ALERTS>" in json.dumps(edited)

        # the buttons under it do what they do in the alert's thread: Details opens, a mute is one of the alert's channel
        await watched.slack.click("watching", brief["ts"], ids.DETAILS, user="alice")
        await watched.opened("Fail over to the second payment provider")
        await watched.slack.click("watching", brief["ts"], ids.FIXED, user="alice")
        (recorded,) = await watched.say("recorded by <@U0ALICE>")
        assert recorded["thread_ts"] == brief["ts"]
        mute = next(v for v in options(edited) if json.loads(v)["do"] == ids.MUTE)
        await watched.slack.click("watching", brief["ts"], ids.MORE, user="alice", choice=mute)
        assert json.loads((await watched.opened("Mute"))["private_metadata"])["c"] == ALERTS

        # whoever asks is answered where they ask: in the thread of the shadow channel, and in the alert's own
        await watched.slack.post("watching", f"<@{watched.slack.bot_user}> what should I skip?", thread_ts=brief["ts"])
        (answer,) = await watched.say("checks were not the cause")
        assert answer["thread_ts"] == brief["ts"]

        # a private channel's alert is nowhere, but counted
        await watched.slack.post_alert(SECRET, LEDGER)
        await watched.settled(bot)
        await ReportLeftOut(
            store=bot.memory.incidents, chat=bot.base.chat, clock=watched.clock, shadow=SHADOW, render=render_left_out
        )()
        (line,) = await watched.say("1 alert of private channels was left out today")
        assert SECRET not in json.dumps(line)
        await watched.settled(bot)
        assert "edger" not in json.dumps(watched.ours(SHADOW)).replace("ledger-api", "")
        assert watched.is_silent()
        assert watched.is_silent(SECRET)

        # the digest of the alert's channel
        assert await bot.jobs.post_digests() == 1
        await watched.say("<#C0ALERTS>: Digest")

        # a storm: one summary, in the thread of the first brief that stands there
        for n in range(7):
            await watched.slack.post_alert(ALERTS, another(f"Gateway{n}"))
            await watched.settled(bot)  # so that the first has a brief of its own, whoever works on the others
        (storm,) = await watched.say("Alert storm")
        await watched.settled(bot)
        assert storm["thread_ts"] in {m["ts"] for m in watched.ours(SHADOW)} - {storm["ts"]}
        assert watched.is_silent()
        before = {m["ts"] for m in watched.ours(SHADOW)}
        killed = await pretend_killed(bot, "brief/")

    watched.clock.at += timedelta(minutes=30)
    async with watched.bot(shadow=False) as bot:
        # what was on its way when the bot was killed is found where it went, though the mode is another by now
        await watched.settled(bot)
        assert killed
        assert {m["ts"] for m in watched.ours(SHADOW)} == before
        # a brief that stands in the shadow channel is edited there still; what is new is answered in its thread
        await watched.slack.post_alert(ALERTS, another("Gateway0", OVER))
        cleared = await watched.say("payments-api: cleared")
        assert {m["ts"] for m in cleared} <= before
        assert watched.is_silent()
        new = await watched.slack.post_alert(ALERTS, another("AfterTheMode"))
        (brief,) = await watched.slack.wait_until(lambda: watched.slack.replies(ALERTS, new["ts"]), 15)
        assert "Shadow" not in json.dumps(brief)
        await watched.settled(bot)
        assert {m["ts"] for m in watched.ours(SHADOW)} == before

    async with watched.bot(shadow=True) as bot:
        # the other way round: that brief goes on in its thread, what is new is said in the shadow channel
        await watched.slack.post_alert(ALERTS, another("AfterTheMode", OVER))
        (edited,) = await watched.say("cleared", ALERTS)
        assert edited["ts"] == brief["ts"]
        await watched.slack.click("alerts", brief["ts"], ids.FIXED, user="alice")
        (recorded,) = await watched.say("recorded by <@U0ALICE>", ALERTS)  # who pressed there is answered there
        assert recorded["thread_ts"] == new["ts"]
        assert (await bot.memory.outbox.count_rows()).get("slack.dead", 0) == 0


async def test_a_shadow_channel_that_cannot_be_written_to_loses_nothing(watched: Watched) -> None:
    workspace = watched.slack.core.workspace
    workspace.channel(SHADOW).members.remove(watched.slack.bot_user)
    async with watched.bot(shadow=True) as bot:
        await watched.slack.post_alert(ALERTS, GATEWAY)
        await watched.slack.wait_until(lambda: [e for e in watched.logged if "delivery failed" in e["event"]], 15)
        state = await describe_mode(bot.base.chat, SHADOW)
        assert state == (False, f"on, but channel {SHADOW} cannot be written to: {NOT_IN}. What is owed there waits")
        await watched.slack.slash("alerts", "/precedent", "status", user="alice")
        told = await watched.slack.wait_until(lambda: watched.slack.ephemerals("alice"))
        assert f"*Shadow mode* on, but channel {SHADOW}" in json.dumps(told)
        rows = await bot.memory.store.outbox_admin.list_rows(UNDELIVERED, 9)
        assert [(row.operation, row.state) for row in rows] == [("post", OutboxState.PENDING)]
    # another channel is set: what was never sent goes there
    workspace.add_channel("C0OTHER", "other", members=["alice", watched.slack.bot_user])
    watched.channel = "C0OTHER"
    async with watched.bot(shadow=True) as bot:
        await watched.say("Shadow mode: for <#C0ALERTS>", "C0OTHER")
        await watched.settled(bot)
        assert watched.is_silent()
        assert watched.is_silent(SHADOW)


def options(message: dict[str, Any]) -> list[str]:
    """The values of the entries of the menu under a brief."""
    rows = [e for b in message["blocks"] if b["type"] == "actions" for e in b["elements"]]
    return [o["value"] for e in rows if e["type"] == "overflow" for o in e["options"]]


async def pretend_killed(bot: Application, prefix: str) -> int:
    """The store as it is where the process died after Slack took the posts and before that was noted."""
    lost = sa.and_(outbox.c.delivery_id.startswith(prefix), outbox.c.operation == Operation.POST)
    died = {"state": "sending", "lease": "dead", "result": None, "settled_at": None}
    async with bot.memory.store.database.write() as connection:
        changed = (
            sa.update(outbox).where(lost).values(**died, due_at=bot.memory.store.outbox.clock.now() - timedelta(1))
        )
        return int((await connection.execute(changed)).rowcount)
