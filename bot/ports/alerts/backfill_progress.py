"""How far the past of each channel was read, and how much people wrote under its alerts.

Must not keep a word of what anybody wrote.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from bot.domain.operations.backfill import BackfillTally, ReadSpan, ThreadActivity


@dataclass(frozen=True, slots=True)
class BackfillProgress:
    """The stretches of one channel that were read, and what they held."""

    channel: str
    name: str = ""  # what people call the channel
    done: tuple[ReadSpan, ...] = ()  # in order, never overlapping
    tally: BackfillTally = field(default_factory=BackfillTally)
    at: datetime | None = None


class BackfillStore(Protocol):
    """Progress of reading back. Raises StoreUnavailable."""

    async def read_progress(self, channel: str) -> BackfillProgress | None:
        """Return the channel's progress, None where nothing of it was read yet."""
        ...

    async def find_channel(self, name: str) -> str | None:
        """Return the id of the channel that was read under this name."""
        ...

    async def save(self, progress: BackfillProgress, talks: Mapping[str, ThreadActivity]) -> None:
        """Write both in one transaction; `talks` is by the thread's root and adds to those that are stored."""
        ...

    async def read_talks(self, channel: str) -> Mapping[str, ThreadActivity]:
        """Return what was counted of each thread, by its root."""
        ...

    async def find_incidents(self, channel: str, posts: Iterable[str]) -> Mapping[str, str]:
        """Return the incident of each of these messages (by ts) that belongs to one."""
        ...

    async def find_purged(self, channel: str, posts: Iterable[str]) -> frozenset[str]:
        """Return those of these messages (by ts) whose incident was purged: they must not be read back."""
        ...

    async def find_received(self, natural_keys: Iterable[str]) -> frozenset[str]:
        """Return those of these facts that Slack delivered live: somebody works on them, or has."""
        ...
