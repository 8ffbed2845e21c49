"""The analyst from the settings: the ladder on Groq, if there is a key and nobody turned it off. Must not decide."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from bot.adapters.model.ladder import Ladder
from bot.bootstrap.lazy_adapters import adapter
from bot.bootstrap.wiring.memory import Memory
from bot.ports.clock import Clock
from bot.ports.language_model import Model
from bot.settings import Settings
from bot.workflows.assistant.analyse import Analyse, ShowSent


def model_name(settings: Settings) -> str:
    """What status and doctor call the model: its names, or "off"."""
    on = settings.llm == "on" and settings.groq_api_key and settings.model_names
    return ", ".join(settings.model_names) if on else "off"


@asynccontextmanager
async def open_model(settings: Settings) -> AsyncIterator[Ladder | None]:
    """The models that the settings name, if they name any. Nothing is asked of them yet."""
    key = settings.groq_api_key.get_secret_value() if settings.groq_api_key else ""
    if model_name(settings) == "off" or not key:
        yield None
        return
    opening: AbstractAsyncContextManager[Ladder] = adapter("model.groq").open_groq(
        key, settings.groq_base_url, settings.model_names
    )
    async with opening as ladder:
        yield ladder


def analysing(settings: Settings, memory: Memory, model: Model | None, clock: Clock) -> Analyse:
    """What asks it."""
    return Analyse(model, memory.store.model_ledger, memory.channels, clock, settings.llm_daily_tokens)


def model_probe(ladder: Ladder | None) -> dict[str, Callable[[], Awaitable[str | None]]]:
    """How the models are looked at, for the watch over what the bot depends on; nothing where there are none."""
    return {"Model": ladder.problem} if ladder else {}


def showing_sent(memory: Memory) -> ShowSent:
    """What shows what it was sent."""
    return ShowSent(memory.store.model_ledger)
