"""Whether the store works."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class StoreStatus:
    """Whether the store works. `schema` is the applied revision; `problem` one sentence, None if fine."""

    writable: bool
    schema: str | None
    records: int = 0
    problem: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


class StoreHealth(Protocol):
    """Health of the store, for readiness, `doctor` and status. Never raises."""

    async def read_status(self) -> StoreStatus:
        """Try a small write and say how it went."""
        ...
