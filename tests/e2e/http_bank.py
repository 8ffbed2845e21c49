"""A memory bank over HTTP that fails now and then, and the bot that uses it: `python -m tests.e2e.http_bank serve`."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import aiohttp
from aiohttp import web

from bot.bootstrap.application import run_application
from bot.bootstrap.wiring.memory import Memory, open_memory
from bot.cli.serve import wait_until_stopped
from bot.domain.access.visibility import Viewer
from bot.domain.incidents.record import Incident
from bot.domain.recall.query import OPERATOR, Query
from bot.observability import configure_logging
from bot.ports.clock import Clock, Ids
from bot.ports.errors import MemoryRejected, MemoryUnavailable
from bot.ports.memory import BankHit
from bot.records.incident_json import write_record
from bot.settings import Settings

ADDRESS = "TEST_BANK_URL"


@dataclass
class FlakyBank:
    """The server. `kept` is what it holds; `history` every record it took, as (incident id, number of attempts)."""

    chance: random.Random
    failing: float = 0.35
    kept: dict[str, Any] = field(default_factory=dict)
    history: list[tuple[str, int]] = field(default_factory=list)
    refused: int = 0
    url: str = ""

    async def put(self, request: web.Request) -> web.Response:
        drawn = self.chance.random() / self.failing if self.failing else 1.0
        if drawn < 0.5:
            self.refused += 1
            return web.Response(status=503)
        record, incident_id = await request.json(), request.match_info["id"]
        self.kept[incident_id] = record
        self.history.append((incident_id, len(record["attempts"])))
        if drawn < 1.0 and request.transport:
            self.refused += 1
            request.transport.close()  # kept, but the answer is lost
        return web.Response(status=200)


@asynccontextmanager
async def flaky_bank(seed: int) -> AsyncIterator[FlakyBank]:
    bank = FlakyBank(random.Random(seed))
    app = web.Application()
    app.router.add_put("/{id}", bank.put)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    bank.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield bank
    finally:
        await runner.cleanup()


@dataclass
class HttpBank:
    """The client, as an adapter would be."""

    session: aiohttp.ClientSession

    async def retain(self, incident: Incident) -> None:
        try:
            async with self.session.put(f"/{incident.incident_id}", json=write_record(incident)) as answer:
                status = answer.status
        except aiohttp.ClientError as problem:
            raise MemoryUnavailable("The bank broke off.") from problem
        if status >= 500:
            raise MemoryUnavailable("The bank fails.")
        if status >= 400:
            raise MemoryRejected("The bank refuses this.")

    async def retract(self, incident_id: str) -> None:
        raise MemoryRejected("nothing is retracted here")

    async def recall(self, query: Query, limit: int, viewer: Viewer = OPERATOR) -> tuple[BankHit, ...]:
        raise MemoryUnavailable("the index answers here")


@asynccontextmanager
async def with_bank(settings: Settings, clock: Clock, ids: Ids) -> AsyncIterator[Memory]:
    async with (
        open_memory(settings, clock, ids, feeds_bank=True) as memory,
        aiohttp.ClientSession(os.environ[ADDRESS]) as session,
    ):
        yield replace(memory, bank=HttpBank(session))


async def serve() -> None:
    async with run_application(Settings(), opening=with_bank):
        await wait_until_stopped()


if __name__ == "__main__":
    configure_logging("WARNING")
    asyncio.run(serve())
