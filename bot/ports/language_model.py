"""A language model, asked once with a deadline, and the ledger of what was sent to it.

Its answer is data: the caller judges it before anybody sees it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol

from bot.domain.assistant.prompt import Prompt
from bot.domain.text.json_types import JsonObject


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call to a model."""

    model: str
    mode: str  # the form of the answer: "strict", "json", "text"
    outcome: str  # "answered", or the kind of failure
    seconds: float


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """A model's answer."""

    # a JSON object with the keys that the schema needs; nothing more is known of it
    content: JsonObject
    model: str
    calls: tuple[ModelCall, ...]
    sent: JsonObject  # exactly what went out with the first call, without the key
    tokens_in: int = 0  # of all calls that stated it
    tokens_out: int = 0


class LanguageModel(Protocol):
    """A ladder of models: the first one that answers in time."""

    async def ask(self, prompt: Prompt, schema: JsonObject, deadline_s: float) -> ModelAnswer:
        """Ask; everything (waits, retries, other models) happens within `deadline_s`. Raises ModelUnavailable."""
        ...


@dataclass(frozen=True, slots=True)
class ModelExchange:
    """What was sent to a model about one incident, as it is stored."""

    incident_id: str
    visibility: str  # the incident's: who may not see it may not see this
    at: datetime
    by: str
    memory: bool
    model: str
    outcome: str  # in plain words
    payload: JsonObject  # exactly what was sent
    calls: tuple[ModelCall, ...] = ()
    tokens: int = 0
    number: int = 0  # assigned by the ledger


class ModelLedger(Protocol):
    """What was sent to models, and how many tokens a day that took. Raises StoreUnavailable."""

    async def add_exchange(self, sent: ModelExchange, day: date) -> int:
        """Store it, add its tokens to the day's, and return the day's tokens so far."""
        ...

    async def count_tokens(self, day: date) -> int:
        """Return how many tokens were spent on this day."""
        ...

    async def list_exchanges(self, incident_id: str, limit: int = 5) -> tuple[ModelExchange, ...]:
        """Return what was sent about an incident, latest first."""
        ...
