"""What doctor says of the language model, and what status says once it was asked."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from pydantic import SecretStr

from bot.bootstrap.wiring.assistant import MonitoredModel, open_monitored_model
from bot.doctor.model import check_language_model
from bot.domain.assistant.hypothesis import ModelInput
from bot.domain.assistant.prompt import Prompt
from bot.ports.errors import ModelUnavailable
from bot.ports.language_model import ModelAnswer
from bot.settings import Settings
from tests.ports import free_port

BIG, SMALL = "openai/gpt-oss-120b", "openai/gpt-oss-20b"


@asynccontextmanager
async def offering(status: int, body: Any) -> AsyncIterator[str]:
    async def models(request: web.Request) -> web.Response:
        assert request.headers["Authorization"] == "Bearer k"
        return web.json_response(body, status=status)

    app = web.Application()
    app.router.add_get("/openai/v1/models", models)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/openai/v1"
    finally:
        await runner.cleanup()


def listed(*names: str) -> dict[str, Any]:
    rows = [{"id": name, "object": "model", "created": 1, "owned_by": "x"} for name in names]
    return {"object": "list", "data": rows}


@pytest.mark.parametrize(
    ("status", "body", "ok", "says"),
    [
        (200, listed(BIG, SMALL, "other"), True, f"{BIG}, {SMALL}"),
        (200, listed(SMALL), True, f"{SMALL}; retired, or not offered to this key: {BIG}"),
        (200, listed("other"), False, f"not offered to this key: {BIG}, {SMALL}"),
        (401, {"error": {"message": "Invalid <!channel>", "code": "invalid_api_key"}}, False, "says no: key refused."),
        (503, {}, False, "says no: server error."),
        (200, ["page"], False, "no server of models"),
    ],
)
async def test_the_server_the_key_and_the_models(status: int, body: Any, ok: bool, says: str) -> None:
    async with offering(status, body) as url:
        found = await check_language_model(Settings(_env_file=None, groq_api_key=SecretStr("k"), groq_base_url=url))
    assert (found.check, found.ok) == ("Language model", ok)
    assert found.detail.endswith(says) or says in found.detail
    assert "<!" not in found.detail


async def test_nobody_there() -> None:
    url = f"http://127.0.0.1:{free_port()}"
    found = await check_language_model(Settings(_env_file=None, groq_api_key=SecretStr("k"), groq_base_url=url))
    assert (found.ok, "cannot be reached" in found.detail) == (False, True)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, "no GROQ_API_KEY"),
        ({"groq_api_key": "k", "llm": "off"}, "LLM=off"),
        ({"groq_api_key": "k", "groq_models": " "}, "no GROQ_MODELS"),
    ],
)
async def test_off_is_fine_and_says_why(given: dict[str, Any], why: str) -> None:
    found = await check_language_model(Settings(_env_file=None, **given))
    assert (found.ok, why in found.detail) == (None, True)
    async with open_monitored_model(Settings(_env_file=None, **given)) as model:
        assert model is None


async def test_how_the_last_question_went_is_noted() -> None:
    class Model:
        gone = True

        async def ask(self, prompt: Prompt, schema: Mapping[str, Any], deadline_s: float) -> ModelAnswer:
            if self.gone:
                raise ModelUnavailable("No model answered within 12 s.")
            return ModelAnswer({}, "m", (), {})

    model = Model()
    noted, prompt = MonitoredModel(model), Prompt("", "", ModelInput(()))
    assert list(noted.report_health()) == []
    with pytest.raises(ModelUnavailable):
        await noted.ask(prompt, {}, 1.0)
    assert list(noted.report_health()) == [("Model", "No model answered within 12 s.")]
    model.gone = False
    await noted.ask(prompt, {}, 1.0)
    assert list(noted.report_health()) == [("Model", None)]
