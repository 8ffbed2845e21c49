"""Refresh the briefs that used a record after it was corrected, retracted or purged, and say so in their threads.

Must not change any record. Each thread hears of each action once, however often the work is repeated.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import timedelta

from bot.domain.access.visibility import Viewer, list_scopes
from bot.domain.brief.decide import Brief, add_evidence, is_same_advice
from bot.domain.delivery.ids import (
    build_correction_id,
    build_edit_id,
    build_incident_key,
    build_superseding_id,
    split_superseded,
)
from bot.domain.delivery.kinds import Operation
from bot.domain.incidents.lifecycle import IncidentState, Lifecycle
from bot.domain.incidents.opening import build_view
from bot.domain.recall.dismissed import SET_ASIDE, TAKEN_BACK
from bot.ports.brief_preview import BriefPreview
from bot.ports.chat import Chat, ChatMessage, Posting, find_channel
from bot.ports.clock import Clock
from bot.ports.delivery.inbox import InboxRow
from bot.ports.delivery.outbox import OutboxEntry, build_brief_edit, build_outbox_entry
from bot.ports.incidents import IncidentStore, find_lifecycle
from bot.ports.posts import PostedBrief
from bot.ports.surfaces import Surfaces
from bot.ports.unit_of_work import Changes

PURGED = "purged"
# These concern one kind of alert: other briefs that use the same incident stay as they are.
DISMISSALS = frozenset({SET_ASIDE, TAKEN_BACK})
# Older briefs are left alone, except after a purge.
YOUNG = timedelta(days=1)
OUTDATED = "Superseded by a newer brief below. "


@dataclass(frozen=True, slots=True)
class Correction:
    """What happened to a record."""

    incident_id: str
    # "corrected", "retracted" or "purged".
    what: str
    by: str
    # Names this one action.
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshBriefs:
    """Process one correction."""

    store: IncidentStore
    preview: BriefPreview
    surfaces: Surfaces
    clock: Clock
    # Overwrites on disk what a purge deleted.
    compact: Callable[[], Awaitable[None]]
    # Without it (on the command line) a brief is computed from what its incident's own visibility shows.
    chat: Chat | None = None

    async def __call__(self, row: InboxRow) -> None:
        """Process an inbox row. Raises StoreUnavailable (StoreConflict: take it again), ChatUnavailable."""
        names = ("incident_id", "what", "by", "key")
        await self.refresh(Correction(**{name: str(row.body[name]) for name in names}))
        await self.store.commit(Changes(done=row))

    async def refresh(self, correction: Correction) -> None:
        """Recompute the briefs that used the record, and update their threads.

        After a purge that includes briefs of any age, and nothing of the record stays in the store's files.
        """
        since = None if correction.what == PURGED else self.clock.now() - YOUNG
        for posted in await self.store.find_briefs_naming(correction.incident_id, since):
            await self._refresh_one(posted, correction)
        if correction.what == PURGED:
            await self.compact()

    async def _refresh_one(self, posted: PostedBrief, correction: Correction) -> None:
        life = await find_lifecycle(self.store, posted.incident_id)
        fresh = await self._decide_again(posted, life, correction)
        if fresh == posted.brief or (correction.what in DISMISSALS and fresh.set_aside == posted.brief.set_aside):
            return
        same = is_same_advice(fresh, posted.brief)
        is_open = life is not None and life.state is IncidentState.OPEN
        if is_open and not same and fresh.recommendation and correction.what != PURGED:
            newer = replace(
                posted,
                brief=fresh,
                delivery_id=build_superseding_id(posted.delivery_id, correction.key),
                message_ts=None,
            )
            due = self._supersede(posted, newer)
        else:
            newer = replace(posted, brief=fresh)
            due = (
                self._build_edit(newer),
                *(self._build_outdated_edits(posted, correction) if correction.what == PURGED else ()),
            )
        if _has_source(posted.brief, correction.incident_id):
            due = (self._build_line(posted, correction, same=same), *due)
        lives = (life,) if life else ()
        once = f"retell/{correction.key}/{posted.incident_id}/{posted.channel}"
        await self.store.commit(Changes(lifecycles=lives, briefs=(newer,), deliveries=due, once=once))

    async def _decide_again(self, posted: PostedBrief, life: Lifecycle | None, correction: Correction) -> Brief:
        old = posted.brief
        viewer = await self._build_viewer(posted.channel, life)
        incident = build_view(life) if life else old.incident
        at = old.now or self.clock.now()
        fresh = await self.preview(old.alert, viewer, at, incident=incident, history=old.history)
        fresh = add_evidence(fresh, old.evidence, old.evidence_at)
        same = old.same_outage
        gone = same is not None and same.incident_id == correction.incident_id and correction.what == PURGED
        return replace(fresh, same_outage=None if gone else same)

    async def _build_viewer(self, channel_id: str, life: Lifecycle | None) -> Viewer:
        """Return who reads the thread now; only the public if that cannot be known."""
        if self.chat:
            channel = await find_channel(self.chat, channel_id)
            return channel.viewer if channel else Viewer()
        return Viewer(list_scopes(life.visibility, ())) if life else Viewer()

    def _build_line(self, posted: PostedBrief, correction: Correction, *, same: bool) -> OutboxEntry:
        message = self.surfaces.render_correction(correction.incident_id, correction.what, same_advice=same)
        posting = _build_posting(
            Operation.POST, posted, build_correction_id(correction.key, posted.incident_id, posted.channel), message
        )
        return build_outbox_entry(replace(posting, thread_ts=posted.root_ts), key=_build_key(posted), urgent=True)

    def _build_edit(self, posted: PostedBrief) -> OutboxEntry:
        return build_brief_edit(posted, self.surfaces.render_brief(posted.brief))

    def _supersede(self, old: PostedBrief, newer: PostedBrief) -> tuple[OutboxEntry, ...]:
        reply = _build_posting(Operation.POST, newer, newer.delivery_id, self.surfaces.render_superseded(newer.brief))
        outdated = replace(old.brief, verdict=f"{OUTDATED}{old.brief.verdict}"[:140])
        return build_outbox_entry(replace(reply, thread_ts=newer.root_ts), key=_build_key(newer)), self._build_edit(
            replace(old, brief=outdated)
        )

    def _build_outdated_edits(self, posted: PostedBrief, correction: Correction) -> tuple[OutboxEntry, ...]:
        """Blank the messages that the brief superseded earlier: they may quote what was purged."""
        names = split_superseded(posted.delivery_id)[:-1]
        message = self.surfaces.render_correction(correction.incident_id, correction.what, same_advice=False)
        return tuple(
            build_outbox_entry(
                _build_posting(Operation.UPDATE, posted, build_edit_id(name), message),
                key=_build_key(posted),
                replaces=True,
                target=name,
            )
            for name in names
        )


def _has_source(brief: Brief, incident_id: str) -> bool:
    """Return whether the brief counted this record."""
    return any(source.incident_id == incident_id for source in brief.sources)


def _build_key(posted: PostedBrief) -> str:
    return build_incident_key(posted.channel, posted.incident_id)


def _build_posting(operation: Operation, posted: PostedBrief, delivery: str, message: ChatMessage) -> Posting:
    return Posting(operation, posted.channel, delivery, message.text, message.blocks, incident_id=posted.incident_id)
