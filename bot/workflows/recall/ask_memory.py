"""Ask memory a person's question; the answer is decided like any brief. Must not score or render."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bot.domain.access.visibility import Viewer
from bot.domain.alerts.alert import Alert
from bot.domain.brief.decide import Brief, decide
from bot.domain.recall.question import RecallQuestion
from bot.domain.recall.ranking import Recalled
from bot.ports.clock import Clock
from bot.workflows.recall.recall import LookUpPrecedents


@dataclass(frozen=True, slots=True)
class AskMemory:
    """Answer a person's question from memory."""

    look_up: LookUpPrecedents
    clock: Clock

    async def recall(self, question: RecallQuestion, viewer: Viewer, without: str | None = None) -> Recalled:
        """Return the precedents of a question, except the incident `without`. Raises StoreUnavailable."""
        given = question.filters.get
        _, recalled = await self.look_up(
            question.text,
            viewer,
            vendor=given("vendor"),
            service=given("service"),
            region=given("region"),
            since=question.since,
        )
        others = tuple(p for p in recalled.precedents if p.incident.incident_id != without)
        return replace(recalled, precedents=others)

    async def __call__(
        self, question: RecallQuestion, viewer: Viewer, *, alert: Alert | None = None, without: str | None = None
    ) -> tuple[Brief, Recalled]:
        """Return the brief and what it rests on. `alert`: the alert that is asked about, `without`: its own incident.
        Raises StoreUnavailable."""
        recalled = await self.recall(question, viewer, without)
        return decide(alert or question.build_alert(), recalled, (), self.clock.now()), recalled
