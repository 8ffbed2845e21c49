"""Deploys of the last hour from Argo CD's history of an application. Reads only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import quote

from bot.adapters.evidence.http_source import HttpSource
from bot.adapters.evidence.log_records import read_moment
from bot.adapters.evidence.selectors import ByService
from bot.domain.alerts.alert import Alert
from bot.domain.evidence.deploys import Deploy, observe_deploys
from bot.domain.evidence.items import Evidence, EvidenceKind
from bot.domain.text.json_types import JsonObject
from bot.ports.errors import EvidenceUnavailable


@dataclass(frozen=True, slots=True)
class ArgoDeploys:
    """The EvidenceProvider of one Argo CD."""

    name: str
    server: HttpSource
    applications: ByService = field(default_factory=ByService)  # the application of each service

    @property
    def kind(self) -> EvidenceKind:
        """See the port."""
        return EvidenceKind.DEPLOY

    async def observe(self, alert: Alert, at: datetime) -> Sequence[Evidence]:
        """See the port."""
        application = self.applications.find(alert)
        if application is None or not alert.service:
            return ()
        status = await self.read_application(application)
        url = f"{self.server.base.rstrip('/')}/applications/{quote(application, safe='')}"
        deploys = list(_read_deploys(status, alert.service, url))
        # an application runs in one environment: that it is this service's is the operator's word
        return observe_deploys(deploys, alert.service, None, self.name, at)

    async def read_application(self, application: str) -> JsonObject:
        """Return the application's status. Raises EvidenceUnavailable."""
        # Argo CD picks fields in lists alone, and the history is none of them: the whole object it is
        said = await self.server.read_json(f"/api/v1/applications/{quote(application, safe='')}")
        status = said.get("status") if isinstance(said, dict) else None
        if not isinstance(status, dict) or not isinstance(status.get("history") or [], list):
            raise EvidenceUnavailable("the answer is no application with a status")
        return status


def _read_deploys(status: JsonObject, service: str, url: str) -> Iterator[Deploy]:
    history = [one for one in status.get("history") or () if isinstance(one, dict)]
    for place, one in enumerate(history, 1):
        at = read_moment(one.get("deployedAt"))
        if at is None:
            raise EvidenceUnavailable("the history holds a deploy without its time")
        revisions = one.get("revisions") if isinstance(one.get("revisions"), list) else [one.get("revision")]
        version = ", ".join(str(revision)[:12] for revision in revisions or () if revision)
        by = one.get("initiatedBy")
        who = (by.get("username") or ("auto-sync" if by.get("automated") else None)) if isinstance(by, dict) else None
        state = _read_state(status) if place == len(history) else None
        yield Deploy(service, at, version or None, None, str(who) if who else None, state, url)


def _read_state(status: JsonObject) -> str | None:
    """Return the application's state now, which is the outcome of its latest deploy."""
    parts = (status.get(name) for name in ("sync", "health"))
    said = [str(part["status"]) for part in parts if isinstance(part, dict) and part.get("status")]
    return ", ".join(said) or None
