"""What the bot depends on, and how each is looked at. Must not repair anything."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.bootstrap.wiring.assistant import NotedModel
from bot.bootstrap.wiring.memory import Memory
from bot.ports.clock import Clock
from bot.workflows.evidence.gather import GatherEvidence
from bot.workflows.operations.status import evidence_name, owed_line
from bot.workflows.operations.watch_dependencies import Probe, WatchDependencies

STORE, SLACK, OUTBOX, BANK = "Store", "Slack", "Outbox", "Hindsight"


def watching(
    memory: Memory, clock: Clock, sources: GatherEvidence, model: NotedModel | None = None
) -> WatchDependencies:
    """What looks at the store, at what is owed, at the memory bank where there is one, and hears of the sources of
    evidence and of the model as they are asked. Slack is added by `slack_of` once there is a connection."""

    def noted() -> Iterator[tuple[str, str | None]]:
        yield from ((evidence_name(state.name), state.problem) for state in sources.states())
        yield from model.noted() if model else ()

    return WatchDependencies(clock, probes_of(memory, clock), noted)


def probes_of(memory: Memory, clock: Clock) -> dict[str, Probe]:
    """How each is looked at: the problem, or None."""
    bank = memory.remote

    async def store() -> str | None:
        return (await memory.health.status()).problem

    async def owed() -> str | None:
        line = owed_line(await memory.outbox.counts(), await memory.outbox.oldest_pending_at(), clock.now())
        return None if line.ok else line.detail

    async def remote() -> str | None:
        return (await bank.status()).problem if bank else None

    probes: dict[str, Probe] = {STORE: Seldom(store, clock), OUTBOX: owed}
    return probes | ({BANK: Seldom(remote, clock)} if bank else {})


@dataclass(slots=True)
class Seldom:
    """A probe that writes, or asks over the network: looked at once a minute, and as it was then in between. One that
    failed is looked at each time."""

    probe: Probe
    clock: Clock
    every: timedelta = timedelta(seconds=60)
    _at: datetime | None = None

    async def __call__(self) -> str | None:
        """See Probe."""
        now = self.clock.now()
        if self._at and now - self._at < self.every:
            return None
        problem = await self.probe()
        self._at = now if problem is None else None
        return problem


def slack_of(is_connected: Callable[[], Awaitable[bool]]) -> dict[str, Probe]:
    """How the connection to Slack is looked at."""

    async def slack() -> str | None:
        return None if await is_connected() else "not connected; the bot tries again by itself"

    return {SLACK: slack}
