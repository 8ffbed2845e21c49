"""The brief of an alert, computed for one viewer. Nothing is stored or posted."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from bot.domain.access.visibility import Viewer
from bot.domain.alerts.alert import Alert
from bot.domain.brief.decide import Brief
from bot.domain.incidents.alert_history import AlertHistory
from bot.domain.incidents.opening import IncidentView


class BriefPreview(Protocol):
    """Recall and decide, without side effects."""

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
        """Return the brief at `at`, the alert's own time. Raises StoreUnavailable if nothing at all can be asked."""
        ...
