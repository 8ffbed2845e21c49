"""Retry a use case that lost a race for the same incident."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from bot.ports.errors import StoreConflict

T = TypeVar("T")


async def retry_conflicts(retries: int, attempt: Callable[[], Awaitable[T]]) -> T:
    """Run `attempt`, and again after each StoreConflict, `retries` times at most; the last conflict is raised.

    `attempt` must read everything anew: a conflict means that what it read is outdated.
    """
    for _ in range(retries):
        try:
            return await attempt()
        except StoreConflict:
            continue
    return await attempt()
