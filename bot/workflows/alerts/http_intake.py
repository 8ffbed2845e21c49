"""Handle alerts that arrive over HTTP: store them before they are acknowledged, post them, answer in their thread.

The incident is handled like that of any other alert, by `AnswerAlert`. Must not read HTTP or render.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.domain.alerts.alert import Alert, PostDelivery
from bot.domain.alerts.notification import FIRES
from bot.domain.alerts.suppression import Disposition, SuppressionDecision
from bot.domain.delivery.ids import build_edit_id, build_intake_id, build_intake_key
from bot.domain.delivery.kinds import Operation
from bot.domain.incidents.lifecycle import IncidentState, Lifecycle, is_finished
from bot.domain.incidents.opening import format_ts
from bot.observability import get_logger
from bot.ports.chat import Channel, Chat, ChatMessage, Posting, may_speak
from bot.ports.clock import Clock
from bot.ports.delivery.delivery_log import DeliveryLog, DeliveryOutcome
from bot.ports.delivery.inbox import Inbox, InboxRow, ReceivedEvent
from bot.ports.delivery.outbox import build_outbox_entry
from bot.ports.errors import ChatRejected, ChatUnavailable, NotAllowedHere
from bot.ports.incidents import IncidentStore
from bot.ports.unit_of_work import Changes
from bot.records.alert_json import read_alert, write_alert

KIND = "intake"
DUPLICATE_WITHIN = timedelta(minutes=10)
# A row looks for its post this often; after `OFTEN` looks, at the slower pace, for each look costs the store a write.
LOOK_AGAIN_S = 0.3
LOOK_SELDOM_S = 2.0
OFTEN = 20
log = get_logger("intake")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiveHttpAlert:
    """Store an alert for a channel, once.

    A sender that got no answer sends again: the same body for the same channel, with nothing else about that alert in
    between, is the same notification for ten minutes, and a repeat after that. An alert that could not be posted does
    not count, so it may be sent again.
    """

    inbox: Inbox
    deliveries: DeliveryLog
    chat: Chat
    clock: Clock

    async def __call__(self, alert: Alert, channel_id: str, digest: str) -> bool:
        """Return True if the alert is new, False if it was received before.

        `digest` is the hash of the body. Raises StoreUnavailable, ChatRejected if the bot cannot see the channel or
        is not in it, NotAllowedHere if the channel is shared with another organization.
        """
        await self._require_own(channel_id)
        order, prefix = f"alert/{alert.fingerprint}", f"{KIND}/{channel_id}/"
        last = await self.deliveries.find_last_received(order, prefix)
        is_same = last is not None and last.name.startswith(f"{prefix}{digest}/") and not last.dead
        if last and is_same and self.clock.now() - last.at < DUPLICATE_WITHIN:
            return False
        # The name contains what came before it, so of two equal ones at the same moment only one is stored.
        name = f"{prefix}{digest}/{last.number if last else 0}"
        body = {"alert": write_alert(alert), "channel": channel_id}
        return await self.inbox.receive(ReceivedEvent(name, name, KIND, body, order))

    async def _require_own(self, channel_id: str) -> None:
        try:
            channel = await self.chat.read_channel(channel_id)
        except ChatUnavailable:
            return  # It is stored all the same; the delivery checks again.
        if not may_speak(channel):
            raise NotAllowedHere("This channel is shared with another organisation: nothing is posted there.")
        if not channel.is_joined:
            raise ChatRejected("the bot is not in this channel", "not_in_channel")


def is_continued(life: Lifecycle, alert: Alert, at: datetime) -> bool:
    """Return whether the alert continues this incident, so that its existing post is edited.

    An alert that fires after the incident cleared or was resolved gets a new post, for Slack notifies nobody of an
    edit. A dismissed incident stays quiet for a day.
    """
    if alert.state not in FIRES or life.state is IncidentState.OPEN:
        return True
    return life.state is IncidentState.DISMISSED and not is_finished(life, at)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerHttpAlert:
    """Post a stored alert, and hand it over to `answer` once its post is in the channel.

    A later notification of the same alert edits that post. An alert that `admit` suppresses is not posted; it is
    counted as if it had been.
    """

    store: IncidentStore
    inbox: Inbox
    deliveries: DeliveryLog
    chat: Chat
    # Processes an inbox row of an alert's message.
    answer: Callable[[InboxRow], Awaitable[None]]
    # Renders the alert as a message.
    render: Callable[[Alert], ChatMessage]
    admit: Callable[[InboxRow, Channel, Alert, datetime], Awaitable[SuppressionDecision]]

    async def __call__(self, row: InboxRow) -> None:
        """Process one row, or put it back until its post is there. Raises StoreUnavailable, ChatUnavailable."""
        alert, channel = read_alert(row.body["alert"]), str(row.body["channel"])
        key = build_intake_key(channel, hashlib.sha256(alert.fingerprint.encode()).hexdigest()[:20])
        mine = await self.deliveries.find(build_intake_id(key, row.id))
        if mine:
            await self._check_post(row, alert, channel, mine)
            return
        place = await self.chat.read_channel(channel)
        life = await self.store.find_latest_lifecycle(alert.fingerprint, place.visibility)
        before = await self.deliveries.find_latest_post(key)
        edited = await self.deliveries.find(build_edit_id(before.delivery_id)) if before else None
        is_gone = edited is not None and edited.dead  # somebody deleted our post
        shown = before.result if before and not is_gone else None
        if before and shown and life and await self._is_about(channel, shown, life, alert, row):
            await self._edit_post(row, alert, channel, key, before)
        elif not before and (root := await self._find_thread(channel, life, alert, row)):
            await self._hand_over(
                row, _build_change_event(alert, channel, row.received_at, PostDelivery.THREAD_REPLY, root)
            )
        elif alert.state in FIRES and not await self._is_silenced(row, place, alert):
            posting = self._build_posting(Operation.POST, channel, build_intake_id(key, row.id), alert)
            await self.store.commit(Changes(deliveries=(build_outbox_entry(posting, key=key),)))
            await self._retry_later(row)
        elif alert.state in FIRES or life:
            # Nothing of it is in this channel: it is only counted.
            await self._hand_over(row, _build_post_event(alert, channel, format_ts(row.received_at), row.received_at))
        else:
            await self.inbox.acknowledge(row)  # the end of something that was never announced here

    async def _is_silenced(self, row: InboxRow, place: Channel, alert: Alert) -> bool:
        event = _build_post_event(alert, place.id, format_ts(row.received_at), row.received_at)
        admission = await self.admit(replace(row, body={"event": event}), place, alert, row.received_at)
        return admission.outcome is not Disposition.ANSWER

    async def _is_about(self, channel: str, ts: str, life: Lifecycle, alert: Alert, row: InboxRow) -> bool:
        """Return whether our post at `ts` is about the incident that this alert continues."""
        return await self.store.find_incident(channel, ts) == life.incident_id and is_continued(
            life, alert, row.received_at
        )

    async def _find_thread(self, channel: str, life: Lifecycle | None, alert: Alert, row: InboxRow) -> str | None:
        """Return the thread in which somebody else's post announced the incident here: ours is not needed then."""
        if life is None or not is_continued(life, alert, row.received_at):
            return None
        briefs = await self.store.list_briefs(life.incident_id)
        return next((brief.root_ts for brief in briefs if brief.channel == channel), None)

    async def _check_post(self, row: InboxRow, alert: Alert, channel: str, mine: DeliveryOutcome) -> None:
        if mine.dead:
            log.error("an alert could not be posted", channel=channel, reason=mine.error)
            await self.inbox.give_up(row, f"the alert could not be posted: {mine.error}")
        elif mine.result is None:
            await self._retry_later(row)
        else:
            await self._hand_over(row, _build_post_event(alert, channel, mine.result, row.received_at))

    async def _edit_post(self, row: InboxRow, alert: Alert, channel: str, key: str, before: DeliveryOutcome) -> None:
        """Edit our own post to the current state, and update the incident as after any edit of a post."""
        posting = self._build_posting(Operation.UPDATE, channel, build_edit_id(before.delivery_id), alert)
        edit = build_outbox_entry(posting, key=key, replaces=True, target=before.delivery_id)
        await self.store.commit(Changes(deliveries=(edit,)))
        await self._hand_over(
            row, _build_change_event(alert, channel, row.received_at, PostDelivery.EDIT, str(before.result))
        )

    def _build_posting(self, operation: Operation, channel: str, delivery_id: str, alert: Alert) -> Posting:
        message = self.render(alert)
        return Posting(operation, channel, delivery_id, message.text, message.blocks)

    async def _hand_over(self, row: InboxRow, event: Mapping[str, Any]) -> None:
        await self.answer(replace(row, body={"event": event}))

    async def _retry_later(self, row: InboxRow) -> None:
        delay_s = LOOK_AGAIN_S if row.attempts < OFTEN else LOOK_SELDOM_S
        await self.inbox.retry_later(row, delay_s, "its post is on its way")


def _build_post_event(alert: Alert, channel: str, ts: str, at: datetime) -> dict[str, Any]:
    """Build the event of the alert's own post.

    It is dated to the moment of receipt, not to the moment at which the post appeared: what came in between is later.
    """
    alert_json = write_alert(replace(alert, delivery=PostDelivery.POST))
    return {"channel": channel, "ts": ts, "told_at": format_ts(at.astimezone(UTC)), "alert": alert_json}


def _build_change_event(alert: Alert, channel: str, at: datetime, how: PostDelivery, ts: str) -> dict[str, Any]:
    """Build the event of an edit of the alert's post, or of a reply in its thread."""
    now = format_ts(at.astimezone(UTC))
    event: dict[str, Any] = {"channel": channel, "ts": now, "alert": write_alert(replace(alert, delivery=how))}
    if how is PostDelivery.EDIT:
        return event | {"event_ts": now, "message": {"ts": ts, "edited": {"ts": now}}}
    return event | {"thread_ts": ts}
