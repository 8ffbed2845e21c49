"""Turning decisions into messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bot.domain.alerts.suppression import Mute
from bot.domain.brief.decide import Brief
from bot.domain.incidents.corrections import Difference
from bot.domain.incidents.lifecycle import Life
from bot.domain.operations.storms import StormSummary
from bot.domain.reports.digest import Digest
from bot.domain.resolutions.nudge import Nudge
from bot.domain.resolutions.recurrence import Again, AskedFix
from bot.ports.chat import ChatMessage


class Surfaces(Protocol):
    """Turns decisions into messages. Promise: pure; same value, same bytes; text from data is escaped."""

    def render_brief(self, brief: Brief, tell: str | None = None) -> ChatMessage:
        """The brief as the thread shows it. `tell`: a user group, or `ACKNOWLEDGER`, whom the message mentions."""
        ...

    def render_repeat(self, brief: Brief, link: str | None) -> ChatMessage:
        """One line for a repeat that came as a new root."""
        ...

    def render_recorded(self, life: Life, summary: str, by: str, changed: Sequence[Difference] = ()) -> ChatMessage:
        """The line in the thread that says what was recorded, by whom, and what it changed of what was recorded before."""
        ...

    def render_superseded(self, brief: Brief) -> ChatMessage:
        """A changed recommendation, as a new reply that marks the old one superseded."""
        ...

    def render_storm(self, said: StormSummary) -> ChatMessage:
        """The one message that tells of a storm's incidents."""
        ...

    def render_correction(self, incident_id: str, what: str, *, same_advice: bool) -> ChatMessage:
        """The line in the thread of a brief that used a record which was `what` ("corrected", "retracted", "purged").
        `same_advice`: the recommendation stays as it is."""
        ...

    def render_mute(self, mute: Mute) -> ChatMessage:
        """The line in the thread that says what was muted, by whom, until when."""
        ...

    def render_digest(self, digest: Digest) -> ChatMessage:
        """The digest as the channel shows it."""
        ...

    def render_nudge(self, nudge: Nudge) -> ChatMessage:
        """The question what ended incidents that cleared with no recorded fix."""
        ...

    def render_recurrence_question(self, asked: AskedFix) -> ChatMessage:
        """The question about a fix after which its alert fired again."""
        ...

    def render_recurrence_answer(self, asked: AskedFix, answer: Again, by: str) -> ChatMessage:
        """The answer, in the place of the question."""
        ...
