"""Turning decisions into messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bot.domain.alerts.suppression import Mute
from bot.domain.brief.decide import Brief
from bot.domain.incidents.corrections import FieldChange
from bot.domain.incidents.lifecycle import Lifecycle
from bot.domain.operations.storms import StormSummary
from bot.domain.reports.digest import Digest
from bot.domain.resolutions.nudge import Nudge
from bot.domain.resolutions.recurrence import QuestionedFix, RecurrenceAnswer
from bot.ports.chat import ChatMessage


class Surfaces(Protocol):
    """Render messages. Promise: pure; same value, same bytes; text from data is escaped."""

    def render_brief(self, brief: Brief, tell: str | None = None) -> ChatMessage:
        """Render the brief as the thread shows it. `tell`: a user group, or `ACKNOWLEDGER`, whom the message mentions."""
        ...

    def render_repeat(self, brief: Brief, link: str | None) -> ChatMessage:
        """Render the line for a repeat that came as a new root."""
        ...

    def render_recorded(
        self, life: Lifecycle, summary: str, by: str, changed: Sequence[FieldChange] = ()
    ) -> ChatMessage:
        """Render the line in the thread that says what was recorded, by whom, and what it changed of an earlier
        recording."""
        ...

    def render_superseded(self, brief: Brief) -> ChatMessage:
        """Render a changed recommendation, as a new reply that marks the old one superseded."""
        ...

    def render_storm(self, said: StormSummary) -> ChatMessage:
        """Render the one message about a storm's incidents."""
        ...

    def render_correction(self, incident_id: str, what: str, *, same_advice: bool) -> ChatMessage:
        """Render the line in the thread of a brief that used a record which was `what` ("corrected", "retracted",
        "purged"). `same_advice`: the recommendation stays as it is."""
        ...

    def render_mute(self, mute: Mute) -> ChatMessage:
        """Render the line in the thread that says what was muted, by whom, until when."""
        ...

    def render_digest(self, digest: Digest) -> ChatMessage:
        """Render the digest as the channel shows it."""
        ...

    def render_nudge(self, nudge: Nudge) -> ChatMessage:
        """Render the question what ended incidents that cleared with no recorded fix."""
        ...

    def render_recurrence_question(self, asked: QuestionedFix) -> ChatMessage:
        """Render the question about a fix after which its alert fired again."""
        ...

    def render_recurrence_answer(self, asked: QuestionedFix, answer: RecurrenceAnswer, by: str) -> ChatMessage:
        """Render the answer, in the place of the question."""
        ...
