"""Complete a brief with the evidence that came after its deadline: one edit with all of it, and the snapshot in the record.

While sources are being asked the inbox row is put back, so that it holds no worker and survives a restart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.domain.brief.decide import Brief, add_evidence
from bot.domain.brief.then_and_now import take_snapshot
from bot.domain.evidence.items import has_pending
from bot.domain.incidents.record import Incident
from bot.ports.delivery.inbox import Inbox, InboxRow
from bot.ports.delivery.outbox import EDIT_EVERY_S, build_brief_edit
from bot.ports.evidence import GatheredEvidence
from bot.ports.incidents import IncidentStore, find_lifecycle
from bot.ports.posts import PostedBrief
from bot.ports.surfaces import Surfaces
from bot.ports.unit_of_work import Changes
from bot.workflows.evidence.gather import GatherEvidence

# Each look costs the store a write, so they become ever less frequent.
LOOK_AGAIN_S, LOOK_SELDOM_S = 0.15, 2.0
# How long to wait while the load is too high for asking.
UNDER_LOAD_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CompleteEvidence:
    """Process the inbox row of a brief that waits for its sources."""

    store: IncidentStore
    inbox: Inbox
    surfaces: Surfaces
    sources: GatherEvidence

    async def __call__(self, row: InboxRow) -> None:
        """Process one row. Raises StoreUnavailable (StoreConflict: take it again)."""
        incident_id, name = str(row.body["incident_id"]), str(row.body["name"])
        posted = await self.store.list_briefs(incident_id)
        if not posted:
            self.sources.forget(name)
            await self.inbox.acknowledge(row)
            return
        asking = self.sources.resume(posted[0].brief.alert, name)
        if asking.not_asked and any(has_pending(p.brief.evidence) for p in posted):
            await self.inbox.retry_later(row, UNDER_LOAD_S, asking.not_asked)
        elif not asking.is_done:
            delay_s = min(LOOK_SELDOM_S, LOOK_AGAIN_S * 1.6 ** min(row.attempts, 10))
            await self.inbox.retry_later(row, delay_s, "sources are being asked")
        else:
            await self._update_briefs(row, incident_id, posted, asking.collect_now())
            self.sources.forget(name)

    async def _update_briefs(
        self, row: InboxRow, incident_id: str, posted: Sequence[PostedBrief], gathered: GatheredEvidence
    ) -> None:
        updated = [(p, _add_evidence(p.brief, gathered)) for p in posted]
        changed = tuple(replace(p, brief=brief) for p, brief in updated if brief != p.brief)
        record = (await self.store.find_records((incident_id,))).get(incident_id)
        with_snapshot = _add_snapshot(record, gathered) if record else None
        life = await find_lifecycle(self.store, incident_id)
        if life is None:  # purged meanwhile
            await self.inbox.acknowledge(row)
            return
        await self.store.commit(
            Changes(
                # Written back unchanged, so that a concurrent change of the incident makes the commit fail.
                lifecycles=(life,) if changed or with_snapshot else (),
                records=(with_snapshot,) if with_snapshot else (),
                expected=(record,) if record and with_snapshot else (),
                briefs=changed,
                deliveries=tuple(
                    build_brief_edit(p, self.surfaces.render_brief(p.brief), EDIT_EVERY_S) for p in changed
                ),
                done=row,
            )
        )


def _add_evidence(brief: Brief, gathered: GatheredEvidence) -> Brief:
    return brief if gathered.not_asked else add_evidence(brief, gathered.evidence, gathered.at)


def _add_snapshot(record: Incident, gathered: GatheredEvidence) -> Incident | None:
    """Return the record with the evidence; None if that adds nothing."""
    evidence = take_snapshot(gathered.evidence, record.evidence)
    return replace(record, evidence=evidence) if evidence != dict(record.evidence) else None
