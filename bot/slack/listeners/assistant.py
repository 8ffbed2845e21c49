"""Render the model's hypothesis for a thread and for Compare, with its label or the reason why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.domain.assistant.hypothesis import TriedFix
from bot.domain.brief.decide import Brief
from bot.ports.chat import Channel, ChatMessage
from bot.slack.views.hypothesis import render_hypotheses, render_hypothesis
from bot.workflows.assistant.analyze import AskAnalyst


@dataclass(frozen=True, slots=True)
class ModelAnalyst:
    """`bot.workflows.assistant.converse.Analyst` on `AskAnalyst`."""

    analyse: AskAnalyst

    async def explain_refusal(self, channel: Channel) -> str | None:
        """See the protocol."""
        return await self.analyse.explain_refusal(channel)

    async def ask(
        self,
        brief: Brief,
        channel: Channel,
        by: str,
        attempts: Sequence[TriedFix],
        question: str,
    ) -> ChatMessage:
        """See the protocol. With memory off for the brief, the model gets none."""
        memory = brief.memory_mode == "on"
        found = await self.analyse(brief, channel, by, None, attempts, memory=memory, question=question)
        return render_hypothesis(found, brief)

    async def compare(self, brief: Brief, channel: Channel, by: str, attempts: Sequence[TriedFix]) -> ChatMessage:
        """See the protocol."""
        with_memory, without = await self.analyse.compare(brief, channel, by, None, attempts)
        return render_hypotheses(with_memory, without, brief)
