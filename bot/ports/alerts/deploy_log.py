"""Deploys that somebody told the bot of: a pipeline by webhook, or a deploy post in a channel that the operator listed.

Must not decide which deploy matters.
"""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from bot.domain.evidence.deploys import Deploy


class DeployLog(Protocol):
    """Raises StoreUnavailable."""

    async def record(self, deploy: Deploy) -> bool:
        """Keep a deploy; one with the same key is replaced. Whether it is new."""
        ...

    async def list_latest(self, service: str, until: datetime, limit: int) -> tuple[Deploy, ...]:
        """The latest deploys of a service, whatever its letters' case, that are not later than `until`; newest first."""
        ...
