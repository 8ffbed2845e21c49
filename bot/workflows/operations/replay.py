"""Decide again what briefs alerts would get, from what is stored of them: before an upgrade, and after it.

Reads only. Asks no Slack, no model, no source of evidence and no memory bank: what sources showed is taken as it is stored.
Must not post, store, or compare with what was said then: records are kept as they are now, not as they were.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from bot.domain.access.visibility import Viewer, scopes
from bot.domain.alerts.alert import Alert, AlertState, Severity
from bot.domain.brief.as_json import brief_json, time_text
from bot.domain.brief.decide import Brief, decide
from bot.domain.incidents.lifecycle import IncidentState, Life
from bot.domain.incidents.opening import IncidentView
from bot.domain.incidents.record import Incident
from bot.domain.recall.query import OPERATOR, KnownNames, build_query
from bot.ports.channels import ChannelStore
from bot.ports.incidents import IncidentStore
from bot.ports.memory import Recall, RecordIndex
from bot.ports.posts import PostedBrief


@dataclass(frozen=True, slots=True)
class ReplayedBrief:
    """An alert and the brief that it would get now. `read_from`: "brief" (the alert as it was read), or "record" (only
    what its incident's record says of it is kept)."""

    incident_id: str
    channel: str
    at: datetime
    read_from: str
    brief: Brief


@dataclass(frozen=True, slots=True)
class ReplayBriefs:
    """Decide again the brief of each alert that opened an incident in a period. `rename` gives an alert the names of the
    configuration.

    Memory is what is stored now without the alert's own incident and without what was not over yet when it fired, so an
    incident is no precedent of its own, nor of an earlier one."""

    store: IncidentStore
    channels: ChannelStore
    recall: Recall
    index: RecordIndex
    rename: Callable[[Alert], Alert]

    async def list_alerts(self, since: datetime, until: datetime) -> list[tuple[Life, PostedBrief | Incident]]:
        """What there is to decide: each incident's briefs, or its record where it got none. Raises StoreUnavailable."""
        found: list[tuple[Life, PostedBrief | Incident]] = []
        for life in await self.store.list_lifecycles(since, until, OPERATOR):
            if life.state is IncidentState.DISMISSED:
                continue
            posted = await self.store.list_briefs(life.incident_id)
            record = (await self.store.find_records([life.incident_id])).get(life.incident_id)
            found += [(life, brief) for brief in posted]
            if not posted and record and record.alerts:
                found.append((life, record))
        return found

    async def __call__(self, alerts: Sequence[tuple[Life, PostedBrief | Incident]]) -> AsyncIterator[ReplayedBrief]:
        """Each alert with its brief. Raises StoreUnavailable."""
        records = await self.store.list_records(OPERATOR, recallable_only=True)
        names = await self.index.list_known_names()
        for life, kept in alerts:
            yield await self._decide(life, kept, records, names)

    async def _decide(
        self, life: Life, kept: PostedBrief | Incident, records: Sequence[Incident], names: KnownNames
    ) -> ReplayedBrief:
        old = kept.brief if isinstance(kept, PostedBrief) else None
        alert = self.rename(old.alert if old else build_alert(life, kept))  # type: ignore[arg-type]  # without a brief it is a record
        at = (old.now if old else None) or life.opened_at
        channel = kept.channel if isinstance(kept, PostedBrief) else ""
        viewer = await self._build_viewer(life, channel)
        later = [r for r in records if r.incident_id == life.incident_id or not is_over(r, at)]
        query = build_query(alert, names, frozenset(r.incident_id for r in later))
        recalled = await self.recall.precedents(query, viewer)
        unseen = sum(viewer.may_see(r.source.visibility) for r in later)
        recalled = replace(recalled, known=max(0, recalled.known - unseen))
        view = IncidentView(life.incident_id, IncidentState.OPEN.value, 1, life.opened_at)
        evidence, seen_at = (old.evidence, old.evidence_at) if old else ((), None)
        brief = decide(alert, recalled, evidence, at, incident=view, evidence_at=seen_at)
        return ReplayedBrief(life.incident_id, channel, at, "brief" if old else "record", brief)

    async def _build_viewer(self, life: Life, channel: str) -> Viewer:
        return Viewer(scopes(life.visibility, await self.channels.list_pool(channel) if channel else ()))


def is_over(record: Incident, at: datetime) -> bool:
    """Whether a record's incident had begun and was over by then; one without dates was brought by an import."""
    begun, over = record.happened_at, record.resolved_at
    return (begun is None or begun < at) and (over is None or over <= at)


def build_alert(life: Life, record: Incident) -> Alert:
    """What an incident's record says of its alert, where nothing else is kept of that."""
    first = record.alerts[0]
    severity = Severity(record.severity) if record.severity in set(Severity) else None
    return Alert(
        first.tool or "generic",
        AlertState.FIRING,
        life.fingerprint,
        title=first.title or record.title,
        severity=severity,
        service=record.service,
        environment=record.environment,
        region=record.region,
        vendor=record.vendor,
        labels=dict(first.labels),
        text="; ".join(record.symptoms),
    )


def build_line(one: ReplayedBrief) -> dict[str, Any]:
    """A replayed alert as JSON values."""
    alert = one.brief.alert
    return {
        "incident_id": one.incident_id,
        "channel": one.channel,
        "at": time_text(one.at),
        "service": alert.service,
        "title": alert.title,
        "read_from": one.read_from,
        "evidence_at": time_text(one.brief.evidence_at),
        "brief": brief_json(one.brief),
    }
