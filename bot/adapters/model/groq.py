"""The models of Groq: the only owner of its client. Must not decide which model is asked, when, or again.

The client's own retries are off (they sleep outside of any deadline). Nothing of a reply's error text gets into a
message, because it may hold anything.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import groq

from bot.adapters.model.ladder import AnswerMode, CallFailed, CallFailure, ModelLadder, ModelReply
from bot.domain.assistant.prompt import NAME, Prompt
from bot.domain.text.json_types import JsonDict, JsonObject
from bot.ports.errors import ModelUnavailable

# gpt-oss thinks at length unless it is told not to, and its thoughts count as an answer's tokens.
REASONING = {"openai/gpt-oss-": "low"}
GONE = frozenset({"model_decommissioned", "model_not_found", "model_terms_required"})
TOO_LARGE = frozenset({"request_too_large", "context_length_exceeded"})
KEY_REFUSED = frozenset({401, 403})
LATER = frozenset({408, 409, 425, 498})
BUSY, NOT_FOUND, LARGE, BAD = 429, 404, 413, 400
_WAIT = re.compile(r"try again in (?:(\d{1,4})h)?(?:(\d{1,4})m(?!s))?(?:(\d{1,6}(?:\.\d{1,9})?)(ms|s))?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class GroqCaller:
    """Calls of one model, on Groq's client."""

    client: groq.AsyncGroq

    def build_payload(self, model: str, mode: AnswerMode, prompt: Prompt, schema: JsonObject, room: int) -> JsonDict:
        """See the port. `room`: the most tokens of an answer."""
        messages = [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}]
        sent: JsonDict = {
            "model": model, "messages": messages, "temperature": 0.1, "max_completion_tokens": room,
        }  # fmt: skip
        if mode is AnswerMode.STRICT:
            strict = {"name": NAME, "strict": True, "schema": schema}
            sent["response_format"] = {"type": "json_schema", "json_schema": strict}
        elif mode is AnswerMode.JSON:
            sent["response_format"] = {"type": "json_object"}
        effort = next((effort for start, effort in REASONING.items() if model.startswith(start)), None)
        return sent | ({"reasoning_effort": effort} if effort else {})

    async def call(self, payload: JsonObject, timeout_s: float) -> ModelReply:
        """See the port."""
        try:
            found = await self.client.chat.completions.create(**payload, timeout=timeout_s)
        except groq.APIStatusError as problem:
            raise classify_failure(problem) from None
        except groq.APITimeoutError:
            raise CallFailed(CallFailure.SLOW) from None
        except groq.APIConnectionError:
            raise CallFailed(CallFailure.UNREACHABLE) from None
        except (groq.GroqError, ValueError, TypeError, AttributeError, KeyError):
            raise CallFailed(CallFailure.BAD_JSON) from None
        return read_reply(found)


def read_reply(found: object) -> ModelReply:
    """Return the answer. Raises CallFailed where it is nothing that Groq answers with (a page of some proxy)."""
    choices = getattr(found, "choices", None)
    if not isinstance(choices, list):
        raise CallFailed(CallFailure.BAD_JSON)
    if not choices:
        raise CallFailed(CallFailure.EMPTY)
    usage, first = getattr(found, "usage", None), choices[0]
    text = getattr(getattr(first, "message", None), "content", None)
    return ModelReply(
        text if isinstance(text, str) else "",
        getattr(first, "finish_reason", None) != "length",
        _read_count(usage, "prompt_tokens"),
        _read_count(usage, "completion_tokens"),
    )


def _read_count(usage: object, name: str) -> int:
    number = getattr(usage, name, 0)
    return number if isinstance(number, int) and number > 0 else 0


def classify_failure(problem: groq.APIStatusError) -> CallFailed:
    """Return what a refused call means; the body may be an object, a page or nothing."""
    body = problem.body if isinstance(problem.body, dict) else {}
    error = body["error"] if isinstance(body.get("error"), dict) else body
    code, said, status = str(error.get("code") or ""), str(error.get("message") or ""), problem.status_code
    form = error.get("param") == "response_format" or re.search(r"response.format|json.?schema", said, re.IGNORECASE)
    rules = (
        (code in GONE or (status == NOT_FOUND and "model" in said.casefold()), CallFailure.GONE),
        (status in KEY_REFUSED, CallFailure.KEY),
        (status == LARGE or code in TOO_LARGE, CallFailure.TOO_LARGE),
        (code == "json_validate_failed", CallFailure.BAD_JSON),
        (status == BAD and form, CallFailure.UNSUPPORTED),
        (status == BUSY, CallFailure.BUSY),
        (status in LATER or status >= 500, CallFailure.BROKEN),
    )
    kind = next((kind for holds, kind in rules if holds), CallFailure.REFUSED)
    return CallFailed(kind, _read_retry_after(problem, said) if kind is CallFailure.BUSY else None)


def _read_retry_after(problem: groq.APIStatusError, said: str) -> float:
    """Return when the server wants to be asked again, from its header or its text; a minute where neither says."""
    header = problem.response.headers.get("retry-after", "")
    if re.fullmatch(r"\d{1,7}(?:\.\d{1,3})?", header):
        return float(header)
    found = _WAIT.search(said)
    if found is None or not any(found.groups()):
        return 60.0
    hours, minutes, rest, unit = found.groups()
    return int(hours or 0) * 3600 + int(minutes or 0) * 60 + float(rest or 0) / (1000 if unit == "ms" else 1)


async def list_offered_models(api_key: str, base_url: str, timeout_s: float) -> frozenset[str]:
    """Return the names of the models that the server offers to this key: costs no token. Raises ModelUnavailable in
    plain words."""
    bare = base_url.rstrip("/").removesuffix("/openai/v1")
    async with groq.AsyncGroq(api_key=api_key, base_url=bare, max_retries=0, timeout=timeout_s) as client:
        try:
            found = await client.models.list()
        except groq.APIStatusError as problem:
            raise ModelUnavailable(f"The server says no: {classify_failure(problem).kind.value}.") from None
        except groq.APITimeoutError:
            raise ModelUnavailable(f"The server does not answer within {timeout_s:g} s.") from None
        except (groq.GroqError, ValueError, TypeError, AttributeError, KeyError):
            raise ModelUnavailable("The server cannot be reached.") from None
    rows = getattr(found, "data", None)
    if not isinstance(rows, list):
        raise ModelUnavailable("What answers there is no server of models.")
    names = (getattr(row, "id", None) for row in rows)
    return frozenset(name for name in names if isinstance(name, str))


@asynccontextmanager
async def open_groq(api_key: str, base_url: str, models: Sequence[str]) -> AsyncIterator[ModelLadder]:
    """Open the ladder on Groq, for this event loop; nothing is requested yet. `base_url` is without the client's own
    path."""
    bare = base_url.rstrip("/").removesuffix("/openai/v1")
    client = groq.AsyncGroq(api_key=api_key, base_url=bare, max_retries=0)
    # half a second of imports, which the client leaves for the first question: its deadline is no time for that
    _ = client.chat.completions
    try:
        yield ModelLadder(GroqCaller(client), models)
    finally:
        await client.close()
