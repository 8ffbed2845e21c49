"""A local server that speaks Groq's wire format and plays its failures, by a script for each model. Must not be smart."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

ANSWER = {
    "possible_root_cause": "The pool is full.",
    "reasoning": "It waits.",
    "recommended_next_action": "Look at the queries.",
    "uncertainty": "It may be the cache.",
    "confidence": "low",
    "cited": ["ALERT"],
}
Play = Callable[[dict[str, Any]], tuple[int, Any, dict[str, str]]]


def answered(text: str, finish: str = "stop", *, choices: int = 1) -> Play:
    message = {"role": "assistant", "content": text}
    body = {
        "id": "c1", "object": "chat.completion", "created": 1, "model": "m", "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
        "choices": [{"index": n, "message": message, "finish_reason": finish} for n in range(choices)],
    }  # fmt: skip
    return lambda _asked: (200, body, {})


def failed(status: int, code: str | None = None, said: str = "no", param: str | None = None, **headers: str) -> Play:
    error = {"message": said, "type": "x", "code": code, "param": param}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda _asked: (status, {"error": error}, named)


def page(status: int) -> Play:
    return lambda _asked: (status, "<html>Bad gateway <!channel></html>", {})


OK = answered(json.dumps(ANSWER))
SLOW = "slow"
DROP = "drop"


@dataclass
class ModelServer:
    """Plays each model's script, its last line for ever; keeps what it was asked."""

    scripts: dict[str, list[Play | str]] = field(default_factory=dict)
    asked: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""

    async def completions(self, request: web.Request) -> web.StreamResponse:
        asked = await request.json()
        self.asked.append(asked)
        script = self.scripts.get(asked["model"], [OK])
        play = script.pop(0) if len(script) > 1 else script[0]
        if play == SLOW:
            await asyncio.sleep(30)
        if isinstance(play, str):
            if request.transport:
                request.transport.abort()
            return web.Response()
        status, body, headers = play(asked)
        if isinstance(body, str):
            return web.Response(status=status, text=body, content_type="text/html", headers=headers)
        return web.json_response(body, status=status, headers=headers)

    @property
    def forms(self) -> list[tuple[str, str]]:
        return [(a["model"], a.get("response_format", {}).get("type", "text")) for a in self.asked]


@asynccontextmanager
async def model_server(scripts: dict[str, list[Play | str]] | None = None) -> AsyncIterator[ModelServer]:
    server = ModelServer(scripts or {})
    app = web.Application()
    app.router.add_post("/openai/v1/chat/completions", server.completions)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield server
    finally:
        await runner.cleanup()
