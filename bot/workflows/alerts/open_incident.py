"""Open an incident: its id, its record, its notifications, and its announcement in the channel."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bot.domain.alerts.notification import Notification
from bot.domain.incidents.opening import open_record
from bot.domain.incidents.reconstruction import ReconstructedIncident
from bot.domain.incidents.record import Source
from bot.ports.chat import Chat
from bot.ports.incidents import IncidentStore
from bot.ports.posts import IncidentPost
from bot.ports.unit_of_work import Changes
from bot.workflows.alerts.announce import AnnounceIncident
from bot.workflows.alerts.read_post import AlertPost


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenNewIncident:
    """Open the incident of a reconstructed chapter."""

    store: IncidentStore
    chat: Chat
    announce: AnnounceIncident

    async def __call__(self, chapter: ReconstructedIncident, post: AlertPost, notification: Notification) -> Changes:
        """Return all that opening it changes.

        Its first notification is this post's, or an older one that turned out to belong to an incident of its own. Raises
        StoreUnavailable, ChatUnavailable.
        """
        life = replace(chapter.life, incident_id=await self.store.new_incident_id())
        first = (
            post
            if chapter.first_notification.key == notification.key
            else await self._rebuild_post(post, chapter.first_notification)
        )
        source = Source("slack", first.url, first.channel.id, first.channel.visibility)
        record = open_record(life.incident_id, first.alert.title or "Alert", first.at, source, first.alert)
        announced = await self.announce(first, life, record, but=None, is_new=True)
        notifications = tuple(replace(n, incident_id=life.incident_id) for n in chapter.notifications)
        return replace(
            announced,
            lifecycles=(life,),
            records=announced.records or (record,),
            notifications=notifications,
            posts=tuple(IncidentPost(n.channel, n.ts, life.incident_id) for n in notifications),
        )

    async def _rebuild_post(self, post: AlertPost, opening: Notification) -> AlertPost:
        """Return the post of an older notification as far as it is known: the same alert at another time and place."""
        alert = replace(post.alert, state=opening.state, delivery=opening.delivery, fingerprint=opening.fingerprint)
        url = await self.chat.get_permalink(opening.channel, opening.ts)
        channel = await self.chat.read_channel(opening.channel)
        return AlertPost(channel, opening.ts, opening.root_ts, opening.at, alert, url)
