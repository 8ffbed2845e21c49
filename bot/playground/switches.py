"""The switches of the page: memory on and off, time, and reset.

The process that runs the app next to the local Slack sets `host`; without one, memory cannot be switched.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from bot.playground.core import LocalSlackCore
from bot.playground.workspace.state import JSON, SlackRefused

MOST_HOURS = 24.0 * 366


class BotHost(Protocol):
    """Runs the app next to the local Slack."""

    async def switch_memory(self, *, on: bool) -> None:
        """Let the next briefs use memory, or not."""
        ...

    async def restart(self, clear: Callable[[], None]) -> None:
        """Stop the app, call `clear`, and start it with the memory that it had at the beginning."""
        ...


@dataclass(slots=True)
class Switchboard:
    """The positions of the switches."""

    seeds: Mapping[str, Any]
    host: BotHost | None = None
    memory: bool = True
    skew_s: float = 0.0
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def to_json(self) -> JSON:
        """Return the positions for the page."""
        return {"hosted": self.host is not None, "memory": self.memory, "hours_later": round(self.skew_s / 3600, 1)}


class Switches:
    """Memory, time, and reset."""

    core: LocalSlackCore
    board: Switchboard

    async def switch_memory(self, *, on: bool) -> None:
        """Let the next briefs use memory, or not. Raises SlackRefused no_host."""
        await self._host().switch_memory(on=on)
        self.board.memory = on
        self.core.notify_waiters()

    async def later(self, hours: float) -> None:
        """Move the clock of the local Slack and the app ahead. Raises ValueError outside 0 to one year."""
        if not (math.isfinite(hours) and 0 < hours <= MOST_HOURS):
            raise ValueError(f"hours must be over 0, at most {MOST_HOURS:.0f}")
        before, self.board.skew_s = self.core.now, self.board.skew_s + hours * 3600
        self.core.now = lambda: before() + hours * 3600
        self.core.notify_waiters()

    async def reset(self) -> None:
        """Restore the start: messages, memory, faults, switches, and time. Raises SlackRefused no_host."""
        async with self.board.turn:
            await self.core.courier.stop()
            await self._host().restart(self._clear)
        self.core.notify_waiters()

    def _clear(self) -> None:
        skew_s, with_skew = self.board.skew_s, self.core.now
        if skew_s:
            self.core.now = lambda: with_skew() - skew_s
        self.board.skew_s, self.board.memory = 0.0, True
        self.core.clear()
        self.core.load(self.board.seeds)

    def _host(self) -> BotHost:
        if self.board.host is None:
            raise SlackRefused("no_host")
        return self.board.host
