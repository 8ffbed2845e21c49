"""Wire the answers to questions in threads: the record, and the language model if there is one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from bot.adapters.model.ladder import ModelLadder
from bot.adapters.store.delivery.delivery_log import SqlDeliveryLog
from bot.bootstrap.lazy_adapters import import_adapter
from bot.bootstrap.wiring.foundation import Foundation
from bot.bootstrap.wiring.memory import Memory
from bot.bootstrap.wiring.recall import build_show_details
from bot.domain.assistant.prompt import Prompt
from bot.ports.clock import Clock
from bot.ports.errors import ModelUnavailable
from bot.ports.language_model import LanguageModel, ModelAnswer
from bot.settings import Settings
from bot.slack.listeners.assistant import ModelAnalyst
from bot.slack.views.assistant_reply import SlackReplySurfaces
from bot.workflows.assistant.analyze import AskAnalyst, ShowModelPayloads
from bot.workflows.assistant.converse import Converse

MODEL = "Model"


def format_model_name(settings: Settings) -> str:
    """Return what status and doctor call the model: its names, or "off"."""
    on = settings.llm == "on" and settings.groq_api_key and settings.model_names
    return ", ".join(settings.model_names) if on else "off"


@asynccontextmanager
async def open_model(settings: Settings) -> AsyncIterator[ModelLadder | None]:
    """Open the ladder of configured models, if there are any. Nothing is asked of them yet."""
    key = settings.groq_api_key.get_secret_value() if settings.groq_api_key else ""
    if format_model_name(settings) == "off" or not key:
        yield None
        return
    opening: AbstractAsyncContextManager[ModelLadder] = import_adapter("model.groq").open_groq(
        key, settings.groq_base_url, settings.model_names
    )
    async with opening as ladder:
        yield ladder


@dataclass(slots=True)
class MonitoredModel:
    """A language model that remembers how its last question went, for the status."""

    model: LanguageModel
    asked: bool = False
    problem: str | None = None

    async def ask(self, prompt: Prompt, schema: Mapping[str, Any], deadline_s: float) -> ModelAnswer:
        """Ask the model, as the port says, and remember whether it answered."""
        try:
            answer = await self.model.ask(prompt, schema, deadline_s)
        except ModelUnavailable as problem:
            self.asked, self.problem = True, str(problem)
            raise
        self.asked, self.problem = True, None
        return answer

    def report_health(self) -> Iterator[tuple[str, str | None]]:
        """Yield its name and problem, once it was asked."""
        if self.asked:
            yield MODEL, self.problem


@asynccontextmanager
async def open_monitored_model(settings: Settings) -> AsyncIterator[MonitoredModel | None]:
    """Open the configured model, if there is one, and remember how its questions go."""
    async with open_model(settings) as model:
        yield MonitoredModel(model) if model else None


def build_converse(base: Foundation, *, model: LanguageModel | None) -> Converse:
    """Build what answers a question in a thread."""
    analyst = build_ask_analyst(settings=base.settings, memory=base.memory, model=model, clock=base.clock)
    return Converse(
        store=base.memory.incidents,
        chat=base.chat,
        deliveries=SqlDeliveryLog(base.memory.store.database),
        clock=base.clock,
        talk=SlackReplySurfaces(),
        brief=build_show_details(base.memory, base.clock).read_brief,
        names=base.threads.read_names,
        analyst=ModelAnalyst(analyst),
        load=base.load.read_load,
    )


def build_ask_analyst(*, settings: Settings, memory: Memory, model: LanguageModel | None, clock: Clock) -> AskAnalyst:
    """Build what asks the model about a brief."""
    return AskAnalyst(
        model=model,
        ledger=memory.store.model_ledger,
        channels=memory.channels,
        clock=clock,
        daily_tokens=settings.llm_daily_tokens,
    )


def build_show_model_payloads(memory: Memory) -> ShowModelPayloads:
    """Build what shows exactly what a model was sent."""
    return ShowModelPayloads(memory.store.model_ledger)
