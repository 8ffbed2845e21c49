"""The bot inside a local Slack with a throw-away database, for demo, playground and e2e tests.

Must not be used by `serve`.
"""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from bot.bootstrap.bot import Bot, running
from bot.bootstrap.memory import open_memory
from bot.bootstrap.seeds import FILES, SEEDS, seed_incidents
from bot.bootstrap.system import RandomIds, SystemClock
from bot.playground.server import LocalSlack
from bot.ports import AddressUnavailable
from bot.ports.store import Changes
from bot.settings import Settings


@dataclass(frozen=True, slots=True)
class Opened:
    """A local Slack and the bot that is connected to it."""

    slack: LocalSlack
    bot: Bot


@dataclass(frozen=True, slots=True)
class Playground:
    """How to open it: the page's port (0: any free one), and whether memory starts with the seeds."""

    port: int = 0
    seeded: bool = True

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Opened]:
        """Start both; everything is gone afterwards."""
        with tempfile.TemporaryDirectory(prefix="precedent-") as folder:
            async with await self._slack() as slack:
                config = local_settings(slack, Path(folder) / "playground.db")
                if self.seeded:
                    await load_seeds(config)
                async with running(config) as bot:
                    yield Opened(slack, bot)

    async def _slack(self) -> LocalSlack:
        try:
            return await LocalSlack.start(port=self.port, seeds_dir=SEEDS, manifest=manifest())
        except OSError as taken:
            raise AddressUnavailable(
                f"Port {self.port} of this machine is taken: end what uses it, or `precedent playground --port 3211`."
            ) from taken


def manifest() -> Mapping[str, Any]:
    """The app's manifest: the local Slack grants what it asks for, and nothing else."""
    found: Mapping[str, Any] = yaml.safe_load((FILES / "manifest.yml").read_text(encoding="utf-8"))
    return found


def local_settings(slack: LocalSlack, database: Path) -> Settings:
    """Settings for a bot on the local Slack; nothing of the environment's real workspace or memory is used."""
    return Settings(
        slack_bot_token=slack.bot_token,
        slack_app_token=slack.app_token,
        slack_signing_secret=slack.signing_secret,
        slack_api_url=slack.api_url,
        database_url=f"sqlite+aiosqlite:///{database}",
        hindsight_url=None,
        groq_api_key=None,
        port=0,
        host="127.0.0.1",
    )


async def load_seeds(config: Settings) -> int:
    """Import the seed incidents; how many."""
    clock = SystemClock()
    async with open_memory(config, clock, RandomIds()) as memory:
        records = seed_incidents(clock.now())
        ids = frozenset(record.incident_id for record in records)
        await memory.incidents.commit(Changes(records=records, recallable=ids))
        return len(records)
