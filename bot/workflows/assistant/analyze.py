"""Ask a model for a hypothesis about an incident, from the brief, the evidence and the attempts; show only what can
be checked.

The brief never waits for it. Nothing of it is retained as experience: it is no incident, no attempt and no cause, and
has no way to become one. Must not render, post, or ask where nobody allowed it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from bot.domain.access.visibility import Viewer
from bot.domain.alerts.channel_settings import may_use_model
from bot.domain.assistant.hypothesis import (
    Citation,
    Hypothesis,
    ModelInput,
    RejectedHypothesis,
    TriedFix,
    check_hypothesis,
)
from bot.domain.assistant.prompt import Prompt, build_model_input, build_prompt, build_schema, cite_evidence
from bot.domain.brief.decide import Brief
from bot.observability import HYPOTHESES, count_masked
from bot.ports.channels import ChannelStore
from bot.ports.chat import Channel, may_speak
from bot.ports.clock import Clock
from bot.ports.errors import IncidentNotFound, ModelUnavailable
from bot.ports.language_model import LanguageModel, ModelAnswer, ModelCall, ModelExchange, ModelLedger

DEADLINE_S = 12.0
OFF = "No model is set up: the answers come from the brief alone."
NOT_HERE = "No model is asked in this channel; a steward can turn it on: /precedent channel."
SPENT = "Today's {:,} tokens are used up; the model is asked again from 00:00 UTC on."
NOT_SHOWN = "The model's answer is not shown: {}."
NOTHING_SENT = "Nothing about {} was sent to a model, or you may not see it from here."
# Outcomes of calls that a model worked on: they cost tokens even if nobody reported how many.
_WORKED_ON = frozenset({"too slow", "bad JSON", "empty answer", "answer cut off"})
# A rough average for English text.
_CHARS_A_TOKEN = 3


@dataclass(frozen=True, slots=True)
class Analysis:
    """A hypothesis, or the reason why there is none: exactly one of the two is set."""

    memory: bool
    hypothesis: Hypothesis | None = None
    # A sentence that says why there is no hypothesis.
    reason: str | None = None
    model: str | None = None
    # What the model knew; None if it was not asked.
    given: ModelInput | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskAnalyst:
    """Ask the model about a brief."""

    # None if none is set up.
    model: LanguageModel | None
    ledger: ModelLedger
    channels: ChannelStore
    clock: Clock
    # The budget of one day (UTC).
    daily_tokens: int
    deadline_s: float = DEADLINE_S

    async def __call__(
        self,
        brief: Brief,
        channel: Channel,
        by: str,
        evidence: Sequence[Citation] | None = None,
        attempts: Sequence[TriedFix] = (),
        *,
        memory: bool = True,
        question: str = "",
    ) -> Analysis:
        """Return one hypothesis, or why there is none.

        `by` is the Slack id of the person who asks, `question` what they want to know. `evidence` is what sources
        show now (by default that of the brief), `attempts` what was tried in this incident. Raises StoreUnavailable:
        an exchange that cannot be recorded is not shown.
        """
        reason = await self.explain_refusal(channel)
        if reason or self.model is None:
            return Analysis(memory, reason=reason or OFF)
        rows = cite_evidence(brief.evidence) if evidence is None else evidence
        prompt = build_prompt(build_model_input(brief, rows, attempts, memory=memory), question)
        count_masked(prompt.user)
        incident_id = brief.incident.incident_id if brief.incident else "-"
        try:
            answer = await self.model.ask(prompt, build_schema(prompt.given), self.deadline_s)
        except ModelUnavailable as problem:
            await self._note_failure(incident_id, channel, by, prompt, problem, memory=memory)
            return Analysis(memory, reason=str(problem), given=prompt.given)
        found = check_hypothesis(answer.content, prompt.given)
        await self._note_answer(incident_id, channel, by, answer, found, memory=memory)
        if isinstance(found, RejectedHypothesis):
            return Analysis(memory, reason=NOT_SHOWN.format(found.reason), model=answer.model, given=prompt.given)
        return Analysis(memory, found, model=answer.model, given=prompt.given)

    async def compare(
        self,
        brief: Brief,
        channel: Channel,
        by: str,
        evidence: Sequence[Citation] | None = None,
        attempts: Sequence[TriedFix] = (),
    ) -> tuple[Analysis, Analysis]:
        """Return hypotheses with memory and without, asked at the same time, neither knowing of the other.

        Raises StoreUnavailable.
        """
        both = (self(brief, channel, by, evidence, attempts, memory=memory) for memory in (True, False))
        with_memory, without = await asyncio.gather(*both)
        return with_memory, without

    async def explain_refusal(self, channel: Channel) -> str | None:
        """Return a sentence why the model is not asked about this channel's alerts now; None if it is.

        Raises StoreUnavailable.
        """
        if self.model is None:
            return OFF
        settings = await self.channels.read_settings(channel.id)
        if not may_speak(channel) or not may_use_model(
            settings, is_private=channel.is_private, is_shared=channel.is_shared
        ):
            return NOT_HERE
        spent = await self.ledger.count_tokens(self.clock.now().date())
        return SPENT.format(self.daily_tokens) if spent >= self.daily_tokens else None

    async def _note_answer(
        self,
        incident_id: str,
        channel: Channel,
        by: str,
        answer: ModelAnswer,
        found: Hypothesis | RejectedHypothesis,
        *,
        memory: bool,
    ) -> None:
        HYPOTHESES.labels(found.rule if isinstance(found, RejectedHypothesis) else "shown").inc()
        outcome = NOT_SHOWN.format(found.reason) if isinstance(found, RejectedHypothesis) else "shown"
        tokens = answer.tokens_in + answer.tokens_out or _estimate_tokens(answer)
        now = self.clock.now()
        exchange = ModelExchange(
            incident_id, channel.visibility, now, by, memory, answer.model, outcome, answer.sent, answer.calls, tokens
        )
        await self.ledger.add_exchange(exchange, now.date())

    async def _note_failure(
        self, incident_id: str, channel: Channel, by: str, prompt: Prompt, problem: ModelUnavailable, *, memory: bool
    ) -> None:
        HYPOTHESES.labels("unavailable").inc()
        if not isinstance(problem.sent, dict):
            return
        calls = tuple(call for call in problem.calls if isinstance(call, ModelCall))
        worked_calls = sum(call.outcome in _WORKED_ON for call in calls)
        tokens = worked_calls * (len(prompt.system) + len(prompt.user)) // _CHARS_A_TOKEN
        now, model = self.clock.now(), calls[-1].model if calls else ""
        exchange = ModelExchange(
            incident_id, channel.visibility, now, by, memory, model, str(problem), problem.sent, calls, tokens
        )
        await self.ledger.add_exchange(exchange, now.date())


def _estimate_tokens(answer: ModelAnswer) -> int:
    """Estimate the tokens of an answer whose server reports none."""
    return max(1, len(answer.calls)) * len(str(answer.sent)) // _CHARS_A_TOKEN


@dataclass(frozen=True, slots=True)
class ShowModelPayloads:
    """Show the exact payloads about an incident that went to models, to people who may see the incident where they
    ask.
    """

    ledger: ModelLedger

    async def __call__(self, incident_id: str, viewer: Viewer) -> tuple[ModelExchange, ...]:
        """Return them, latest first.

        Raises IncidentNotFound if nothing was sent, or nothing that this viewer may see; StoreUnavailable.
        """
        sent = await self.ledger.list_exchanges(incident_id)
        visible = tuple(one for one in sent if viewer.may_see(one.visibility))
        if not visible:
            raise IncidentNotFound(NOTHING_SENT.format(incident_id))
        return visible
