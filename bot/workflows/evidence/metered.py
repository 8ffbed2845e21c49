"""Time sources of evidence and the recall for the metrics. Must not change what they answer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.domain.access.visibility import Viewer
from bot.domain.alerts.alert import Alert
from bot.domain.evidence.items import Evidence, EvidenceKind, Observed
from bot.domain.recall.query import Query
from bot.domain.recall.ranking import Recalled
from bot.observability import EVIDENCE_SECONDS, STAGE_SECONDS
from bot.ports.errors import EvidenceUnavailable
from bot.ports.evidence import EvidenceProvider
from bot.ports.memory import Recall


@dataclass(frozen=True, slots=True)
class MeteredSource:
    """Time an evidence provider. Nothing is counted if nothing is configured for the alert's service."""

    provider: EvidenceProvider

    @property
    def name(self) -> str:
        """See the port."""
        return self.provider.name

    @property
    def kind(self) -> EvidenceKind:
        """See the port."""
        return self.provider.kind

    async def observe(self, alert: Alert, at: datetime) -> Sequence[Evidence]:
        """See the port."""
        loop = asyncio.get_running_loop()
        began, outcome = loop.time(), "given_up"
        try:
            found = await self.provider.observe(alert, at)
            outcome = name_outcome(found)
        except EvidenceUnavailable:
            outcome = "unavailable"
            raise
        finally:
            if outcome:
                EVIDENCE_SECONDS.labels(self.name, outcome).observe(loop.time() - began)
        return found


def name_outcome(found: Sequence[Evidence]) -> str:
    """Return the outcome as the metric names it; "" if there was nothing to ask for."""
    if not found:
        return ""
    return "observed" if any(isinstance(item, Observed) for item in found) else "unavailable"


@dataclass(frozen=True, slots=True)
class MeteredRecall:
    """Time a Recall."""

    recall: Recall

    async def precedents(self, query: Query, viewer: Viewer) -> Recalled:
        """See the port."""
        with STAGE_SECONDS.labels("recall").time():
            return await self.recall.precedents(query, viewer)
