"""Answer an alert: the front door of every alert post, whether Slack, an HTTP sender, a catch-up or a backfill brought it.

The story of one post, in the order in which it happens:

1. **Read.** `ReadPost` says whether the inbox row is an alert post, of which channel and of what time. Anything else is
   done with.
2. **Admit.** The channel's rules may ignore the alert (nothing is stored), let it count without a word, or have it
   answered.
3. **Find what it belongs to.** A post does not name its incident. An edit or a reply belongs to the incident of its post,
   and so does a post of an unknown bot that links to one; for all others the fingerprint and the time decide. The store
   returns the incidents that the post may touch, with all their notifications.
4. **Reconstruct.** Notifications arrive late, twice and out of order, so an incident is never advanced step by step. All
   notifications, the new one among them, are replayed in the order of their own times, and the resulting chapters are
   compared with the stored lifecycles. Two incidents that exist stay two, for people have worked with their ids.
5. **Write.** A chapter without an incident opens one (`OpenNewIncident`); one that differs from what is stored updates its
   incident and briefs (`UpdateIncident`). Both only return `Changes`, and one commit makes all of it durable together with
   the end of the inbox row: lifecycles, records, briefs, and the calls to Slack as outbox entries. After a crash the row
   is taken again, and nothing has happened. If another worker changed the same incident first, or opened one in the same
   gap, the commit raises StoreConflict, and the row is taken again as well.
6. **Leave the rest to others.** Evidence that is late, and evidence that may have changed with the alert, is queued as
   inbox work in the same commit. The outbox delivers.
7. **Ask about the fix.** If the alert fires again soon after its fix was verified, `AskAboutRecurrence` asks about that.
   It looks before the answer and asks after it.

Slack is asked for facts only (channel, permalink); must not post or render.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime

from bot.domain.alerts.alert import Alert, AlertState
from bot.domain.alerts.notification import FIRES, Notification, build_notification
from bot.domain.alerts.suppression import ANSWERED, Disposition, SuppressionDecision
from bot.domain.incidents.lifecycle import Lifecycle, Transition, classify_transition
from bot.domain.incidents.reconstruction import ReconstructedIncident, reconstruct
from bot.ports.chat import Channel
from bot.ports.delivery.inbox import InboxRow
from bot.ports.errors import StoreConflict
from bot.ports.evidence import NO_SOURCES, EvidenceSources, build_completion_work, build_refresh_work
from bot.ports.incidents import IncidentStore, RelatedIncidents, build_opening_key, find_moved_notifications
from bot.ports.posts import IncidentPost
from bot.ports.unit_of_work import Changes, merge_changes
from bot.workflows.alerts.open_incident import OpenNewIncident
from bot.workflows.alerts.read_post import AlertPost, ReadPost
from bot.workflows.alerts.recurrence import AskAboutRecurrence
from bot.workflows.alerts.update_incident import AGAIN, UpdateIncident

# The tool of an alert that only the generic parser recognized: it may be a remark about another alert.
GENERIC_TOOL = "generic"
# After these, evidence may have changed with the alert.
LOOK_AGAIN = AGAIN | {Transition.CLEARED}


async def admit_all(_row: InboxRow, _channel: Channel, _alert: Alert, _at: datetime) -> SuppressionDecision:
    """Admit every alert, where channels have no rules."""
    return ANSWERED


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerAlert:
    """Turn an alert post into an incident's brief, or into a change of the one it has."""

    store: IncidentStore
    read_post: ReadPost
    open_incident: OpenNewIncident
    update_incident: UpdateIncident
    admit: Callable[[InboxRow, Channel, Alert, datetime], Awaitable[SuppressionDecision]] = admit_all
    sources: EvidenceSources = NO_SOURCES
    recurrence: AskAboutRecurrence | None = None

    async def __call__(self, row: InboxRow) -> None:
        """Process one inbox row. Raises StoreUnavailable (StoreConflict: take it again), ChatUnavailable."""
        fixed = await self.recurrence.find_resolved(row) if self.recurrence else None
        post = await self.read_post(row)
        if post is not None:
            post = replace(post, admission=await self.admit(row, post.channel, post.alert, post.at))
        if post is None or post.admission.outcome is Disposition.IGNORE:
            await self.store.commit(Changes(done=row))
        else:
            await self._answer(row, post)
        if self.recurrence and fixed:
            await self.recurrence.ask(row, fixed)

    async def _answer(self, row: InboxRow, post: AlertPost) -> None:
        notification, related = await self._find_related(post)
        if any(notification.key == known.key for known in related.notifications):
            await self.store.commit(Changes(done=row))  # it was taken before
            return
        timeline = reconstruct((*related.notifications, notification), related.lifecycles)
        changes = Changes(done=row, notifications=find_moved_notifications(timeline, related))
        for chapter in timeline.incidents:
            changes = merge_changes(changes, await self._apply(chapter, related, post, notification))
        changes = replace(changes, received=changes.received + build_completion_work(changes.briefs))
        if not await self.store.commit(changes):
            raise StoreConflict("Another worker opened this incident at the same moment; it is taken again.")

    async def _find_related(self, post: AlertPost) -> tuple[Notification, RelatedIncidents]:
        """Return the post as a notification, and the incidents and notifications that it may touch."""
        notification = build_notification(
            post.alert, post.at, post.channel.visibility, post.channel.id, post.ts, post.root_ts
        )
        notification = replace(notification, past=post.past)
        known = await self._find_lifecycle(post)
        if known is None and post.alert.tool == GENERIC_TOOL and (known := await self._find_linked_incident(post)):
            notification = replace(notification, state=AlertState.UPDATE)
        if known is None:
            return notification, await self.store.find_related(notification)
        like = replace(notification, fingerprint=known.fingerprint, visibility=known.visibility)
        return notification, await self.store.find_related(like, known=known.incident_id)

    async def _find_lifecycle(self, post: AlertPost) -> Lifecycle | None:
        """Return the incident of the message itself, else of its thread."""
        known = await self.store.find_incident(post.channel.id, post.ts)
        if known is None and post.root_ts != post.ts:
            known = await self.store.find_incident(post.channel.id, post.root_ts)
        return await self.store.read_lifecycle(known) if known else None

    async def _find_linked_incident(self, post: AlertPost) -> Lifecycle | None:
        """Return the incident that a post links to, unless the post repeats that very alert."""
        for channel, ts in post.refers_to:
            if known := await self.store.find_incident(channel, ts):
                life = await self.store.read_lifecycle(known)
                is_visible = life.visibility in ("public", post.channel.visibility)
                if life.fingerprint != post.alert.fingerprint and is_visible:
                    return life
        return None

    async def _apply(
        self, chapter: ReconstructedIncident, related: RelatedIncidents, post: AlertPost, notification: Notification
    ) -> Changes:
        """Return what the new notification changes about one incident."""
        before = next((life for life in related.lifecycles if life.incident_id == chapter.life.incident_id), None)
        if before is None:
            opened = await self.open_incident(chapter, post, notification)
            return replace(opened, once=build_opening_key(related, notification))
        is_ours = any(n.key == notification.key for n in chapter.notifications)
        did = classify_transition(before, chapter.life, notification) if is_ours else Transition.UPDATED
        if not is_ours and before == replace(chapter.life, base=before.base):
            return Changes()
        changes = Changes(
            lifecycles=(chapter.life,) if chapter.life != before else (),
            posts=(IncidentPost(post.channel.id, post.ts, before.incident_id),) if is_ours else (),
            dropped_notifications=chapter.dropped,
            received=build_refresh_work(before.incident_id, notification.key)
            if did in LOOK_AGAIN and self.sources.names
            else (),
        )
        if did is Transition.NOTHING:
            return changes
        fires = is_ours and post.alert.state in FIRES
        return merge_changes(changes, await self.update_incident(post, before, chapter.life, did, fires=fires))
