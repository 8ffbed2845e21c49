"""The analyst from the settings: the ladder on Groq, if there is a key and nobody turned it off. Must not decide."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from bot.adapters.model.ladder import ModelLadder
from bot.bootstrap.lazy_adapters import import_adapter
from bot.bootstrap.wiring.memory import Memory
from bot.ports.clock import Clock
from bot.ports.language_model import LanguageModel
from bot.settings import Settings
from bot.workflows.assistant.analyze import AskAnalyst, ShowModelPayloads


def format_model_name(settings: Settings) -> str:
    """What status and doctor call the model: its names, or "off"."""
    on = settings.llm == "on" and settings.groq_api_key and settings.model_names
    return ", ".join(settings.model_names) if on else "off"


@asynccontextmanager
async def open_model(settings: Settings) -> AsyncIterator[ModelLadder | None]:
    """The models that the settings name, if they name any. Nothing is asked of them yet."""
    key = settings.groq_api_key.get_secret_value() if settings.groq_api_key else ""
    if format_model_name(settings) == "off" or not key:
        yield None
        return
    opening: AbstractAsyncContextManager[ModelLadder] = import_adapter("model.groq").open_groq(
        key, settings.groq_base_url, settings.model_names
    )
    async with opening as ladder:
        yield ladder


def build_analyse(settings: Settings, memory: Memory, model: LanguageModel | None, clock: Clock) -> AskAnalyst:
    """What asks it."""
    return AskAnalyst(
        model=model,
        ledger=memory.store.model_ledger,
        channels=memory.channels,
        clock=clock,
        daily_tokens=settings.llm_daily_tokens,
    )


def build_model_probe(ladder: ModelLadder | None) -> dict[str, Callable[[], Awaitable[str | None]]]:
    """How the models are looked at, for the watch over what the bot depends on; nothing where there are none."""
    return {"Model": ladder.find_problem} if ladder else {}


def build_show_sent(memory: Memory) -> ShowModelPayloads:
    """What shows what it was sent."""
    return ShowModelPayloads(memory.store.model_ledger)
