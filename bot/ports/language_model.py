"""A language model, asked once with a deadline, and the ledger of what was sent to it. Must not know any vendor.

What a model says is data: whoever asks judges it (`bot.domain.assistant.hypothesis.accept`) before anybody sees it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Protocol

from bot.domain.assistant.analyst_prompt import Prompt


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call that was made: of which model, how its answer was to be formed ("strict", "json", "text"), what came of it
    ("answered", or the kind of failure), in how many seconds."""

    model: str
    mode: str
    outcome: str
    seconds: float


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What a model answered: `content` is a JSON object with the keys that the schema needs, nothing more is known of it.
    `sent` is exactly what went out with the first call, without the key. `tokens` are those of all calls that said so."""

    content: Mapping[str, Any]
    model: str
    calls: tuple[ModelCall, ...]
    sent: Mapping[str, Any]
    tokens_in: int = 0
    tokens_out: int = 0


class LanguageModel(Protocol):
    """A ladder of models: the first one that answers in time."""

    async def ask(self, prompt: Prompt, schema: Mapping[str, Any], deadline_s: float) -> ModelAnswer:
        """Ask; everything (waits, retries, other models) happens within `deadline_s`. Raises ModelUnavailable."""
        ...


@dataclass(frozen=True, slots=True)
class ModelExchange:
    """What went to a model about one incident, as it is kept: `payload` exactly, `outcome` in plain words. `number` is
    given by the ledger. `visibility` is the incident's: who may not see it may not see this."""

    incident_id: str
    visibility: str
    at: datetime
    by: str
    memory: bool
    model: str
    outcome: str
    payload: Mapping[str, Any]
    calls: tuple[ModelCall, ...] = ()
    tokens: int = 0
    number: int = 0


class ModelLedger(Protocol):
    """What was sent to models, and how many tokens a day that took. Raises StoreUnavailable."""

    async def add_exchange(self, sent: ModelExchange, day: date) -> int:
        """Keep it and add its tokens to the day's; the day's tokens so far."""
        ...

    async def count_tokens(self, day: date) -> int:
        """How many tokens were spent on this day."""
        ...

    async def list_exchanges(self, incident_id: str, limit: int = 5) -> tuple[ModelExchange, ...]:
        """What was sent about an incident, latest first."""
        ...
