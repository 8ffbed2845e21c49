"""The model as people meet it in a thread and in Compare: its hypothesis rendered, with its label or the reason why there is none.

Must not show what `Analyse` did not accept, or ask where it is not allowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.domain.assistant.hypothesis import Tried
from bot.domain.brief.decide import Brief
from bot.ports.chat import Channel, Message
from bot.slack.views.hypothesis import hypotheses_message, hypothesis_message
from bot.workflows.assistant.analyse import Analyse


@dataclass(frozen=True, slots=True)
class AskedModel:
    """`bot.workflows.assistant.converse.Analyst` on `Analyse`."""

    analyse: Analyse

    async def forbidden(self, channel: Channel) -> str | None:
        """See the protocol."""
        return await self.analyse.forbidden(channel)

    async def hypothesis(
        self,
        brief: Brief,
        channel: Channel,
        by: str,
        attempts: Sequence[Tried],
        question: str,
    ) -> Message:
        """See the protocol. Where memory is off for the brief, or nothing in it counts, the model is told of none."""
        memory = brief.memory_mode == "on"
        found = await self.analyse(brief, channel, by, None, attempts, memory=memory, question=question)
        return hypothesis_message(found, brief)

    async def compared(self, brief: Brief, channel: Channel, by: str, attempts: Sequence[Tried]) -> Message:
        """See the protocol."""
        with_memory, without = await self.analyse.compared(brief, channel, by, None, attempts)
        return hypotheses_message(with_memory, without, brief)
