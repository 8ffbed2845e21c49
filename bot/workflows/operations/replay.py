"""Decide again what briefs past alerts would get, from what is stored of them: once before an upgrade, once after it.

It only reads the store, and asks no Slack, no model, no source of evidence and no memory bank: evidence is used as it
was stored. Must not compare with the briefs of that time, for records are stored as they are now, not as they were.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from bot.domain.access.visibility import Viewer, list_scopes
from bot.domain.alerts.alert import Alert, AlertState, Severity
from bot.domain.brief.as_json import build_brief_json, format_time
from bot.domain.brief.decide import Brief, decide
from bot.domain.incidents.lifecycle import IncidentState, Lifecycle
from bot.domain.incidents.opening import IncidentView
from bot.domain.incidents.record import Incident
from bot.domain.recall.query import OPERATOR, KnownNames, build_query
from bot.ports.channels import ChannelStore
from bot.ports.incidents import IncidentStore
from bot.ports.memory import Recall, RecordIndex
from bot.ports.posts import PostedBrief


@dataclass(frozen=True, slots=True)
class ReplayedBrief:
    """An alert, and the brief that it would get now."""

    incident_id: str
    channel: str
    at: datetime
    # "brief" (the alert as it was read), or "record" (only what its incident's record says of it is stored).
    read_from: str
    brief: Brief


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayBriefs:
    """Decide again the brief of each alert that opened an incident in a period.

    Memory is what is stored now, without the alert's own incident and without what was not over when it fired: an
    incident is no precedent of itself, nor of an earlier one.
    """

    store: IncidentStore
    channels: ChannelStore
    recall: Recall
    index: RecordIndex
    # Gives an alert the names of the configuration.
    rename: Callable[[Alert], Alert]

    async def list_alerts(self, since: datetime, until: datetime) -> list[tuple[Lifecycle, PostedBrief | Incident]]:
        """Return what there is to decide: each incident's briefs, or its record if it has none.

        Raises StoreUnavailable.
        """
        found: list[tuple[Lifecycle, PostedBrief | Incident]] = []
        for life in await self.store.list_lifecycles(since, until, OPERATOR):
            if life.state is IncidentState.DISMISSED:
                continue
            posted = await self.store.list_briefs(life.incident_id)
            record = (await self.store.find_records([life.incident_id])).get(life.incident_id)
            found += [(life, brief) for brief in posted]
            if not posted and record and record.alerts:
                found.append((life, record))
        return found

    async def __call__(
        self, alerts: Sequence[tuple[Lifecycle, PostedBrief | Incident]]
    ) -> AsyncIterator[ReplayedBrief]:
        """Yield each alert with its brief. Raises StoreUnavailable."""
        records = await self.store.list_records(OPERATOR, recallable_only=True)
        names = await self.index.list_known_names()
        for life, source in alerts:
            yield await self._decide(life, source, records, names)

    async def _decide(
        self, life: Lifecycle, source: PostedBrief | Incident, records: Sequence[Incident], names: KnownNames
    ) -> ReplayedBrief:
        old = source.brief if isinstance(source, PostedBrief) else None
        alert = self.rename(old.alert if old else build_alert(life, source))  # type: ignore[arg-type]  # without a brief it is a record
        at = (old.now if old else None) or life.opened_at
        channel = source.channel if isinstance(source, PostedBrief) else ""
        viewer = await self._build_viewer(life, channel)
        later = [r for r in records if r.incident_id == life.incident_id or not is_over(r, at)]
        query = build_query(alert, names, frozenset(r.incident_id for r in later))
        recalled = await self.recall.precedents(query, viewer)
        unseen = sum(viewer.may_see(r.source.visibility) for r in later)
        recalled = replace(recalled, known=max(0, recalled.known - unseen))
        view = IncidentView(life.incident_id, IncidentState.OPEN, 1, life.opened_at)
        evidence, seen_at = (old.evidence, old.evidence_at) if old else ((), None)
        brief = decide(alert, recalled, evidence, at, incident=view, evidence_at=seen_at)
        return ReplayedBrief(life.incident_id, channel, at, "brief" if old else "record", brief)

    async def _build_viewer(self, life: Lifecycle, channel: str) -> Viewer:
        return Viewer(list_scopes(life.visibility, await self.channels.list_pool(channel) if channel else ()))


def is_over(record: Incident, at: datetime) -> bool:
    """Return whether a record's incident had begun and ended by then; one without dates came with an import."""
    begun, over = record.happened_at, record.resolved_at
    return (begun is None or begun < at) and (over is None or over <= at)


def build_alert(life: Lifecycle, record: Incident) -> Alert:
    """Build the alert from an incident's record, where nothing else is stored of it."""
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
    """Return a replayed alert as JSON values."""
    alert = one.brief.alert
    return {
        "incident_id": one.incident_id,
        "channel": one.channel,
        "at": format_time(one.at),
        "service": alert.service,
        "title": alert.title,
        "read_from": one.read_from,
        "evidence_at": format_time(one.brief.evidence_at),
        "brief": build_brief_json(one.brief),
    }
