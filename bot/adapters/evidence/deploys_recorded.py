"""Deploys of the last hour that a pipeline or a deploy post reported.

Must not claim that there was none for a service of which none was ever reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.domain.alerts.alert import Alert
from bot.domain.evidence.deploys import SKEW, observe_deploys
from bot.domain.evidence.items import Evidence, EvidenceKind
from bot.ports.alerts.deploy_log import DeployLog
from bot.ports.errors import EvidenceUnavailable, StoreUnavailable

LIMIT = 20


@dataclass(frozen=True, slots=True)
class RecordedDeploys:
    """The EvidenceProvider of reported deploys."""

    log: DeployLog
    name: str = "deploys told to Precedent"

    @property
    def kind(self) -> EvidenceKind:
        """See the port."""
        return EvidenceKind.DEPLOY

    async def observe(self, alert: Alert, at: datetime) -> Sequence[Evidence]:
        """See the port."""
        if not alert.service:
            return ()
        try:
            known = await self.log.list_latest(alert.service, at + SKEW, LIMIT)
        except StoreUnavailable as problem:
            raise EvidenceUnavailable(f"the store cannot be read: {problem}") from problem
        return observe_deploys(known, alert.service, alert.environment, self.name, at) if known else ()
