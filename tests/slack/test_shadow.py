"""Shadow mode on the local Slack: the whole bot, started with and without it on one database."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from bot.adapters.store.tables import outbox
from bot.bootstrap.bot import Bot, running
from bot.bootstrap.playground import load_seeds, local_settings
from bot.playground import LocalSlack
from bot.slack import ids
from tests.slack.conftest import MANIFEST, ROOT, SteppingClock

ALERTS, SECRET, SHADOW = "C0ALERTS", "C0SECRET", "C0SHADOW"
GATEWAY = json.loads((ROOT / "seeds/alerts/payment-gateway-504.json").read_text())
OVER = json.loads((ROOT / "seeds/alerts/payment-gateway-504-resolved.json").read_text())
LEDGER = json.loads((ROOT / "seeds/alerts/unknown-ledger-drift.json").read_text())


def another(name: str) -> dict[str, Any]:
    """The gateway's alert under another name: another incident."""
    return dict(json.loads(json.dumps(GATEWAY).replace("PaymentGatewayErrorRateHigh", name)))


@dataclass
class Watched:
    """A workspace with a shadow channel, and what the bot says in it."""

    slack: LocalSlack
    clock: SteppingClock
    folder: Path
    channel: str = SHADOW
    shown: list[dict[str, Any]] = field(default_factory=list)

    @asynccontextmanager
    async def bot(self, *, shadow: bool) -> AsyncIterator[Bot]:
        """The bot on the one database, with the mode on or off."""
        channel = self.channel if shadow else None
        settings = local_settings(self.slack, self.folder / "bot.db").model_copy(update={"shadow_channel": channel})
        async with running(settings, self.clock) as bot:
            await self.slack.wait_connected()
            yield bot

    def ours(self, channel: str) -> list[dict[str, Any]]:
        return [m for m in self.slack.messages(channel) if m.get("bot_id") == self.slack.bot_id]

    async def say(self, text: str, channel: str = SHADOW, count: int = 1) -> list[dict[str, Any]]:
        """The bot's messages with this text, as soon as there are so many."""

        def found() -> list[dict[str, Any]] | None:
            said = [m for m in self.ours(channel) if text in json.dumps(m, ensure_ascii=False)]
            return said if len(said) >= count else None

        return list(await self.slack.wait_for(found, 15) or ())

    def is_silent(self, channel: str = ALERTS) -> bool:
        """Whether the bot was never seen there: no message, no reaction."""
        return not self.ours(channel) and not any(m.get("reactions") for m in self.slack.messages(channel))

    async def settled(self, bot: Bot) -> None:
        """Everything is worked off and delivered."""
        for _ in range(200):
            counts = await bot.memory.outbox.counts()
            waiting = await bot.memory.store.inbox_desk.counts()
            if not any(n for k, n in counts.items() if k in {"slack.pending", "slack.sending"}) and not any(
                waiting.get(k) for k in ("pending", "working")
            ):
                return
            await self.slack.idle(1)
            await self.slack.core.wait_news(0.1)
        raise AssertionError(counts)


@pytest.fixture
async def watched(tmp_path: Path) -> AsyncIterator[Watched]:
    clock = SteppingClock()
    async with await LocalSlack.start(manifest=MANIFEST, now=clock.stamp) as slack:
        slack.core.workspace.add_channel(SHADOW, "watching", members=["alice", "bob", slack.bot_user])
        made = Watched(slack, clock, tmp_path)
        await load_seeds(local_settings(slack, tmp_path / "bot.db"))
        yield made


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
        await watched.slack.wait_for(lambda: watched.slack.view("alice"))
        await watched.slack.close_view(user="alice")
        await watched.slack.click("watching", brief["ts"], ids.FIXED, user="alice")
        (recorded,) = await watched.say("recorded by <@U0ALICE>")
        assert recorded["thread_ts"] == brief["ts"]
        menu = json.dumps({"do": ids.MUTE, "i": "INC-1"}, separators=(",", ":"))
        menu = next(v for v in (o["value"] for o in options(edited)) if json.loads(v)["do"] == json.loads(menu)["do"])
        await watched.slack.click("watching", brief["ts"], ids.MORE, user="alice", choice=menu)
        view = await watched.slack.wait_for(lambda: watched.slack.view("alice"))
        assert view is not None
        assert json.loads(view["private_metadata"])["c"] == ALERTS
        await watched.slack.close_view(user="alice")

        # whoever asks is answered where they ask: in the thread of the shadow channel, and in the alert's own
        await watched.slack.post("watching", f"<@{watched.slack.bot_user}> what did we skip?", thread_ts=brief["ts"])
        answered = await watched.say("DB", count=1)
        assert answered

        # a private channel's alert is nowhere, but counted
        await watched.slack.post_alert(SECRET, LEDGER)
        (left_out,) = await watched.say("1 alert of private channels was left out today")
        assert SECRET not in json.dumps(left_out)
        await watched.settled(bot)
        assert "edger" not in json.dumps(watched.ours(SHADOW)).replace("ledger-api", "")
        assert watched.is_silent()
        assert watched.is_silent(SECRET)

        # a storm: one summary, in the thread of the first brief that stands there
        for n in range(7):
            await watched.slack.post_alert(ALERTS, another(f"Gateway{n}"))
        await watched.say("alerts", count=1)
        await watched.settled(bot)
        assert watched.is_silent()
        assert (await bot.deps_status())["Shadow mode"].startswith("on: ") if hasattr(bot, "deps_status") else True
        before = {m["ts"] for m in watched.ours(SHADOW)}
        killed = await pretend_killed(bot, "brief/")

    async with watched.bot(shadow=False) as bot:
        # what was on its way when the bot was killed is found where it went, though the mode is another by now
        await watched.settled(bot)
        assert killed
        assert {m["ts"] for m in watched.ours(SHADOW)} == before
        new = await watched.slack.post_alert(ALERTS, another("AfterTheMode") | {"text": "x"})
        await watched.slack.wait_for(lambda: watched.slack.replies(ALERTS, new["ts"]), 15)
        # the brief that stands in the shadow channel is edited there still
        await watched.slack.click("watching", sorted(before)[0], ids.RECORD, user="alice")
        await watched.settled(bot)
        counts = await bot.memory.outbox.counts()
        assert counts.get("slack.dead", 0) == 0


def options(message: dict[str, Any]) -> list[dict[str, Any]]:
    rows = [e for b in message["blocks"] if b["type"] == "actions" for e in b["elements"]]
    return [o for e in rows if e["type"] == "overflow" for o in e["options"]]


async def pretend_killed(bot: Bot, prefix: str) -> int:
    """The store as it is where the process died after Slack took the posts and before that was noted."""
    lost = sa.and_(outbox.c.delivery_id.startswith(prefix), outbox.c.operation == "post")
    died = {"state": "sending", "lease": "dead", "result": None, "settled_at": None}
    async with bot.memory.store.database.write() as connection:
        changed = sa.update(outbox).where(lost).values(**died, due_at=bot.memory.store.outbox.clock.now() - timedelta(1))
        return int((await connection.execute(changed)).rowcount)
