"""Let a person say that two incidents were not the same outage: recorded on both, and the question disappears.

Must not render, or call Slack: what is to be sent goes through the outbox.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from bot.domain.incidents.record import Incident
from bot.ports.audit import AuditLine, format_change
from bot.ports.delivery.outbox import build_brief_edit
from bot.ports.incidents import IncidentStore
from bot.ports.posts import PostedBrief
from bot.ports.surfaces import Surfaces
from bot.ports.unit_of_work import Changes, retry_conflicts

CONFLICTS = 3


@dataclass(frozen=True, slots=True)
class RecordNotSameOutage:
    """Record that two incidents are not one outage."""

    store: IncidentStore
    surfaces: Surfaces

    async def __call__(self, incident_id: str, other_id: str, by: str) -> None:
        """Record it; again changes nothing. `by` is the person's Slack id.

        Raises IncidentNotFound, StoreUnavailable: nothing was saved then.
        """
        return await retry_conflicts(CONFLICTS, partial(self._record, incident_id, other_id, by))

    async def _record(self, incident_id: str, other_id: str, by: str) -> None:
        one, other = await self.store.read_record(incident_id), await self.store.read_record(other_id)
        records = tuple(r for r in (_add_other(one, other_id), _add_other(other, incident_id)) if r not in (one, other))
        briefs = [
            *await self._clear_question(incident_id, other_id),
            *await self._clear_question(other_id, incident_id),
        ]
        if not records and not briefs:
            return
        # Written back unchanged, so that a concurrent change of an incident makes the commit fail.
        lives = (await self.store.read_lifecycle(incident_id), await self.store.read_lifecycle(other_id))
        await self.store.commit(
            Changes(
                lifecycles=lives,
                records=records,
                briefs=tuple(briefs),
                deliveries=tuple(build_brief_edit(b, self.surfaces.render_brief(b.brief)) for b in briefs),
                audit=tuple(_build_audit(by, r) for r in records)
                or (AuditLine(by, "not the same outage", incident_id, other_id),),
            )
        )

    async def _clear_question(self, incident_id: str, other_id: str) -> list[PostedBrief]:
        """Return the incident's briefs that ask about the other one, without the question."""
        posted = await self.store.list_briefs(incident_id)
        asking = (p for p in posted if p.brief.same_outage and p.brief.same_outage.incident_id == other_id)
        return [replace(p, brief=replace(p.brief, same_outage=None)) for p in asking]


def _build_audit(by: str, record: Incident) -> AuditLine:
    """Build the audit line of a record that is told apart from one more incident."""
    before, after = list(record.apart_from[:-1]), list(record.apart_from)
    return AuditLine(
        by, "not the same outage", record.incident_id, format_change({"apart_from": before}, {"apart_from": after})
    )


def _add_other(record: Incident, other_id: str) -> Incident:
    if other_id in record.apart_from:
        return record
    return replace(record, apart_from=(*record.apart_from, other_id))
