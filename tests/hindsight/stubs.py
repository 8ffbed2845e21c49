"""What the Hindsight server asks models for, answered on loopback without any model: `python -m tests.hindsight.stubs PORT`.

Embeddings: words and parts of words hashed into a vector, so that texts which share words are near. Chat: an extraction
that makes one fact of each line and sentence, as a simple model would. Both prove the plumbing, not a model's quality.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
import sys
import zlib
from typing import Any

import numpy as np
from aiohttp import web

SIZE = 384
TEXT_OF_PROMPT = re.compile(r"\nContent:\n(.*)\Z", re.DOTALL)
FACT_OF_CONSOLIDATION = re.compile(r"^\[([0-9a-f-]{36})\] (.+)$", re.MULTILINE)
SENTENCES = re.compile(r"(?<=[.!?。])\s+|\n+")


def vector(text: str) -> np.ndarray:
    """Unit length; words weigh more than their parts."""
    found = np.zeros(SIZE, dtype=np.float32)
    for word in re.findall(r"\w+", text.casefold()):
        for part, weight in parts(word):
            hashed = zlib.crc32(part.encode())
            found[hashed % SIZE] += weight if hashed & 0x10000 else -weight
    length = float(np.linalg.norm(found))
    return found / length if length else np.eye(1, SIZE, dtype=np.float32)[0]


def parts(word: str) -> list[tuple[str, float]]:
    """A word and its parts; of a script that sets no spaces between words only the parts, for there is no word."""
    if word.isascii():
        return [(f"={word}", 1.0), *((word[i : i + 3], 0.4) for i in range(max(1, len(word) - 2)))]
    return [(word[i : i + 2], 1.0) for i in range(max(1, len(word) - 1))]


async def embeddings(request: web.Request) -> web.Response:
    body = await request.json()
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    as_text = body.get("encoding_format") == "base64"
    rows = [
        {
            "object": "embedding",
            "index": i,
            "embedding": base64.b64encode(v.tobytes()).decode() if as_text else v.tolist(),
        }
        for i, v in enumerate(map(vector, texts))
    ]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return web.json_response({"object": "list", "model": body.get("model"), "data": rows, "usage": usage})


def extracted(prompt: str) -> dict[str, Any]:
    """One fact for each line or sentence of the text that the prompt ends with; nothing for any other prompt."""
    match = TEXT_OF_PROMPT.search(prompt)
    said = [part.strip() for part in SENTENCES.split(match[1])] if match else []
    nothing = {"when": "N/A", "where": "N/A", "who": "N/A", "why": "N/A"}
    return {"facts": [{"what": part, **nothing, "fact_type": "world", "entities": []} for part in said if part]}


def observed(prompt: str) -> dict[str, Any]:
    """One observation for each fact that is to be consolidated."""
    found = FACT_OF_CONSOLIDATION.findall(prompt)
    creates = [{"text": f"It was observed that {text}", "source_fact_ids": [fact_id]} for fact_id, text in found]
    return {"creates": creates, "updates": [], "deletes": []}


async def chat(request: web.Request) -> web.Response:
    body = await request.json()
    prompt = str(body["messages"][-1]["content"])
    said = extracted(prompt) if TEXT_OF_PROMPT.search(prompt) else observed(prompt)
    message = {"role": "assistant", "content": json.dumps(said)}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    kind = {"id": "c", "object": "chat.completion", "created": 0, "model": body.get("model")}
    await asyncio.sleep(0)
    return web.json_response({**kind, "choices": [choice], "usage": usage})


def main() -> None:
    app = web.Application(client_max_size=64 * 1024 * 1024)
    app.router.add_post("/v1/embeddings", embeddings)
    app.router.add_post("/v1/chat/completions", chat)
    web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), print=None, access_log=None)


if __name__ == "__main__":
    main()
