"""Deploys of the last hour from GitHub's deployments. Must not write to a repository, nor read its code."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from urllib.parse import quote

from bot.adapters.evidence.http_source import HttpSource
from bot.adapters.evidence.log_records import read_moment
from bot.adapters.evidence.selectors import ByService
from bot.domain.alerts.alert import Alert
from bot.domain.evidence.deploys import MOST_SHOWN, WINDOW, Deploy, observe_deploys
from bot.domain.evidence.items import Evidence, EvidenceKind
from bot.domain.text.json_types import JsonObject
from bot.ports.errors import EvidenceUnavailable

PAGE = 10
HEADERS = {"X-GitHub-Api-Version": "2022-11-28", "User-Agent": "precedent"}
KINDS = ("application/json", "application/vnd.github+json")
API = "https://api.github.com"


@dataclass(frozen=True, slots=True)
class GithubDeploys:
    """The EvidenceProvider of GitHub."""

    name: str
    server: HttpSource
    repositories: ByService = field(default_factory=ByService)  # owner/name of each service

    @property
    def kind(self) -> EvidenceKind:
        """See the port."""
        return EvidenceKind.DEPLOY

    async def observe(self, alert: Alert, at: datetime) -> Sequence[Evidence]:
        """See the port."""
        repository = self.repositories.find(alert)
        if repository is None or not alert.service:
            return ()
        listed = await self.list_deployments(repository)
        recent = [
            (n, d)
            for n, d in ((one.get("id"), _read_deploy(one, alert.service)) for one in listed)
            if at - WINDOW <= d.at
        ]
        states = await asyncio.gather(*(self._read_state(repository, n) for n, _ in recent[:MOST_SHOWN]))
        url = f"{self._find_web_base()}/{repository}/deployments"
        told = [replace(d, url=url, state=state) for (_, d), state in zip(recent, states, strict=False)]
        told += [replace(d, url=url) for _, d in recent[MOST_SHOWN:]]
        cut = len(listed) == PAGE == len(recent)
        return observe_deploys(told, alert.service, alert.environment, self.name, at, truncated=cut)

    async def list_deployments(self, repository: str) -> list[JsonObject]:
        """Return the latest deployments, newest first. Raises EvidenceUnavailable."""
        said = await self.server.read_json(f"/repos/{_build_path(repository)}/deployments", (("per_page", str(PAGE)),))
        if not isinstance(said, list) or not all(isinstance(one, dict) for one in said):
            raise EvidenceUnavailable("the answer is no list of deployments")
        return said

    async def _read_state(self, repository: str, number: object) -> str | None:
        """Return a deployment's state, None where GitHub does not say: the deployment is shown all the same."""
        path = f"/repos/{_build_path(repository)}/deployments/{quote(str(number), safe='')}/statuses"
        try:
            said = await self.server.read_json(path, (("per_page", "1"),))
        except EvidenceUnavailable:
            return "state unknown"
        first = said[0] if isinstance(said, list) and said and isinstance(said[0], dict) else {}
        return str(first.get("state") or "pending")

    def _find_web_base(self) -> str:
        """Return the site for people: GitHub's own, or the enterprise server's."""
        return "https://github.com" if self.server.base.rstrip("/") == API else self.server.base.partition("/api/")[0]


def _build_path(repository: str) -> str:
    return "/".join(quote(part, safe="") for part in repository.split("/"))


def _read_deploy(said: JsonObject, service: str) -> Deploy:
    at = read_moment(said.get("created_at"))
    if at is None:
        raise EvidenceUnavailable("the answer holds a deployment without its time")
    creator = said.get("creator")
    who = creator.get("login") if isinstance(creator, dict) else None
    sha, ref = str(said.get("sha") or "")[:7], str(said.get("ref") or "")
    version = ref if not sha or ref.startswith(sha) else f"{ref} ({sha})".strip()
    return Deploy(service, at, version or None, str(said.get("environment") or "") or None, str(who) if who else None)
