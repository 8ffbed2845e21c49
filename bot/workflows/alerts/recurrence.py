"""Fired again soon after a fix was seen to work: the fix counts as partly until somebody says what it was.

Must not render anything itself, and must not call Slack for anything but facts: what is owed goes through the outbox.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bot.domain.alerts.alert import Alert, Delivery, NotAlert
from bot.domain.alerts.notification import FIRES
from bot.domain.delivery.ids import build_answer_id, build_incident_key, build_recurrence_id
from bot.domain.delivery.kinds import Operation
from bot.domain.incidents.opening import posted_at
from bot.domain.resolutions.recurrence import (
    STATUS_OF,
    Again,
    AskedFix,
    answered,
    asked_fix,
    asking,
    is_soon_after,
    put_in_question,
)
from bot.domain.text.names import one_line
from bot.ports.audit import AuditLine
from bot.ports.chat import Chat, ChatMessage, Posting, read_event_channel
from bot.ports.delivery.inbox import InboxRow
from bot.ports.delivery.outbox import OutboxEntry, build_outbox_entry
from bot.ports.errors import StoreConflict
from bot.ports.incidents import IncidentStore
from bot.ports.surfaces import Surfaces
from bot.ports.unit_of_work import Changes

BOT = "precedent"
CONFLICTS = 3


@dataclass(frozen=True, slots=True)
class AskAboutRecurrence:
    """Answers an alert's post by `answer`, then asks about the fix after which it fired again. The brief of the new
    incident is decided before: it says what memory held when the alert came."""

    store: IncidentStore
    chat: Chat
    surfaces: Surfaces
    read: Callable[[Mapping[str, Any]], Alert | NotAlert]
    answer: Callable[[InboxRow], Awaitable[None]]

    async def __call__(self, row: InboxRow) -> None:
        """Work one inbox row off. Raises what `answer` raises, StoreUnavailable, ChatUnavailable."""
        event = row.body.get("event") or {}
        before = await self._find_resolved(event)
        await self.answer(row)
        # Nothing new was opened for a muted or unlisted one: then nothing is asked either.
        if before is not None and await self._find_incident(event) not in {None, before[0]}:
            await self._ask_now(*before)

    async def _ask_now(self, incident_id: str, at: datetime) -> None:
        for _ in range(CONFLICTS):
            try:
                return await self._ask(incident_id, at)
            except StoreConflict:
                continue
        return await self._ask(incident_id, at)

    async def _find_incident(self, event: Mapping[str, Any]) -> str | None:
        return await self.store.find_incident(str(event.get("channel") or ""), str(event.get("ts") or ""))

    async def _find_resolved(self, event: Mapping[str, Any]) -> tuple[str, datetime] | None:
        """The incident of the same alert that was resolved less than an hour before this event, and when it fired."""
        reading, at = self.read(event), posted_at(str(event.get("ts") or ""))
        if (
            isinstance(reading, NotAlert)
            or reading.state not in FIRES
            or reading.delivery is Delivery.EDIT
            or at is None
        ):
            return None
        channel = await read_event_channel(self.chat, event)
        life = (
            None
            if channel.is_silent
            else await self.store.find_latest_lifecycle(reading.fingerprint, channel.visibility)
        )
        return (life.incident_id, at) if life and is_soon_after(life, at) else None

    async def _ask(self, incident_id: str, at: datetime) -> None:
        life, record = await self.store.read_lifecycle(incident_id), await self.store.read_record(incident_id)
        asked, posted = asked_fix(life, record, at), await self.store.list_briefs(incident_id)
        if asked is None or not posted:
            return
        message = self.surfaces.render_recurrence_question(asked)
        questions = (_build_question(asked, brief.channel, brief.root_ts, message) for brief in posted)
        said = f"VERIFIED to PARTIAL, fired again after {asked.minutes} min: {one_line(asked.fix, 120)}"
        await self.store.commit(
            Changes(
                # Written as it is, so that whoever changes the incident at the same moment is noticed.
                lifecycles=(life,),
                records=(put_in_question(record, asked.number),),
                recallable=frozenset({incident_id}),
                deliveries=tuple(questions),
                bank_act=asked.key,
                once=asked.key,
                audit=(AuditLine(BOT, "fired again", incident_id, said),),
            )
        )


@dataclass(frozen=True, slots=True)
class AnswerRecurrence:
    """A person says what it was: the first answer stands, for everyone."""

    store: IncidentStore
    surfaces: Surfaces

    async def __call__(self, incident_id: str, number: int, answer: Again, by: str) -> bool:
        """Record it; False if it was answered before, or the attempt is not one that is asked about. `by` is the
        person's Slack id. Raises IncidentNotFound, StoreUnavailable: then nothing was saved."""
        for _ in range(CONFLICTS):
            try:
                return await self._record(incident_id, number, answer, by)
            except StoreConflict:
                continue
        return await self._record(incident_id, number, answer, by)

    async def _record(self, incident_id: str, number: int, answer: Again, by: str) -> bool:
        life, record = await self.store.read_lifecycle(incident_id), await self.store.read_record(incident_id)
        asked = asking(record, number)
        if asked is None:
            return False
        message, key = self.surfaces.render_recurrence_answer(asked, answer, by), build_answer_id(asked.key)
        edits = [_build_edit(asked, brief.channel, message) for brief in await self.store.list_briefs(incident_id)]
        return await self.store.commit(
            Changes(
                lifecycles=(life,),
                records=(answered(record, number, answer),),
                recallable=frozenset({incident_id}),
                deliveries=tuple(edits),
                bank_act=key,
                once=key,
                audit=(
                    AuditLine(by, "fired again", incident_id, f"PARTIAL to {STATUS_OF[answer].value}: {answer.value}"),
                ),
            )
        )


def _build_question(asked: AskedFix, channel: str, root_ts: str, message: ChatMessage) -> OutboxEntry:
    """The question in the incident's thread."""
    delivery, about = build_recurrence_id(asked.key, channel), asked.incident_id
    posting = Posting(
        Operation.POST, channel, delivery, message.text, message.blocks, thread_ts=root_ts, incident_id=about
    )
    return build_outbox_entry(posting, key=build_incident_key(channel, about), urgent=True)


def _build_edit(asked: AskedFix, channel: str, message: ChatMessage) -> OutboxEntry:
    """The question, replaced by its answer."""
    delivery, about = build_recurrence_id(asked.key, channel), asked.incident_id
    posting = Posting(
        Operation.UPDATE, channel, build_answer_id(delivery), message.text, message.blocks, incident_id=about
    )
    return build_outbox_entry(posting, key=build_incident_key(channel, about), target=delivery)
