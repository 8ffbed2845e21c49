"""The bot inside a local Slack with a throw-away database, for demo, playground and e2e tests. `serve` does not use it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from bot.bootstrap.application import Application, run_application
from bot.bootstrap.modes.seeds import FILES, SEEDS, read_seed_incidents
from bot.bootstrap.system import RandomIds, SystemClock
from bot.bootstrap.wiring.memory import Memory, open_memory
from bot.domain.access.visibility import Viewer
from bot.domain.recall.query import Query
from bot.domain.recall.ranking import MissingPart, Recalled
from bot.playground.server import LocalSlack
from bot.ports.clock import Clock, Ids
from bot.ports.errors import AddressUnavailable
from bot.ports.memory import Recall
from bot.ports.unit_of_work import Changes
from bot.settings import Settings

RECALL_SWITCHED_OFF = Recalled(missing=(MissingPart("memory", "switched off in the playground"),))


@dataclass(frozen=True, slots=True)
class OpenPlayground:
    """A local Slack and the bot that is connected to it."""

    slack: LocalSlack
    bot: Application


@dataclass(frozen=True, slots=True)
class Playground:
    """How to open a playground."""

    # of the page; 0 means any free one
    port: int = 0
    # whether memory starts with the seeds
    seeded: bool = True

    @asynccontextmanager
    async def open(self) -> AsyncIterator[OpenPlayground]:
        """Start both; everything is gone afterwards."""
        with tempfile.TemporaryDirectory(prefix="precedent-") as folder:
            async with await self._build_slack() as slack, AsyncExitStack() as stack:
                hosted = HostedBot(slack, Path(folder), stack, self.seeded)
                bot = await hosted.start()
                slack.board.host = hosted
                yield OpenPlayground(slack, bot)

    async def _build_slack(self) -> LocalSlack:
        try:
            return await LocalSlack.start(port=self.port, seeds_dir=SEEDS, manifest=read_manifest())
        except OSError as taken:
            raise AddressUnavailable(
                f"Port {self.port} of this machine is taken: end what uses it, or `precedent playground --port 3211`."
            ) from taken


@dataclass(slots=True)
class HostedBot:
    """The bot next to the local Slack: it can be restarted with a new database, and its memory switched off."""

    slack: LocalSlack
    folder: Path
    stack: AsyncExitStack
    seeded: bool
    starts: int = 0
    on: bool = True

    async def start(self) -> Application:
        """Start the bot with a new database."""
        self.starts, self.on = self.starts + 1, True
        config = build_local_settings(self.slack, self.folder / f"playground-{self.starts}.db")
        await self._copy_seeds(self.folder / f"playground-{self.starts}.db")
        return await self.stack.enter_async_context(
            run_application(config, LocalSlackClock(self.slack), self._open_memory)
        )

    async def _copy_seeds(self, database: Path) -> None:
        """Read and embed the seeds once; every later start takes a copy."""
        if not self.seeded:
            return
        kept = self.folder / "seeds.db"
        if not kept.exists():
            await load_seeds(build_local_settings(self.slack, kept))
        shutil.copyfile(kept, database)

    async def restart(self, clear: Callable[[], None]) -> None:
        """Stop the bot, call `clear`, and start it again from the beginning."""
        await self.stack.aclose()
        clear()
        await self.start()

    async def switch_memory(self, *, on: bool) -> None:
        """Let the next briefs use memory, or not."""
        self.on = on

    @asynccontextmanager
    async def _open_memory(self, settings: Settings, clock: Clock, ids: Ids) -> AsyncIterator[Memory]:
        async with open_memory(settings, clock, ids) as memory:
            yield replace(memory, recall=SwitchableRecall(memory.recall, lambda: self.on))


@dataclass(frozen=True, slots=True)
class SwitchableRecall:
    """A recall that can be switched off: then nothing is recalled, and the brief says so."""

    recall: Recall
    is_on: Callable[[], bool]
    off: Recalled = field(default=RECALL_SWITCHED_OFF)

    async def precedents(self, query: Query, viewer: Viewer) -> Recalled:
        """Return all tiers, best first; nothing while switched off."""
        return await self.recall.precedents(query, viewer) if self.is_on() else self.off


@dataclass(frozen=True, slots=True)
class LocalSlackClock:
    """The clock of the local Slack, which its page can move ahead."""

    slack: LocalSlack

    def now(self) -> datetime:
        """Return its time in UTC."""
        return datetime.fromtimestamp(self.slack.core.now(), tz=UTC)


def read_manifest() -> Mapping[str, Any]:
    """Return the app's manifest: the local Slack grants what it asks for, and nothing else."""
    found: Mapping[str, Any] = yaml.safe_load((FILES / "manifest.yml").read_text(encoding="utf-8"))
    return found


def build_local_settings(slack: LocalSlack, database: Path) -> Settings:
    """Build settings for a bot on the local Slack. A real workspace or memory in the environment is not used."""
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
    """Import the seed incidents and return how many there are."""
    clock = SystemClock()
    async with open_memory(config, clock, RandomIds()) as memory:
        records = read_seed_incidents(clock.now())
        ids = frozenset(record.incident_id for record in records)
        await memory.incidents.commit(Changes(records=records, recallable=ids, skips_bank=True))
        while await memory.fill_vectors() == 0.0:
            pass  # at once, so that the first brief is the same as every later one
        return len(records)
