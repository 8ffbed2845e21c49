"""How far the past of each channel was read, and how much people wrote under its alerts.

Must not keep a word of what anybody wrote.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from bot.domain.operations.backfill import Span, Talk, Tally


@dataclass(frozen=True, slots=True)
class BackfillProgress:
    """The stretches of a channel that were read, in order, and what they held. `name` is what people call it."""

    channel: str
    name: str = ""
    done: tuple[Span, ...] = ()
    tally: Tally = field(default_factory=Tally)
    at: datetime | None = None


class BackfillStore(Protocol):
    """Raises StoreUnavailable."""

    async def read_progress(self, channel: str) -> BackfillProgress | None:
        """None where nothing of this channel was read yet."""
        ...

    async def find_channel(self, name: str) -> str | None:
        """The id of the channel that was read under this name."""
        ...

    async def save(self, progress: BackfillProgress, talks: Mapping[str, Talk]) -> None:
        """Keep both in one transaction: `talks` by the thread's root, added to those that are kept."""
        ...

    async def read_talks(self, channel: str) -> Mapping[str, Talk]:
        """By the thread's root."""
        ...

    async def find_incidents(self, channel: str, posts: Iterable[str]) -> Mapping[str, str]:
        """Those of these messages (by ts) that belong to an incident, with its id."""
        ...

    async def find_purged(self, channel: str, posts: Iterable[str]) -> frozenset[str]:
        """Those of these messages (by ts) whose incident was purged: they are not to be read back."""
        ...

    async def find_received(self, natural_keys: Iterable[str]) -> frozenset[str]:
        """Those of these facts that Slack told as they happened: somebody works on them, or has."""
        ...
