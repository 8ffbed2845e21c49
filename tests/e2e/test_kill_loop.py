"""kill -9, again and again, while people record what fixed things, Slack and the memory bank fail now and then, and the
people try again: what was acknowledged is there once, in order, in the thread, in the store and in the bank."""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.store import open_store
from bot.bootstrap.modes.playground import read_manifest
from bot.domain.incidents.record import Incident
from bot.domain.recall.query import OPERATOR
from bot.playground.server import LocalSlack
from bot.slack import ids
from tests.databases import fresh_postgres
from tests.e2e.http_bank import ADDRESS, FlakyBank, flaky_bank
from tests.e2e.process import ROOT, BotProcess, said, until
from tests.e2e.story_support import block
from tests.fakes import FakeClock, FakeIds

PEOPLE = ("ada", "ben", "cem", "dia")
INCIDENTS_EACH = 2


def workspace(folder: Path) -> Path:
    """A channel for each person, so that Slack's pace in a channel does not make the test slow."""
    users = [{"id": f"U0{name.upper()}", "name": name, "real_name": name.title()} for name in PEOPLE]
    channels = [{"id": f"C0{name.upper()}", "name": f"team-{name}"} for name in PEOPLE]
    (folder / "alerts").mkdir(parents=True)
    (folder / "channels.json").write_text(json.dumps({"users": users, "channels": channels}))
    return folder


def alert(name: str, number: int) -> dict[str, Any]:
    title = f"[FIRING:1] {name.title()}Broken{number} {name}-{number} (prod eu-west-1 critical)"
    return {"username": "Alertmanager", "attachments": [{"color": "danger", "title": title}]}


@dataclass
class Stream:
    """People at work. `acknowledged`: what Slack told them was recorded, by text."""

    bot: BotProcess
    bank: FlakyBank
    chance: random.Random
    briefs: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    acknowledged: list[str] = field(default_factory=list)
    unanswered: int = 0
    over: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def slack(self) -> LocalSlack:
        return self.bot.slack

    async def open_incidents(self) -> None:
        """Before anything is recorded, so that no brief knows anything."""
        for name in PEOPLE:
            for number in range(INCIDENTS_EACH):
                posted = await self.slack.post_alert(f"team-{name}", alert(name, number))
                self.briefs.setdefault(name, []).append((posted["ts"], ""))
        for name in PEOPLE:
            for at, (root, _) in enumerate(self.briefs[name]):
                (brief,) = await until(self.slack, partial(self.slack.replies, f"team-{name}", root))
                self.briefs[name][at] = (root, brief["ts"])

    async def record(self, name: str) -> None:
        """One person records fix after fix; where Slack says that it failed, they press again."""
        number = 0
        while not self.over.is_set():
            _, brief = self.briefs[name][number % INCIDENTS_EACH]
            text, number = f"{name} did step {number:03}.", number + 1
            while self.slack.view(name) is None and not self.over.is_set():
                await self.slack.click(f"team-{name}", brief, ids.RECORD, user=name)
                await self._patience(lambda: self.slack.view(name))
            while self.slack.view(name) is not None:
                answers = {block(ids.OUTCOME): "recovered", block(ids.FIX): text}
                outcome = await self.slack.submit_view(answers, user=name)
                if outcome.acked and not outcome.errors:
                    self.acknowledged.append(text)
                    break
                self.unanswered += 1
                await asyncio.sleep(0.3)
            await asyncio.sleep(self.chance.uniform(0.05, 0.3))

    def _have(self, number: int) -> bool:
        return len(self.acknowledged) >= number

    async def _patience(self, found: Callable[[], Any], patience_s: float = 1.0) -> None:
        try:
            await until(self.slack, found, patience_s)
        except TimeoutError:
            return

    async def misbehave(self) -> None:
        """Slack fails in one of its ways, now and then."""
        knobs = self.slack.core.knobs
        while not self.over.is_set():
            await asyncio.sleep(self.chance.uniform(0.1, 0.6))
            if any(knobs.lost.values()) or any(knobs.limited.values()) or any(knobs.errors.values()):
                continue  # one at a time: an error would keep the call from being carried out and its answer from being lost
            method = self.chance.choice(("chat.postMessage", "chat.postMessage", "chat.update"))
            drawn = self.chance.random()
            if drawn < 0.6:
                await self.slack.lose_answers(1, method)
            elif drawn < 0.8:
                await self.slack.fail("http_500", method, 1)
            else:
                await self.slack.limit(1, method, retry_after_s=1)

    async def kill(self, times: int) -> None:
        """kill -9 at any moment of work, and start again."""
        for _ in range(times):
            enough = len(self.acknowledged) + self.chance.randint(1, 4)
            await self._patience(partial(self._have, enough), 10.0)
            await asyncio.sleep(self.chance.uniform(0.0, 0.7))
            await self.bot.kill()
            await self.bot.start()
        await asyncio.sleep(0.5)
        self.over.set()

    async def all_delivered(self, patience_s: float) -> list[dict[str, Any]]:
        """Heal everything and wait until nothing waits; what is dead, as the command line lists it."""
        await self.slack.heal()
        self.bank.failing = 0.0
        for _ in range(int(patience_s)):
            owed = await self.listed()
            if all(row["state"] == "dead" for row in owed):
                return owed
            await asyncio.sleep(1.0)
        raise AssertionError(f"still owed: {owed}\n{self.bot.log()[-3000:]}")

    async def listed(self) -> list[dict[str, Any]]:
        command = (sys.executable, "-m", "bot", "outbox", "list", "--json", "--limit", "10000")
        listing = await asyncio.create_subprocess_exec(
            *command, cwd=ROOT, env=self.bot.environment(), stdout=asyncio.subprocess.PIPE
        )
        out, _ = await listing.communicate()
        found: list[dict[str, Any]] = json.loads(out)
        return found


@asynccontextmanager
async def stream(folder: Path, seed: int, database_url: str | None = None) -> AsyncIterator[Stream]:
    seeds_dir = workspace(folder / "workspace")
    async with (
        flaky_bank(seed) as bank,
        await LocalSlack.start(manifest=read_manifest(), seeds_dir=seeds_dir, retry_delays_s=(0.2, 0.2, 0.2)) as slack,
    ):
        module, more = "tests.e2e.http_bank", {ADDRESS: bank.url}
        bot = BotProcess(slack, folder / "bot.db", database_url=database_url, module=module, more=more)
        await bot.start()
        try:
            yield Stream(bot, bank, random.Random(seed))
        finally:
            await bot.kill()


async def records(run: Stream) -> dict[str, Incident]:
    store = await open_store(run.bot.environment()["DATABASE_URL"], FakeClock(), FakeIds())
    try:
        return {record.incident_id: record for record in await store.incidents.list_records(OPERATOR)}
    finally:
        await store.close()


async def survives(run: Stream, kills: int, patience_s: float) -> str:
    """Let it happen, then look; what happened, in numbers."""
    await run.open_incidents()
    await asyncio.gather(run.kill(kills), run.misbehave(), *(run.record(name) for name in PEOPLE))
    dead = await run.all_delivered(patience_s)
    assert await run.bot.stop() == 0
    kept = await records(run)
    fixes = {i: [attempt.fix for attempt in record.attempts] for i, record in kept.items()}
    stored = [fix for of_one in fixes.values() for fix in of_one]
    assert len(kept) == len(PEOPLE) * INCIDENTS_EACH
    assert sorted(stored) == sorted(run.acknowledged), "each acknowledged resolution is stored, once, and no other"
    dead_ids = {row["delivery_id"] for row in dead}
    told = []
    for name in PEOPLE:
        for root, brief in run.briefs[name]:
            replies = run.slack.replies(f"team-{name}", root)
            others = [message["ts"] for message in replies if not any(fix in said(message) for fix in stored)]
            assert others == [brief], "one brief, whatever happened"
            here = [fix for message in replies for fix in stored if fix in said(message)]
            if here or not dead_ids:
                assert here in fixes.values(), "told once each, in the order in which it was recorded"
            told += here
    assert len(told) == len(set(told))
    assert len(told) + sum("recorded/" in i for i in dead_ids) == len(stored)
    held = {i: [attempt["fix"] for attempt in record["attempts"]] for i, record in run.bank.kept.items()}
    assert held == {i: said_ for i, said_ in fixes.items() if said_}
    for incident_id in held:
        grown = [number for of, number in run.bank.history if of == incident_id]
        assert grown == sorted(grown), "the bank never got an older record after a newer one"
    return (
        f"{kills} kills, {len(run.acknowledged)} acknowledged, {run.unanswered} submissions unanswered and repeated, "
        f"{len(dead)} dead, bank took {len(run.bank.history)} and failed {run.bank.refused}"
    )


@pytest.mark.integration
@pytest.mark.parametrize("backend", ["sqlite", "postgresql"])
async def test_twenty_kills_lose_nothing(tmp_path: Path, backend: str, capsys: pytest.CaptureFixture[str]) -> None:
    url = None
    if backend == "postgresql":
        url = await fresh_postgres()
    async with stream(tmp_path, 20, url) as run:
        told = await survives(run, 20, 90)
        assert len(run.acknowledged) >= 20
    with capsys.disabled():
        print(f"\n{backend}: {told}")
