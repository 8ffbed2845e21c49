"""Record a deploy from a post in a channel that the operator listed. Must not store words of the post."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.domain.alerts.alert import DeployAnnouncement
from bot.domain.evidence.deploys import Deploy, sanitize_deploy
from bot.ports.alerts.deploy_log import DeployLog
from bot.ports.delivery.inbox import Inbox, InboxRow

KIND = "deploy"


@dataclass(frozen=True, slots=True)
class RecordDeployPost:
    """Process one inbox row of kind "deploy".

    A post that is edited while the deploy is under way stays one deploy, at the time of the post.
    """

    log: DeployLog
    inbox: Inbox

    async def __call__(self, row: InboxRow) -> None:
        """Process the row. Raises StoreUnavailable."""
        event = row.body["event"]
        ts = str((event.get("message") or event).get("ts"))
        place = f"{event.get('channel')}/{ts}"
        deployed = DeployAnnouncement(**event["deployed"])
        deploy = Deploy(
            deployed.service,
            datetime.fromtimestamp(float(ts), UTC),
            deployed.version,
            deployed.environment,
            key=f"post/{hashlib.sha256(place.encode()).hexdigest()[:32]}",
            told_by="post",
        )
        await self.log.record(sanitize_deploy(deploy))
        await self.inbox.acknowledge(row)
