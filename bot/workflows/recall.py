"""Recall. Must not render."""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain.query import Query, Viewer
from bot.domain.ranking import Recalled
from bot.ports.memory import Index, Recall


@dataclass(frozen=True, slots=True)
class LookUp:
    """What `/recall` asks."""

    recall: Recall
    index: Index

    async def __call__(
        self,
        text: str,
        viewer: Viewer,
        *,
        vendor: str | None = None,
        service: str | None = None,
        region: str | None = None,
    ) -> tuple[Query, Recalled]:
        """Precedents for a text and its filters."""
        raise NotImplementedError
