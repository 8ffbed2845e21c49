"""A ladder of models under one deadline: which is asked next, in which form, and which is left alone for a while.

A retired model is not asked again; one that is busy, slow or broken is left alone for a while, which is its circuit
breaker. Nothing is waited for that would leave no time to answer. Must not know a vendor's client, or judge an answer.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from bot.domain.assistant.prompt import Prompt
from bot.domain.text.json_types import JsonDict, JsonObject
from bot.observability import MODEL_CALLS, MODEL_TOKENS, get_logger
from bot.ports.errors import ModelUnavailable
from bot.ports.language_model import ModelAnswer, ModelCall

# No model but the last may take more than this part of what is left.
SHARE = 0.6
MOST_CALLS = 4
AT_ONCE = 2
# A call that could not take so long is not worth waiting for.
SHORTEST_CALL_S = 0.3
SLOW_S, BROKEN_S, UNREACHABLE_S, REFUSED_S, KEY_S = 30.0, 30.0, 15.0, 300.0, 60.0
ROOM, MORE_ROOM = 2_000, 4_000
LONGEST_ANSWER = 50_000
MOST_STARTS = 20
log = get_logger("model")


class AnswerMode(StrEnum):
    """The form in which an answer is requested: by strict schema, as some JSON object, or as text that holds one."""

    STRICT = "strict"
    JSON = "json"
    TEXT = "text"


_LOWER = {AnswerMode.STRICT: AnswerMode.JSON, AnswerMode.JSON: AnswerMode.TEXT, AnswerMode.TEXT: None}


class CallFailure(StrEnum):
    """Why a call did not return an answer."""

    GONE = "model retired"
    KEY = "key refused"
    TOO_LARGE = "too large"
    UNSUPPORTED = "form not supported"
    BAD_JSON = "bad JSON"
    EMPTY = "empty answer"
    CUT_OFF = "answer cut off"
    BUSY = "rate limit"
    BROKEN = "server error"
    UNREACHABLE = "connection failed"
    SLOW = "too slow"
    REFUSED = "refused"


_UNUSABLE = frozenset({CallFailure.BAD_JSON, CallFailure.EMPTY, CallFailure.CUT_OFF})
# For how long a model is left alone after a failure that did not pass.
_COOLING = {
    CallFailure.BROKEN: BROKEN_S,
    CallFailure.UNREACHABLE: UNREACHABLE_S,
    CallFailure.SLOW: SLOW_S,
    CallFailure.REFUSED: REFUSED_S,
}


class CallFailed(Exception):
    """A call returned no answer. `retry_after_s`: when the server wants to be asked again, if it said so."""

    def __init__(self, kind: CallFailure, retry_after_s: float | None = None) -> None:
        super().__init__(kind.value)
        self.kind = kind
        self.retry_after_s = retry_after_s


@dataclass(frozen=True, slots=True)
class ModelReply:
    """A server's reply."""

    text: str
    whole: bool = True  # False where the reply was cut
    tokens_in: int = 0
    tokens_out: int = 0


class ModelCaller(Protocol):
    """One call of one model."""

    def build_payload(self, model: str, mode: AnswerMode, prompt: Prompt, schema: JsonObject, room: int) -> JsonDict:
        """Return exactly what will be sent."""
        ...

    async def call(self, payload: JsonObject, timeout_s: float) -> ModelReply:
        """Send it once. Raises CallFailed."""
        ...


@dataclass(slots=True)
class _ModelState:
    """What is known of a model."""

    mode: AnswerMode
    gone: bool = False
    rest_until: float = 0.0
    reason: str = ""


@dataclass(slots=True)
class _LadderQuestion:
    """One question on its way down the ladder."""

    prompt: Prompt
    schema: JsonObject
    until: float
    calls: list[ModelCall] = field(default_factory=list)
    sent: JsonDict | None = None
    tokens_in: int = 0
    tokens_out: int = 0


@dataclass(slots=True)
class _LadderTurn:
    """One model's turn at the question: how it is asked now, and what went wrong so far."""

    model: str
    mode: AnswerMode
    until: float
    prompt: Prompt
    room: int = ROOM
    wrong: Counter[CallFailure] = field(default_factory=Counter)


class ModelLadder:
    """The LanguageModel port over several models, best first."""

    def __init__(
        self,
        caller: ModelCaller,
        models: Sequence[str],
        strict: Sequence[str] = ("openai/gpt-oss-",),
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._caller = caller
        self._models = {
            name: _ModelState(AnswerMode.STRICT if name.startswith(tuple(strict)) else AnswerMode.JSON)
            for name in dict.fromkeys(models)
        }
        self._chance = chance
        self._slots = asyncio.Semaphore(AT_ONCE)

    async def ask(self, prompt: Prompt, schema: JsonObject, deadline_s: float) -> ModelAnswer:
        """See the port."""
        asking = _LadderQuestion(prompt, schema, _read_clock() + deadline_s)
        usable = [name for name, standing in self._models.items() if _is_usable(standing)]
        if not usable:
            raise ModelUnavailable(self._format_unavailable())
        try:
            async with asyncio.timeout(deadline_s), self._slots:
                answer = await self._climb_down(asking, usable)
        except TimeoutError:
            answer = None
        if answer is None:
            raise ModelUnavailable(_format_failures(asking.calls, deadline_s), tuple(asking.calls), asking.sent)
        return answer

    async def find_problem(self) -> str | None:
        """Return why nobody could be asked right now, for status and doctor; None if somebody can. Asks nobody."""
        return None if any(map(_is_usable, self._models.values())) else self._format_unavailable()

    async def _climb_down(self, asking: _LadderQuestion, usable: Sequence[str]) -> ModelAnswer | None:
        """Ask from the best model to the last, each with its share of the time."""
        for name in usable:
            left = asking.until - _read_clock()
            if left < SHORTEST_CALL_S:
                return None
            share = left if name == usable[-1] else left * SHARE
            turn = _LadderTurn(name, self._models[name].mode, _read_clock() + share, asking.prompt)
            if answer := await self._ask_model(asking, turn):
                return answer
            if turn.wrong[CallFailure.KEY]:
                return None
        return None

    async def _ask_model(self, asking: _LadderQuestion, turn: _LadderTurn) -> ModelAnswer | None:
        """Ask one model until it answers, or until asking it again makes no sense."""
        for _ in range(MOST_CALLS):
            answer, failed = await self._call_once(asking, turn)
            if answer:
                return answer
            if failed is None or not await self._should_retry(turn, failed):
                return None
        return None

    async def _call_once(
        self, asking: _LadderQuestion, turn: _LadderTurn
    ) -> tuple[ModelAnswer | None, CallFailed | None]:
        payload = self._caller.build_payload(turn.model, turn.mode, turn.prompt, asking.schema, turn.room)
        asking.sent = asking.sent or payload
        began, outcome = _read_clock(), "answered"
        content, failed = None, None
        try:
            async with asyncio.timeout_at(turn.until):
                reply = await self._caller.call(payload, max(0.05, turn.until - began))
            asking.tokens_in += reply.tokens_in
            asking.tokens_out += reply.tokens_out
            content = read_content(reply, asking.schema)
        except TimeoutError:
            failed = CallFailed(CallFailure.SLOW)
        except CallFailed as problem:
            failed = problem
        except asyncio.CancelledError:
            outcome = CallFailure.SLOW.value
            raise
        finally:
            outcome = failed.kind.value if failed else outcome
            asking.calls.append(ModelCall(turn.model, turn.mode.value, outcome, round(_read_clock() - began, 3)))
            MODEL_CALLS.labels(turn.model, outcome).inc()
        return (self._build_answer(asking, turn, content) if content is not None else None), failed

    def _build_answer(self, asking: _LadderQuestion, turn: _LadderTurn, content: JsonObject) -> ModelAnswer:
        MODEL_TOKENS.labels("in").inc(asking.tokens_in)
        MODEL_TOKENS.labels("out").inc(asking.tokens_out)
        tokens = (asking.tokens_in, asking.tokens_out)
        return ModelAnswer(content, turn.model, tuple(asking.calls), asking.sent or {}, *tokens)

    async def _should_retry(self, turn: _LadderTurn, failed: CallFailed) -> bool:
        """Return whether to ask this model once more, after changing what can be changed; waits where that is worth it."""
        kind, standing = failed.kind, self._models[turn.model]
        turn.wrong[kind] += 1
        if kind is CallFailure.UNSUPPORTED:
            lower = _LOWER[turn.mode]
            if lower:
                turn.mode = standing.mode = lower
            return lower is not None
        if kind is CallFailure.TOO_LARGE:
            smaller, turn.prompt = turn.prompt.smaller, turn.prompt.smaller or turn.prompt
            return smaller is not None
        if kind in _UNUSABLE:
            return _adapt_turn(turn)
        wait_s = self._choose_wait_s(turn, failed)
        if wait_s is None or _read_clock() + wait_s + SHORTEST_CALL_S > turn.until:
            self._set_aside_model(turn.model, failed)
            return False
        await asyncio.sleep(wait_s)
        return True

    def _choose_wait_s(self, turn: _LadderTurn, failed: CallFailed) -> float | None:
        """Return how long to wait before the same question, once; None where it would be of no use."""
        if turn.wrong[failed.kind] > 1:
            return None
        if failed.kind is CallFailure.BUSY:
            return failed.retry_after_s
        return 0.05 + 0.2 * self._chance() if failed.kind is CallFailure.BROKEN else None

    def _set_aside_model(self, model: str, failed: CallFailed) -> None:
        """Leave this model alone for a while, or for good; a refused key is every model's."""
        standing = self._models[model]
        standing.reason = failed.kind.value
        if failed.kind is CallFailure.GONE:
            standing.gone = True
            log.warning("a model is retired; take it out of GROQ_MODELS", model=model)
        elif failed.kind is CallFailure.KEY:
            for each in self._models.values():
                each.reason, each.rest_until = failed.kind.value, _read_clock() + KEY_S
        else:
            wished = failed.retry_after_s if failed.kind is CallFailure.BUSY else None
            standing.rest_until = _read_clock() + (wished or _COOLING.get(failed.kind, BROKEN_S))

    def _format_unavailable(self) -> str:
        """Return why nobody can be asked now."""
        if not self._models or all(standing.gone for standing in self._models.values()):
            return "No model of GROQ_MODELS is offered any more; name others."
        resting = [standing for standing in self._models.values() if not standing.gone]
        wait_s = max(1.0, min(standing.rest_until for standing in resting) - _read_clock())
        return f"The models are not asked for {wait_s:.0f} s more ({resting[0].reason})."


def _read_clock() -> float:
    return asyncio.get_running_loop().time()


def _is_usable(standing: _ModelState) -> bool:
    return not standing.gone and standing.rest_until <= _read_clock()


def _adapt_turn(turn: _LadderTurn) -> bool:
    """Return the turn after an unusable answer: once more with more room, then in a lower form, then None."""
    turn.room = MORE_ROOM
    unusable = sum(turn.wrong[kind] for kind in _UNUSABLE)
    lower = _LOWER[turn.mode]
    if unusable == 1:
        return True
    if unusable > 2 or lower is None:
        return False
    turn.mode = lower
    return True


def _format_failures(calls: Sequence[ModelCall], deadline_s: float) -> str:
    """Return why there is no answer, for people: what became of each model."""
    if not calls:
        return f"No model had time for this within {deadline_s:g} s."
    last = {call.model: call.outcome for call in calls}
    if CallFailure.KEY.value in last.values():
        return "Groq refuses the key; correct GROQ_API_KEY."
    return f"No model answered within {deadline_s:g} s ({'; '.join(f'{m}: {o}' for m, o in last.items())})."


def read_content(reply: ModelReply, schema: JsonObject) -> JsonObject:
    """Return the JSON object in a reply that has all the keys that the schema needs, wherever in the text it is. Raises
    CallFailed."""
    text = reply.text[:LONGEST_ANSWER]
    if not text.strip():
        raise CallFailed(CallFailure.EMPTY)
    needed = set(schema.get("required", ()))
    start = text.find("{")
    for _ in range(MOST_STARTS):
        if start < 0:
            break
        found = _decode_json(text, start)
        if isinstance(found, dict) and needed <= found.keys():
            return found
        start = text.find("{", start + 1)
    raise CallFailed(CallFailure.BAD_JSON if reply.whole else CallFailure.CUT_OFF)


def _decode_json(text: str, start: int) -> object:
    try:
        return json.JSONDecoder().raw_decode(text, start)[0]
    except (ValueError, RecursionError):
        return None
