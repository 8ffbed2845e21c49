"""The Hindsight bank against a server that misbehaves on demand, as the real one does not: every failure becomes the
port's error in one sentence, in time, and never with anything of the reply in it.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web

from bot.adapters.memory.hindsight import (
    HindsightBank,
    open_hindsight,
    parse_version,
    read_http_status,
    translate_error,
)
from bot.domain.incidents.record import Incident
from bot.domain.recall.query import Query
from bot.ports.errors import MemoryAuthRejected, MemoryRejected, MemoryUnavailable
from bot.ports.memory import BankHit
from tests.fakes import FakeClock
from tests.ports import free_port

RECORD = Incident("INC-1", "Gateway timeouts")
ASKED = Query("gateway")
SECRET = "xoxb-what-the-reply-says"
Reply = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Misbehaving:
    """A server of which every path is answered by `reply`, but for what a good start needs while `well` is true."""

    reply: Reply
    well: bool = True
    version: str = "1.1.0"
    banks: list[str] = field(default_factory=lambda: ["precedent"])
    seen: list[str] = field(default_factory=list)
    made: list[Any] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.seen.append(f"{request.method} {request.path}")
        if self.well and request.path == "/version":
            return web.json_response({"api_version": self.version, "features": {}})
        if self.well and request.path.endswith("/banks"):
            traits = {"skepticism": 3, "literalism": 3, "empathy": 3}
            rows = [{"bank_id": bank, "disposition": traits} for bank in self.banks]
            return web.json_response({"banks": rows, "total": len(rows), "limit": 100, "offset": 0})
        if self.well and request.method == "PUT":
            self.made.append(await request.json())
            return await self.reply(request)
        return await self.reply(request)


@pytest.fixture
async def told() -> AsyncIterator[tuple[Misbehaving, HindsightBank]]:
    told = Misbehaving(status(500))
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", told.answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    port = free_port()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    async with open_hindsight(f"http://127.0.0.1:{port}/", "key", "precedent", FakeClock()) as bank:
        bank.recall_s = bank.write_s = 0.5
        yield told, bank
    await runner.cleanup()


def status(code: int, body: str = f'{{"detail": "{SECRET}"}}', kind: str = "application/json") -> Reply:
    async def reply(_request: web.Request) -> web.StreamResponse:
        return web.Response(status=code, text=body, content_type=kind, headers={"X-Note": SECRET})

    return reply


async def slow(_request: web.Request) -> web.StreamResponse:
    await asyncio.sleep(30)
    return web.Response(text="{}")


async def trickling(request: web.Request) -> web.StreamResponse:
    """Bytes keep coming, the answer never ends."""
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    for _ in range(100):
        await response.write(b" ")
        await asyncio.sleep(0.05)
    return response


async def cut(request: web.Request) -> web.StreamResponse:
    """The connection breaks in the middle of the answer."""
    response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": "1000"})
    await response.prepare(request)
    await response.write(b'{"results": [')
    assert request.transport is not None
    request.transport.close()
    return response


async def dropped(request: web.Request) -> web.StreamResponse:
    assert request.transport is not None
    request.transport.close()
    return web.Response()


HTML = "<html><body>Please log in to the hotel's network</body></html>"
PROBLEMS = {
    "429": (status(429), MemoryUnavailable, "HTTP 429"),
    "500": (status(500), MemoryUnavailable, "HTTP 500"),
    "502 HTML": (status(502, HTML, "text/html"), MemoryUnavailable, "HTTP 502"),
    "503": (status(503), MemoryUnavailable, "HTTP 503"),
    "401": (status(401), MemoryAuthRejected, "HINDSIGHT_API_KEY"),
    "403": (status(403), MemoryAuthRejected, "HINDSIGHT_API_KEY"),
    "404": (status(404), MemoryUnavailable, "HINDSIGHT_BANK_ID"),
    "400": (status(400), MemoryRejected, "HTTP 400"),
    "413": (status(413), MemoryRejected, "HTTP 413"),
    "422": (status(422), MemoryRejected, "HTTP 422"),
    "HTML": (status(200, HTML, "text/html"), MemoryUnavailable, "no Hindsight server"),
    "garbage": (status(200, f"{{{SECRET}"), MemoryUnavailable, "no Hindsight server"),
    "other JSON": (status(200, '{"result": 1}'), MemoryUnavailable, "no Hindsight server"),
    "a list": (status(200, "[1, 2]"), MemoryUnavailable, "no Hindsight server"),
    "null": (status(200, "null"), MemoryUnavailable, "no Hindsight server"),
    "not done": (status(200, '{"success": false}'), MemoryUnavailable, "no Hindsight server"),
    "slow": (slow, MemoryUnavailable, "did not answer within 0.5 s"),
    "trickling": (trickling, MemoryUnavailable, "did not answer within 0.5 s"),
    "cut": (cut, MemoryUnavailable, "cannot be reached"),
    "dropped": (dropped, MemoryUnavailable, "cannot be reached"),
}


@pytest.mark.parametrize("name", PROBLEMS)
async def test_every_failure_is_one_sentence_in_time(told: tuple[Misbehaving, HindsightBank], name: str) -> None:
    server, bank = told
    server.reply, expected, says = PROBLEMS[name]
    for call in (lambda: bank.recall(ASKED, 5), lambda: bank.retain(RECORD)):
        begun = time.monotonic()
        with pytest.raises((MemoryUnavailable, MemoryRejected)) as caught:
            await call()
        assert time.monotonic() - begun < 5
        assert type(caught.value) is expected
        assert says in str(caught.value)
        assert SECRET not in str(caught.value)
        assert caught.value.__cause__ is None
        assert caught.value.__suppress_context__
    found = await bank.read_status()
    assert says in (found.last_error or "")


@pytest.mark.parametrize("name", [name for name in PROBLEMS if name != "404"])
async def test_retracting_fails_likewise(told: tuple[Misbehaving, HindsightBank], name: str) -> None:
    server, bank = told
    server.reply, expected, _ = PROBLEMS[name]
    with pytest.raises((MemoryUnavailable, MemoryRejected)) as caught:
        await bank.retract("INC-1")
    assert type(caught.value) is expected


async def test_retracting_what_is_not_there_is_fine(told: tuple[Misbehaving, HindsightBank]) -> None:
    server, bank = told
    server.reply = status(404)
    await bank.retract("INC-1")


# Slow starts have the same deadline as other calls, only longer.
@pytest.mark.parametrize("name", [name for name in PROBLEMS if name not in {"slow", "trickling"}])
async def test_a_start_that_fails_leaves_the_bank_unusable_and_says_why(
    told: tuple[Misbehaving, HindsightBank], name: str
) -> None:
    server, bank = told
    server.reply, _, says = PROBLEMS[name]
    server.well = False
    found = await bank.read_status()
    assert says in (found.problem or "")
    assert found.version is None
    server.well = True
    assert (await bank.read_status()).problem is None


async def test_a_missing_bank_is_made_in_chunks_mode_and_again_when_it_is_deleted(
    told: tuple[Misbehaving, HindsightBank],
) -> None:
    server, bank = told
    server.banks = ["precedent-2", "other"]
    profile = {"bank_id": "precedent", "name": "precedent", "mission": "", "background": ""}
    traits = {"skepticism": 3, "literalism": 3, "empathy": 3}

    async def made(_request: web.Request) -> web.StreamResponse:
        server.banks.append("precedent")
        return web.json_response(profile | {"disposition": traits})

    server.reply = made
    await bank.prepare()
    await bank.prepare()
    assert len(server.made) == 1
    assert "chunks" in str(server.made[0])
    server.reply = status(404)
    server.banks.remove("precedent")
    with pytest.raises(MemoryUnavailable):
        await bank.recall(ASKED, 5)
    server.reply = made
    assert (await bank.read_status()).problem is None
    assert len(server.made) == 2


async def test_a_bank_that_is_there_is_left_as_it_is(told: tuple[Misbehaving, HindsightBank]) -> None:
    server, bank = told
    await bank.prepare()
    assert server.made == []
    assert not [line for line in server.seen if line.startswith(("PUT", "PATCH", "POST"))]


async def test_a_write_counts_only_when_the_server_confirms_it(told: tuple[Misbehaving, HindsightBank]) -> None:
    server, bank = told
    kept = {"success": False, "bank_id": "precedent", "items_count": 1, "async": False}
    gone = {"success": False, "message": "", "document_id": "INC-1", "memory_units_deleted": 0}
    for reply, call in ((kept, lambda: bank.retain(RECORD)), (gone, lambda: bank.retract("INC-1"))):
        server.reply = status(200, json.dumps(reply))
        with pytest.raises(MemoryUnavailable, match="did not confirm"):
            await call()
        server.reply = status(200, json.dumps(reply | {"success": True}))
        await call()


async def test_an_old_server_is_not_used(told: tuple[Misbehaving, HindsightBank]) -> None:
    server, bank = told
    server.version = "0.9.1"
    assert "0.9.1 is too old" in ((await bank.read_status()).problem or "")
    with pytest.raises(MemoryUnavailable, match="too old"):
        await bank.retain(RECORD)
    assert [line for line in server.seen if "memories" in line] == []


async def test_nothing_is_asked_for_an_empty_question(told: tuple[Misbehaving, HindsightBank]) -> None:
    server, bank = told
    assert await bank.recall(Query("  "), 5) == ()
    assert server.seen == []


async def test_documents_page_by_page_and_records_that_came_without_their_metadata(
    told: tuple[Misbehaving, HindsightBank],
) -> None:
    server, bank = told

    async def reply(request: web.Request) -> web.StreamResponse:
        if request.method == "POST":
            fact = {
                "id": "f",
                "text": "504",
                "document_id": "D-1",
                "metadata": {},
                "tags": ["precedent", "scope:public"],
            }
            return web.json_response({"results": [fact, fact | {"document_id": "D-gone"}]})
        if request.path.endswith("/documents"):
            first = int(request.query["offset"])
            ids = [f"D-{n}" for n in range(first, min(first + 100, 101))]
            rows = [{"id": i, "bank_id": "precedent"} for i in ids]
            return web.json_response({"items": rows, "total": 101, "limit": 100, "offset": first})
        document_id = request.path.rpartition("/")[2]
        if document_id in {"D-gone", "D-7"}:
            return await status(404)(request)
        times = {"created_at": "2026-11-01T00:00:00Z", "updated_at": "2026-11-01T00:00:00Z"}
        row = {"id": document_id, "bank_id": "precedent", "original_text": "Gateway 504", "memory_unit_count": 1}
        tags = [] if document_id == "D-8" else ["scope:public"]
        about = {"content_hash": "h", "tags": tags, "document_metadata": {"title": "Gateway 504"}}
        return web.json_response(row | times | about)

    server.reply = reply
    listed = [hit.incident_id async for hit in bank.list_documents()]
    assert listed == [f"D-{n}" for n in range(101) if n not in (7, 8)]
    known, bare = await bank.recall(ASKED, 5)
    assert known.incident is not None
    assert known.incident.title == "Gateway 504"
    assert bare == BankHit("D-gone", text="504")


async def test_after_closing_it_says_so() -> None:
    async with open_hindsight("http://127.0.0.1:1", None, "precedent", FakeClock()) as bank:
        assert "cannot be reached" in ((await bank.read_status()).problem or "")
    with pytest.raises(MemoryUnavailable):
        await bank.recall(ASKED, 5)


def test_small_things() -> None:
    assert parse_version("1.10.2rc1") == (1, 10)
    assert parse_version("dev") == ()
    assert "closed" in str(translate_error(RuntimeError("Session is closed"), 1))
    assert read_http_status(ValueError()) is None
