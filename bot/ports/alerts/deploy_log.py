"""Deploys that the bot was told about: by a pipeline's webhook, or by a post in a channel that the operator listed."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from bot.domain.evidence.deploys import Deploy


class DeployLog(Protocol):
    """Store deploys. Must not decide which deploy matters. Raises StoreUnavailable."""

    async def record(self, deploy: Deploy) -> bool:
        """Store a deploy, replacing one with the same key; return whether it is new."""
        ...

    async def list_latest(self, service: str, until: datetime, limit: int) -> tuple[Deploy, ...]:
        """Return the latest deploys of a service (case ignored) that are not later than `until`, newest first."""
        ...
