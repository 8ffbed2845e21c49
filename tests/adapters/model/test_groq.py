"""The ladder against a local server that plays every failure: what comes of it, in how many calls, within the deadline.

`python -m tests.adapters.model.test_groq` prints the table.
"""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import replace
from typing import Any

import pytest

from bot.adapters.model.groq import open_groq
from bot.adapters.model.ladder import ModelLadder
from bot.domain.assistant.hypothesis import ALERT, Citation, ModelInput
from bot.domain.assistant.prompt import Prompt, build_prompt, build_schema
from bot.ports.errors import ModelUnavailable
from bot.ports.language_model import ModelAnswer
from tests.adapters.model.server import ANSWER, DROP, OK, SLOW, ModelServer, answered, failed, model_server, page

BIG, SMALL, OTHER = "openai/gpt-oss-120b", "openai/gpt-oss-20b", "qwen/some-model"
GIVEN = ModelInput((Citation(ALERT, "payments-api is slow"),))
PROMPT = build_prompt(GIVEN)
SCHEMA = build_schema(GIVEN)
TEXT = json.dumps(ANSWER)
# Where nothing answers the deadline is waited for; everywhere else it only must be long enough for a busy machine.
DEADLINE_S, LONG_S = 1.0, 5.0
GONE = failed(400, "model_decommissioned")

# name: (what the big model plays, what the small one plays, who answers, calls, how the last one was asked for)
CASES: dict[str, tuple[list[Any], list[Any], str | None, int]] = {
    "answers": ([OK], [OK], BIG, 1),
    "retired (400 model_decommissioned)": ([GONE], [OK], SMALL, 2),
    "retired (404 model_not_found)": ([failed(404, "model_not_found")], [OK], SMALL, 2),
    "both retired": ([GONE], [GONE], None, 2),
    "429, retry after 0.1 s": ([failed(429, "rate_limit_exceeded", retry_after="0.1"), OK], [OK], BIG, 2),
    "429 twice, retry after 0.1 s": ([failed(429, retry_after="0.1")], [OK], SMALL, 3),
    "429, retry after 740 s": ([failed(429, retry_after="740")], [OK], SMALL, 2),
    "429, try again in 12m20.5s": ([failed(429, said="Please try again in 12m20.5s.")], [OK], SMALL, 2),
    "429 everywhere": ([failed(429, retry_after="740")], [failed(429)], None, 2),
    "413, then the smaller prompt": ([failed(413, "request_too_large"), OK], [OK], BIG, 2),
    "413 always": ([failed(413)], [OK], SMALL, 3),
    "400 context_length_exceeded, then smaller": ([failed(400, "context_length_exceeded"), OK], [OK], BIG, 2),
    "400 json_validate_failed, then good": ([failed(400, "json_validate_failed"), OK], [OK], BIG, 2),
    "400 json_validate_failed always": ([failed(400, "json_validate_failed")], [OK], SMALL, 4),
    "400 schema not supported": ([failed(400, param="response_format"), OK], [OK], BIG, 2),
    "400 no JSON at all, then text": ([failed(400, said="response_format is not supported"), failed(400, param="response_format"), answered(f"Here:\n```json\n{TEXT}\n```")], [OK], BIG, 3),
    "400 no form at all": ([failed(400, param="response_format")], [OK], SMALL, 4),
    "other 400": ([failed(400, said="nope")], [OK], SMALL, 2),
    "401": ([failed(401, "invalid_api_key")], [OK], None, 1),
    "403": ([failed(403)], [OK], None, 1),
    "503, then good": ([failed(503), OK], [OK], BIG, 2),
    "502 with a page": ([page(502)], [OK], SMALL, 3),
    "498 capacity": ([failed(498, "capacity_exceeded"), OK], [OK], BIG, 2),
    "200 with a page": ([page(200)], [OK], SMALL, 4),
    "slow": ([SLOW], [OK], SMALL, 2),
    "slow everywhere": ([SLOW], [SLOW], None, 2),
    "connection cut": ([DROP], [OK], SMALL, 2),
    "connection cut everywhere": ([DROP], [DROP], None, 2),
    "choices: []": ([answered(TEXT, choices=0), OK], [OK], BIG, 2),
    "empty text": ([answered("  "), OK], [OK], BIG, 2),
    "cut off (finish_reason length)": ([answered(TEXT[:60], "length"), OK], [OK], BIG, 2),
    "prose around the object": ([answered(f"Sure! {{not json}} {TEXT} Hope it helps.")], [OK], BIG, 1),
    "a key is missing": ([answered('{"reasoning": "x"}')], [OK], SMALL, 4),
    "a list": ([answered("[1,2]"), OK], [OK], BIG, 2),
    "deep nesting": ([answered("{" + '"a":{' * 9_000), OK], [OK], BIG, 2),
}  # fmt: skip


async def asked(
    ladder: ModelLadder, deadline_s: float = DEADLINE_S, prompt: Prompt = PROMPT
) -> ModelAnswer | ModelUnavailable:
    try:
        return await ladder.ask(prompt, SCHEMA, deadline_s)
    except ModelUnavailable as problem:
        return problem


async def played(case: str) -> tuple[ModelAnswer | ModelUnavailable, ModelServer, float]:
    big, small, *_ = CASES[case]
    scripts = {BIG: list(big), SMALL: list(small)}
    async with model_server(scripts) as server, open_groq("key", f"{server.url}/openai/v1", (BIG, SMALL)) as ladder:
        began = time.monotonic()
        found = await asked(ladder, deadline_of(case))
        return found, server, time.monotonic() - began


def deadline_of(case: str) -> float:
    return DEADLINE_S if case.startswith("slow") else LONG_S


@pytest.mark.parametrize("case", CASES)
async def test_every_failure_ends_within_the_deadline(case: str) -> None:
    _, _, who, calls = CASES[case]
    found, server, seconds = await played(case)
    assert seconds < deadline_of(case) + 1.0
    assert len(server.asked) == calls
    assert len(found.calls) == calls
    if who is None:
        assert isinstance(found, ModelUnavailable)
        assert found.sent == server.asked[0]
        assert "<" not in str(found)
    else:
        assert isinstance(found, ModelAnswer), found
        assert found.model == who
        assert found.content == ANSWER
        assert found.sent == server.asked[0]
        assert found.tokens_in >= 100


async def test_what_is_sent_asks_for_the_strict_schema_and_the_shorter_prompt_is_shorter() -> None:
    _, server, _ = await played("413, then the smaller prompt")
    first, second = server.asked
    assert first["response_format"]["json_schema"]["strict"] is True
    assert first["response_format"]["json_schema"]["schema"]["additionalProperties"] is False
    assert first["reasoning_effort"] == "low"
    assert PROMPT.smaller is not None
    assert (first["messages"][1]["content"], second["messages"][1]["content"]) == (PROMPT.user, PROMPT.smaller.user)


async def test_other_models_answer_as_some_json_object() -> None:
    async with model_server() as server, open_groq("key", server.url, (OTHER,)) as ladder:
        assert isinstance(await asked(ladder), ModelAnswer)
        assert await ladder.find_problem() is None
        assert server.forms == [(OTHER, "json_object")]
        assert "reasoning_effort" not in server.asked[0]
        assert "JSON" in server.asked[0]["messages"][0]["content"]


async def test_what_was_learnt_holds_a_retired_model_is_not_asked_again_and_a_lower_form_stays() -> None:
    scripts: dict[str, list[Any]] = {BIG: [GONE], SMALL: [failed(400, param="response_format"), OK]}
    async with model_server(scripts) as server, open_groq("key", server.url, (BIG, SMALL)) as ladder:
        assert isinstance(await asked(ladder), ModelAnswer)
        assert isinstance(await asked(ladder), ModelAnswer)
    assert server.forms == [
        (BIG, "json_schema"),
        (SMALL, "json_schema"),
        (SMALL, "json_object"),
        (SMALL, "json_object"),
    ]


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ([failed(429, retry_after="740")], "rate limit"),
        ([failed(401)], "key refused"),
        ([DROP], "connection failed"),
        ([GONE], "name others"),
    ],
)
async def test_who_cannot_answer_is_left_alone_for_a_while(script: list[Any], why: str) -> None:
    async with model_server({BIG: script}) as server, open_groq("key", server.url, (BIG,)) as ladder:
        assert isinstance(await asked(ladder), ModelUnavailable)
        second = await asked(ladder)
        assert isinstance(second, ModelUnavailable)
        assert await ladder.find_problem() == str(second)
        assert why in str(second)
        assert second.calls == ()
        assert len(server.asked) == 1


async def test_a_refused_key_is_said_so() -> None:
    found, _, _ = await played("401")
    assert str(found) == "Groq refuses the key; correct GROQ_API_KEY."


async def test_only_two_questions_are_asked_at_once_and_the_wait_counts() -> None:
    async with model_server({BIG: [SLOW]}) as server, open_groq("key", server.url, (BIG,)) as ladder:
        found = await asyncio.gather(*(asked(ladder, deadline_s) for deadline_s in (0.8, 0.8, 0.4)))
        assert all(isinstance(one, ModelUnavailable) for one in found)
        assert len(server.asked) == 2
        assert "No model had time for this within 0.4 s." in {str(one) for one in found}


async def test_a_ladder_without_a_smaller_prompt_goes_on() -> None:
    async with model_server({BIG: [failed(413)]}) as server, open_groq("key", server.url, (BIG, SMALL)) as ladder:
        found = await asked(ladder, prompt=replace(PROMPT, smaller=None))
        assert isinstance(found, ModelAnswer)
        assert found.model == SMALL


async def main() -> None:
    print("| case | outcome | calls | seconds | deadline |\n|---|---|---|---|---|")
    for case in CASES:
        found, server, seconds = await played(case)
        outcome = found.model if isinstance(found, ModelAnswer) else str(found)
        print(f"| {case} | {outcome} | {len(server.asked)} | {seconds:.2f} | {deadline_of(case):g} |")


if __name__ == "__main__":
    asyncio.run(main())
