"""Handle an alert that fires again soon after a fix was verified: the fix counts as PARTIAL until somebody says what
happened.

Must not render, and must not call Slack but to read facts: what is to be sent goes through the outbox.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from bot.domain.alerts.alert import Alert, NotAlert, PostDelivery
from bot.domain.alerts.notification import FIRES
from bot.domain.delivery.ids import build_answer_id, build_incident_key, build_recurrence_id
from bot.domain.delivery.kinds import Operation
from bot.domain.incidents.opening import parse_ts
from bot.domain.resolutions.recurrence import (
    STATUS_OF,
    QuestionedFix,
    RecurrenceAnswer,
    apply_answer,
    find_fix_to_question,
    find_open_question,
    is_soon_after,
    question_attempt,
)
from bot.domain.text.format import fit_one_line
from bot.ports.audit import AuditLine
from bot.ports.chat import Chat, ChatMessage, Posting, may_speak, read_event_channel
from bot.ports.delivery.inbox import InboxRow
from bot.ports.delivery.outbox import OutboxEntry, build_outbox_entry
from bot.ports.incidents import IncidentStore
from bot.ports.surfaces import Surfaces
from bot.ports.unit_of_work import Changes, retry_conflicts

BOT = "precedent"
CONFLICTS = 3


@dataclass(frozen=True, slots=True)
class ResolvedBefore:
    """The alert's last incident, and when the alert fired again."""

    incident_id: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class AskAboutRecurrence:
    """Ask in the old incident's thread about the fix after which its alert fired again.

    It is called in two steps, around the answer to the alert: afterwards the newest incident of the alert is the one
    that has just opened, and the brief of that one must show what memory held when the alert came.
    """

    store: IncidentStore
    chat: Chat
    surfaces: Surfaces
    read: Callable[[Mapping[str, Any]], Alert | NotAlert]

    async def find_resolved(self, row: InboxRow) -> ResolvedBefore | None:
        """Return the incident of the same alert that was resolved less than an hour before this post.

        Raises StoreUnavailable, ChatUnavailable.
        """
        event = row.body.get("event") or {}
        reading, at = self.read(event), parse_ts(str(event.get("ts") or ""))
        if isinstance(reading, NotAlert) or at is None:
            return None
        if reading.state not in FIRES or reading.delivery is PostDelivery.EDIT:
            return None
        channel = await read_event_channel(self.chat, event)
        if not may_speak(channel):
            return None
        life = await self.store.find_latest_lifecycle(reading.fingerprint, channel.visibility)
        return ResolvedBefore(life.incident_id, at) if life and is_soon_after(life, at) else None

    async def ask(self, row: InboxRow, resolved: ResolvedBefore) -> None:
        """Ask, unless no other incident was opened (the alert is muted or not listed). Raises StoreUnavailable."""
        event = row.body.get("event") or {}
        opened = await self.store.find_incident(str(event.get("channel") or ""), str(event.get("ts") or ""))
        if opened not in {None, resolved.incident_id}:
            await retry_conflicts(CONFLICTS, partial(self._ask, resolved.incident_id, resolved.at))

    async def _ask(self, incident_id: str, at: datetime) -> None:
        life, record = await self.store.read_lifecycle(incident_id), await self.store.read_record(incident_id)
        asked, posted = find_fix_to_question(life, record, at), await self.store.list_briefs(incident_id)
        if asked is None or not posted:
            return
        message = self.surfaces.render_recurrence_question(asked)
        questions = (_build_question(asked, brief.channel, brief.root_ts, message) for brief in posted)
        detail = f"VERIFIED to PARTIAL, fired again after {asked.minutes} min: {fit_one_line(asked.fix, 120)}"
        await self.store.commit(
            Changes(
                # Written back unchanged, so that a concurrent change of the incident makes the commit fail.
                lifecycles=(life,),
                records=(question_attempt(record, asked.number),),
                recallable=frozenset({incident_id}),
                deliveries=tuple(questions),
                once=asked.key,
                bank_act=asked.key,
                audit=(AuditLine(BOT, "fired again", incident_id, detail),),
            )
        )


@dataclass(frozen=True, slots=True)
class AnswerRecurrence:
    """Record what a person says about the recurrence. The first answer counts, for everyone."""

    store: IncidentStore
    surfaces: Surfaces

    async def __call__(self, incident_id: str, number: int, answer: RecurrenceAnswer, by: str) -> bool:
        """Record the answer; return False if there was one before, or nobody asked about this attempt.

        `by` is the person's Slack id. Raises IncidentNotFound, StoreUnavailable: nothing was saved then.
        """
        return await retry_conflicts(CONFLICTS, partial(self._record, incident_id, number, answer, by))

    async def _record(self, incident_id: str, number: int, answer: RecurrenceAnswer, by: str) -> bool:
        life, record = await self.store.read_lifecycle(incident_id), await self.store.read_record(incident_id)
        asked = find_open_question(record, number)
        if asked is None:
            return False
        message, key = self.surfaces.render_recurrence_answer(asked, answer, by), f"{asked.key}/answer"
        edits = [_build_edit(asked, brief.channel, message) for brief in await self.store.list_briefs(incident_id)]
        return await self.store.commit(
            Changes(
                lifecycles=(life,),
                records=(apply_answer(record, number, answer),),
                recallable=frozenset({incident_id}),
                deliveries=tuple(edits),
                once=key,
                bank_act=key,
                audit=(
                    AuditLine(by, "fired again", incident_id, f"PARTIAL to {STATUS_OF[answer].value}: {answer.value}"),
                ),
            )
        )


def _build_question(asked: QuestionedFix, channel: str, root_ts: str, message: ChatMessage) -> OutboxEntry:
    """Build the question in the incident's thread."""
    delivery, about = build_recurrence_id(asked.key, channel), asked.incident_id
    posting = Posting(
        Operation.POST, channel, delivery, message.text, message.blocks, thread_ts=root_ts, incident_id=about
    )
    return build_outbox_entry(posting, key=build_incident_key(channel, about), urgent=True)


def _build_edit(asked: QuestionedFix, channel: str, message: ChatMessage) -> OutboxEntry:
    """Build the edit that puts the answer in the place of the question."""
    delivery, about = build_recurrence_id(asked.key, channel), asked.incident_id
    posting = Posting(
        Operation.UPDATE, channel, build_answer_id(delivery), message.text, message.blocks, incident_id=about
    )
    return build_outbox_entry(posting, key=build_incident_key(channel, about), target=delivery)
