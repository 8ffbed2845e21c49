"""Wire the watch over what the bot depends on. Must not repair anything."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.bootstrap.wiring.assistant import MonitoredModel
from bot.bootstrap.wiring.foundation import Foundation
from bot.bootstrap.wiring.memory import Memory
from bot.ports.clock import Clock
from bot.workflows.evidence.gather import GatherEvidence
from bot.workflows.operations.status import format_outbox, name_source
from bot.workflows.operations.watch_dependencies import Probe, WatchDependencies

STORE, SLACK, OUTBOX, BANK = "Store", "Slack", "Outbox", "Hindsight"


def build_watch_dependencies(
    base: Foundation, *, sources: GatherEvidence, model: MonitoredModel | None
) -> WatchDependencies:
    """Build what watches store, outbox and memory bank, and learns of the sources of evidence and of the model as they
    are asked. The probe of Slack is added once there is a connection."""

    def list_problems() -> Iterator[tuple[str, str | None]]:
        yield from ((name_source(state.name), state.problem) for state in sources.list_states())
        yield from model.report_health() if model else ()

    return WatchDependencies(clock=base.clock, probes=build_probes(base.memory, base.clock), noted=list_problems)


def build_probes(memory: Memory, clock: Clock) -> dict[str, Probe]:
    """Build the probe of each: it returns the problem, or None."""
    bank = memory.remote

    async def store() -> str | None:
        return (await memory.health.read_status()).problem

    async def outbox() -> str | None:
        line = format_outbox(await memory.outbox.count_rows(), await memory.outbox.find_oldest_pending(), clock.now())
        return None if line.ok else line.detail

    async def remote() -> str | None:
        return (await bank.read_status()).problem if bank else None

    probes: dict[str, Probe] = {STORE: ThrottledProbe(store, clock), OUTBOX: outbox}
    return probes | ({BANK: ThrottledProbe(remote, clock)} if bank else {})


@dataclass(slots=True)
class ThrottledProbe:
    """A probe that is costly, as it writes or asks over the network: it runs once a minute, and every time after a failure."""

    probe: Probe
    clock: Clock
    every: timedelta = timedelta(seconds=60)
    _at: datetime | None = None

    async def __call__(self) -> str | None:
        """Return the problem, or None."""
        now = self.clock.now()
        if self._at and now - self._at < self.every:
            return None
        problem = await self.probe()
        self._at = now if problem is None else None
        return problem


def build_slack_probe(is_connected: Callable[[], Awaitable[bool]]) -> dict[str, Probe]:
    """Build the probe of the connection to Slack."""

    async def slack() -> str | None:
        return None if await is_connected() else "not connected; the bot tries again by itself"

    return {SLACK: slack}
