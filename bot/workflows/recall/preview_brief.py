"""Compute the brief of an alert for one viewer: query, recall, decide. Must not store or post anything."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bot.domain.access.visibility import Viewer
from bot.domain.alerts.alert import Alert
from bot.domain.brief.decide import Brief, decide
from bot.domain.incidents.alert_history import AlertHistory
from bot.domain.incidents.opening import IncidentView
from bot.domain.recall.query import build_query
from bot.domain.recall.ranking import Recalled
from bot.ports.memory import Recall, RecordIndex


@dataclass(frozen=True, slots=True)
class PreviewBrief:
    """Implement `bot.ports.brief_preview.BriefPreview` on the recall."""

    recall: Recall
    index: RecordIndex

    async def __call__(
        self,
        alert: Alert,
        viewer: Viewer,
        at: datetime,
        *,
        incident: IncidentView | None = None,
        history: AlertHistory | None = None,
        use_memory: bool = True,
    ) -> Brief:
        """See the port."""
        if not use_memory:
            return decide(alert, Recalled(), (), at, incident=incident, memory_mode="off")
        exclude = frozenset({incident.incident_id}) if incident else frozenset()
        query = build_query(alert, await self.index.list_known_names(), exclude)
        recalled = await self.recall.precedents(query, viewer)
        return decide(alert, recalled, (), at, incident=incident, history=history)
