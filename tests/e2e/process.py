"""The real bot as a process of its own, on a local Slack in this one: started, stopped, killed."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import aiohttp

from bot.bootstrap.modes.playground import read_manifest
from bot.playground.server import LocalSlack
from tests.ports import free_port

ROOT = Path(__file__).parent.parent.parent
PATIENCE_S = 30.0


@dataclass
class BotProcess:
    """`precedent serve` with its own database file; over Socket Mode, or over signed HTTP."""

    slack: LocalSlack
    database: Path
    http: bool = False
    port: int = field(default_factory=free_port)
    process: asyncio.subprocess.Process | None = None
    database_url: str | None = None
    module: str = "bot"
    more: Mapping[str, str] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        kept = {
            k: v
            for k, v in os.environ.items()
            if k in {"PATH", "HOME", "LANG", "COVERAGE_PROCESS_START", "VIRTUAL_ENV"} or k.startswith("COV_CORE")
        }
        return kept | {
            "SLACK_BOT_TOKEN": self.slack.bot_token,
            **({} if self.http else {"SLACK_APP_TOKEN": self.slack.app_token}),
            "SLACK_SIGNING_SECRET": self.slack.signing_secret,
            "SLACK_API_URL": self.slack.api_url,
            "DATABASE_URL": self.database_url or f"sqlite+aiosqlite:///{self.database}",
            "PORT": str(self.port),
            "LOG_LEVEL": "WARNING",
            "LEASE_S": "2",
            "EMBEDDINGS": "off",  # loading the model takes longer than most of these tests
            "DIGEST_DAY": f"{datetime.now(UTC) + timedelta(days=3):%a}".lower(),  # none is due on whatever day this runs
            **self.more,
        }

    async def start(self) -> None:
        if self.http:
            self.slack.use_http(f"http://127.0.0.1:{self.port}/slack/events")
        log = self.database.with_suffix(".log").open("ab")
        self.process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", self.module, "serve", cwd=ROOT, env=self.environment(), stdout=log, stderr=log
        )
        log.close()
        await self.ready()

    async def ready(self) -> None:
        async with aiohttp.ClientSession() as session:
            for _ in range(int(PATIENCE_S / 0.1)):
                assert self.process is not None
                assert self.process.returncode is None, self.log()
                try:
                    async with session.get(f"http://127.0.0.1:{self.port}/readyz") as answer:
                        if answer.status == 200:
                            return
                except aiohttp.ClientError:
                    pass
                await asyncio.sleep(0.1)
        raise TimeoutError(f"not ready: {self.log()}")

    async def kill(self) -> None:
        """kill -9."""
        await self._end(signal.SIGKILL)

    async def stop(self) -> int:
        """SIGTERM; the exit status."""
        return await self._end(signal.SIGTERM)

    async def _end(self, number: int) -> int:
        assert self.process is not None
        if self.process.returncode is None:
            self.process.send_signal(number)
        return await asyncio.wait_for(self.process.wait(), PATIENCE_S)

    def log(self) -> str:
        path = self.database.with_suffix(".log")
        return path.read_text(errors="replace") if path.exists() else ""

    async def import_records(self, path: Path) -> None:
        done = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "bot",
            "import",
            str(path),
            cwd=ROOT,
            env=self.environment(),
            stdout=asyncio.subprocess.DEVNULL,
        )
        assert await done.wait() == 0


@asynccontextmanager
async def served(folder: Path, *, http: bool = False, **more: str) -> AsyncIterator[BotProcess]:
    """A local Slack and a bot that is ready."""
    async with await LocalSlack.start(manifest=read_manifest(), retry_delays_s=(0.2, 0.2, 0.2)) as slack:
        bot = BotProcess(slack, folder / "bot.db", http=http, more=more)
        await bot.start()
        try:
            yield bot
        finally:
            await bot.kill()


async def until(slack: LocalSlack, found: Callable[[], Any], timeout_s: float = PATIENCE_S) -> Any:
    return await slack.core.wait_until(found, timeout_s)


def said(message: Mapping[str, Any]) -> str:
    """All text of a message's blocks."""
    return str(message.get("blocks")) + str(message.get("text"))
