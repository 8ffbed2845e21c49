"""What the bot depends on, and how each is looked at. Must not repair anything."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.bootstrap.wiring.assistant import MonitoredModel
from bot.bootstrap.wiring.memory import Memory
from bot.ports.clock import Clock
from bot.workflows.evidence.gather import GatherEvidence
from bot.workflows.operations.status import format_outbox, name_source
from bot.workflows.operations.watch_dependencies import Probe, WatchDependencies

STORE, SLACK, OUTBOX, BANK = "Store", "Slack", "Outbox", "Hindsight"


def build_watch_dependencies(
    memory: Memory, clock: Clock, sources: GatherEvidence, model: MonitoredModel | None = None
) -> WatchDependencies:
    """What looks at the store, at what is owed, at the memory bank where there is one, and hears of the sources of
    evidence and of the model as they are asked. Slack is added by `slack_of` once there is a connection."""

    def noted() -> Iterator[tuple[str, str | None]]:
        yield from ((name_source(state.name), state.problem) for state in sources.list_states())
        yield from model.report_health() if model else ()

    return WatchDependencies(clock, build_probes(memory, clock), noted)


def build_probes(memory: Memory, clock: Clock) -> dict[str, Probe]:
    """How each is looked at: the problem, or None."""
    bank = memory.remote

    async def store() -> str | None:
        return (await memory.health.read_status()).problem

    async def owed() -> str | None:
        line = format_outbox(await memory.outbox.count_rows(), await memory.outbox.find_oldest_pending(), clock.now())
        return None if line.ok else line.detail

    async def remote() -> str | None:
        return (await bank.read_status()).problem if bank else None

    probes: dict[str, Probe] = {STORE: ThrottledProbe(store, clock), OUTBOX: owed}
    return probes | ({BANK: ThrottledProbe(remote, clock)} if bank else {})


@dataclass(slots=True)
class ThrottledProbe:
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


def build_slack_probe(is_connected: Callable[[], Awaitable[bool]]) -> dict[str, Probe]:
    """How the connection to Slack is looked at."""

    async def slack() -> str | None:
        return None if await is_connected() else "not connected; the bot tries again by itself"

    return {SLACK: slack}
