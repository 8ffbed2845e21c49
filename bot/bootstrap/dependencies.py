"""What the bot depends on, and how each is looked at. Must not repair anything."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator

from bot.bootstrap.memory import Memory
from bot.ports.clock import Clock
from bot.workflows.dependencies import Probe, WatchDependencies
from bot.workflows.evidence import GatherEvidence
from bot.workflows.status import owed_line

STORE, SLACK, OUTBOX, BANK = "Store", "Slack", "Outbox", "Hindsight"


def watching(memory: Memory, clock: Clock, sources: GatherEvidence) -> WatchDependencies:
    """What looks at the store, at what is owed, at the memory bank where there is one, and hears of the sources of
    evidence as they are asked. Slack is added by `slack_of` once there is a connection."""

    def noted() -> Iterator[tuple[str, str | None]]:
        return ((f"Evidence: {state.name}", state.problem) for state in sources.states())

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

    return {STORE: store, OUTBOX: owed, **({BANK: remote} if bank else {})}


def slack_of(is_connected: Callable[[], Awaitable[bool]]) -> dict[str, Probe]:
    """How the connection to Slack is looked at."""

    async def slack() -> str | None:
        return None if await is_connected() else "not connected; the bot tries again by itself"

    return {SLACK: slack}
