"""A storm against the real bot: alerts through the local Slack with its rate limits on, by Socket Mode.

`python -m tests.bench.storm` prints figures as JSON. Must not be read as Slack's own speed: Slack is local here.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sqlite3
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bot.adapters.store import open_store
from bot.bootstrap.modes.playground import read_manifest
from bot.bootstrap.system import RandomIds, SystemClock
from bot.domain.recall.query import OPERATOR
from bot.playground.delivery.courier import Ack, Parcel
from bot.playground.server import LocalSlack
from tests.e2e.process import BotProcess, said

PACE_S = 1.0
QUIET_S = 6.0


@dataclass(frozen=True)
class Plan:
    """How many alerts, of how many fingerprints, in how many channels, in how many seconds."""

    alerts: int = 1000
    fingerprints: int = 200
    channels: int = 20
    seconds: float = 10.0
    patience_s: float = 180.0

    @property
    def channel_beside(self) -> str:
        """A channel in which there is no storm."""
        return f"storm-{self.channels}"

    def channel(self, number: int) -> str:
        return f"storm-{number % self.channels}"

    def alert(self, number: int) -> dict[str, Any]:
        """Each channel has one service; a tenth of the fingerprints is critical, of a service of its own."""
        one = number % self.fingerprints
        where = one % self.channels
        service = f"checkout{where}-api" if (one // self.channels) % 10 else f"edge{where}-api"
        severity = "critical" if (one // self.channels) % 10 == 0 else "high"
        title = f"[FIRING:1] Broken{one} (prod {severity})"
        text = f"*Labels:*\n • alertname: Broken{one}\n • service: {service}\n • severity: {severity}"
        return {"username": "Alertmanager", "attachments": [{"color": "danger", "title": title, "text": text}]}


@dataclass
class Storm:
    """What happened. Times are seconds since the first alert."""

    plan: Plan
    bot: BotProcess
    acks_ms: list[float] = field(default_factory=list)
    unacked: int = 0
    posted: list[tuple[float, str, str, int]] = field(default_factory=list)
    started: float = 0.0
    memory_mb: tuple[float, float] = (0.0, 0.0)

    @property
    def slack(self) -> LocalSlack:
        return self.bot.slack

    def measure(self) -> None:
        """Time each delivery from the moment at which it is sent to its acknowledgement."""
        inner = self.slack.hub.attempt

        async def timed(parcel: Parcel) -> Ack:
            begun = time.perf_counter()
            ack = await inner(parcel)
            if ack.ok:
                self.acks_ms.append((time.perf_counter() - begun) * 1000)
            else:
                self.unacked += 1
            return ack

        self.slack.core.courier.transport = timed

    def resident_mb(self) -> float:
        assert self.bot.process is not None
        status = Path(f"/proc/{self.bot.process.pid}/status").read_text(encoding="utf-8")
        line = next(row for row in status.splitlines() if row.startswith("VmRSS:"))
        return int(line.split()[1]) / 1024

    async def run(self) -> dict[str, Any]:
        """Let it happen and wait until nothing more comes."""
        await self._warm_up()
        self.measure()
        before = self.resident_mb()
        self.started = time.time()
        for number in range(self.plan.alerts):
            due = self.started + number * self.plan.seconds / self.plan.alerts
            await asyncio.sleep(max(0.0, due - time.time()))
            channel = self.plan.channel(number % self.plan.fingerprints)
            message = await self.slack.post_alert(channel, self.plan.alert(number))
            self.posted.append((time.time() - self.started, channel, message["ts"], number % self.plan.fingerprints))
        sent_s = time.time() - self.started
        await self.slack.idle(self.plan.patience_s)
        await self._quiet()
        worked_off_s = await self.worked_off()
        self.memory_mb = (before, self.resident_mb())
        return self.figures(sent_s) | {"worked_off_s": round(worked_off_s, 1)}

    async def _warm_up(self) -> None:
        """One alert in a channel of its own: what is loaded with the first one is not the storm's."""
        name = self.plan.channel_beside
        labels = "*Labels:*\n • alertname: WarmUp\n • service: warm-api\n • severity: high"
        card = {"color": "danger", "title": "[FIRING:1] WarmUp (prod high)", "text": labels}
        await self.slack.post_alert(name, {"username": "Alertmanager", "attachments": [card]})
        channel = self.slack.core.workspace.channel(name)
        for _ in range(int(self.plan.patience_s * 5)):
            await asyncio.sleep(0.2)
            if any(m.get("bot_id") == self.slack.bot_id for m in channel.messages.values()):
                break
        await asyncio.sleep(2.0)

    def waiting(self) -> int:
        """How many events the bot has not worked off."""
        with closing(sqlite3.connect(self.bot.database)) as connection:
            asked = "SELECT count(*) FROM inbox WHERE state IN ('pending', 'working')"
            return int(connection.execute(asked).fetchone()[0])

    async def worked_off(self) -> float:
        """Wait until the bot has worked everything off; seconds since the first alert."""
        for _ in range(int(self.plan.patience_s * 2)):
            if not self.waiting():
                break
            await asyncio.sleep(0.5)
        return time.time() - self.started

    async def _quiet(self) -> None:
        """Until every alert is answered for and no answer came or changed for some seconds."""
        until = time.time() + self.plan.patience_s
        last, same_since = -1, time.time()
        while time.time() < until:
            now = self.slack.counters().get("api:chat.postMessage", 0) + self.slack.counters().get("api:chat.update", 0)
            if now != last:
                last, same_since = now, time.time()
            elif time.time() - same_since > QUIET_S and not self.unanswered():
                return
            await asyncio.sleep(0.5)

    def replies(self) -> dict[str, list[dict[str, Any]]]:
        """The bot's messages by channel, oldest first."""
        found = {}
        for number in range(self.plan.channels):
            name = self.plan.channel(number)
            messages = self.slack.core.workspace.channel(name).messages.values()
            found[name] = [m for m in messages if m.get("bot_id") == self.slack.bot_id]
        return found

    def unanswered(self) -> list[int]:
        """Fingerprints without a brief that are in no summary's count."""
        by_channel = self.replies()
        missing = []
        for number in range(self.plan.channels):
            name = self.plan.channel(number)
            mine = {one for _, channel, _, one in self.posted if channel == name}
            briefed = self._briefed(name, by_channel[name])
            joined = sum(joiners(m) for m in by_channel[name] if is_summary(m))
            outside = max(0, len(mine) - len(briefed) - joined)
            missing += sorted(mine - briefed)[:outside]
        return missing

    def _briefed(self, channel: str, replies: list[dict[str, Any]]) -> set[int]:
        roots = {ts: one for _, name, ts, one in self.posted if name == channel}
        return {roots[m["thread_ts"]] for m in replies if not is_summary(m) and m.get("thread_ts") in roots}

    async def incidents(self) -> int:
        """How many incidents the stopped bot kept, each with the firings of all its alerts counted."""
        assert await self.bot.stop() == 0
        store = await open_store(self.bot.environment()["DATABASE_URL"], SystemClock(), RandomIds())
        try:
            at = datetime.fromtimestamp(self.started, tz=UTC)
            lives = await store.incidents.list_lifecycles(at, at + timedelta(hours=1), OPERATOR)
        finally:
            await store.close()
        lost = len(self.posted) - sum(life.fired for life in lives)
        return len(lives) if lost == 0 else -lost

    def figures(self, sent_s: float) -> dict[str, Any]:
        by_channel = self.replies()
        briefs = [(n, one) for n, found in by_channel.items() for one in self._briefed(n, found)]
        all_briefs = [m for found in by_channel.values() for m in found if not is_summary(m)]
        summaries = [m for found in by_channel.values() for m in found if is_summary(m)]
        out_s = max(float(m["ts"]) for found in by_channel.values() for m in found) - self.started
        least_s = max(self._least_s(n, len(found)) for n, found in by_channel.items())
        before, after = self.memory_mb
        acks = sorted(self.acks_ms)
        return {
            "alerts": len(self.posted),
            "sent_in_s": round(sent_s, 1),
            "ack_ms": {"p50": quantile(acks, 0.5), "p99": quantile(acks, 0.99), "max": round(acks[-1], 1)},
            "deliveries_without_ack": self.unacked,
            "fingerprints_unanswered": len(self.unanswered()),
            "briefs": len(all_briefs),
            "incidents_with_two_briefs": len(all_briefs) - len(set(briefs)),
            "summaries": len(summaries),
            "refused_by_pace": sum(c["status"] == 429 for c in self.slack.calls("chat.postMessage")),
            "memory_mb": {"before": round(before), "after": round(after), "growth": round(after - before)},
            "replies_out_s": round(out_s, 1),
            "replies_least_s": round(least_s, 1),
            "ratio": round(out_s / least_s, 2),
        }

    def _least_s(self, channel: str, replies: int) -> float:
        """When a bot without any delay of its own could have posted so many replies there: none before the alerts that
        they answer (the first ones are taken), and each a pace after the one before."""
        seen: set[int] = set()
        free = 0.0
        firsts = [at for at, name, _, one in self.posted if name == channel and not (one in seen or seen.add(one))]  # type: ignore[func-returns-value]  # adds and goes on
        for at in firsts[:replies]:
            free = max(free, at) + PACE_S
        return free - PACE_S + max(0, replies - len(firsts)) * PACE_S


def is_summary(message: dict[str, Any]) -> bool:
    return str(message.get("text")).startswith(("Alert storm: ", "Storm over: "))


def joiners(message: dict[str, Any]) -> int:
    """How many incidents a summary tells of that have no brief of their own."""
    count = int(message["text"].split(": ")[1].split()[0])
    briefs = re.search(r"(\d+) with a brief of", said(message))
    return count - (int(briefs[1]) if briefs else 0)


def quantile(ordered: list[float], share: float) -> float:
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 1)


def workspace(folder: Path, plan: Plan) -> Path:
    names = [*map(plan.channel, range(plan.channels)), plan.channel_beside]
    channels = [{"id": f"C0STORM{n}", "name": name} for n, name in enumerate(names)]
    (folder / "alerts").mkdir(parents=True)
    users = [{"id": "U0ADA", "name": "ada", "real_name": "Ada"}]
    (folder / "channels.json").write_text(json.dumps({"users": users, "channels": channels}), encoding="utf-8")
    return folder


@asynccontextmanager
async def storm(folder: Path, plan: Plan, **more: str) -> AsyncIterator[Storm]:
    """The local Slack with its limits on, and a bot that is ready."""
    seeds = workspace(folder / "workspace", plan)
    async with await LocalSlack.start(manifest=read_manifest(), seeds_dir=seeds) as slack:
        await slack.limit_channels()
        bot = BotProcess(slack, folder / "bot.db", more={"LEASE_S": "30", **more})
        await bot.start()
        try:
            yield Storm(plan, bot)
        finally:
            await bot.kill()


async def main(plan: Plan) -> None:
    with tempfile.TemporaryDirectory(prefix="precedent-storm-") as folder:
        async with storm(Path(folder), plan, EMBEDDINGS="on") as run:
            figures = await run.run()
            print(json.dumps(figures | {"incidents": await run.incidents()}, indent=2))


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description="A storm of alerts against the real bot.")
    for name, usual in (("alerts", 1000), ("fingerprints", 200), ("channels", 20)):
        asked.add_argument(f"--{name}", type=int, default=usual)
    asked.add_argument("--seconds", type=float, default=10.0)
    asyncio.run(main(Plan(**vars(asked.parse_args()))))
