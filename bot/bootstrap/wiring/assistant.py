"""What answers people in threads, wired: the record, the model if there is one, and what status says of it. Must not decide."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from bot.adapters.store.delivery.delivery_log import SqlDeliveryLog
from bot.bootstrap.wiring.corrections import build_show_details
from bot.bootstrap.wiring.memory import Memory
from bot.bootstrap.wiring.model import build_analyse, open_model
from bot.domain.assistant.analyst_prompt import Prompt
from bot.domain.operations.load import Load
from bot.ports.chat import Chat
from bot.ports.clock import Clock
from bot.ports.errors import ModelUnavailable
from bot.ports.files import ThreadReader
from bot.ports.language_model import LanguageModel, ModelAnswer
from bot.settings import Settings
from bot.slack.listeners.assistant import ModelAnalyst
from bot.slack.views.assistant_reply import SlackReplySurfaces
from bot.workflows.assistant.converse import Converse

MODEL = "Model"


@dataclass(slots=True)
class MonitoredModel:
    """`bot.ports.language_model.Model` that remembers how its last question went, for status."""

    model: LanguageModel
    asked: bool = False
    problem: str | None = None

    async def ask(self, prompt: Prompt, schema: Mapping[str, Any], deadline_s: float) -> ModelAnswer:
        """See the port."""
        try:
            answer = await self.model.ask(prompt, schema, deadline_s)
        except ModelUnavailable as problem:
            self.asked, self.problem = True, str(problem)
            raise
        self.asked, self.problem = True, None
        return answer

    def report_health(self) -> Iterator[tuple[str, str | None]]:
        """Its name and problem, once it was asked."""
        if self.asked:
            yield MODEL, self.problem


@asynccontextmanager
async def open_monitored_model(settings: Settings) -> AsyncIterator[MonitoredModel | None]:
    """The model that the settings name, if they name one, noting how it goes."""
    async with open_model(settings) as model:
        yield MonitoredModel(model) if model else None


def build_converse(
    settings: Settings,
    memory: Memory,
    clock: Clock,
    chat: Chat,
    threads: ThreadReader,
    model: LanguageModel | None,
    load: Callable[[], Load],
) -> Converse:
    """What answers a question in a thread."""
    deliveries = SqlDeliveryLog(memory.store.database)
    analyst = ModelAnalyst(build_analyse(settings, memory, model, clock))
    brief = build_show_details(memory, clock).read_brief
    return Converse(
        store=memory.incidents,
        chat=chat,
        deliveries=deliveries,
        clock=clock,
        talk=SlackReplySurfaces(),
        brief=brief,
        names=threads.read_names,
        analyst=analyst,
        load=load,
    )
