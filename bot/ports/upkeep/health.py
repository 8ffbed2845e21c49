"""Whether the store works."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from bot.domain.text.json_types import JsonObject


@dataclass(frozen=True, slots=True)
class StoreStatus:
    """Whether the store works, and how it is set up."""

    writable: bool
    schema: str | None  # the applied revision
    records: int = 0
    problem: str | None = None  # one sentence, None if fine
    details: JsonObject = field(default_factory=dict)


class StoreHealth(Protocol):
    """Health of the store, for readiness, `doctor` and status. Never raises."""

    async def read_status(self) -> StoreStatus:
        """Try a small write and return how it went."""
        ...
