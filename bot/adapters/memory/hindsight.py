"""The memory bank on a Hindsight server: the only owner of its client. Must not decide, retry or store anything.

One client for each event loop, opened and closed by `open_hindsight`. A reply's body never gets into a message, because
it may hold anything. Every call has its deadline. A missing bank is created so that one record is one fact; an existing
bank is used as it is, and what it returns is grouped by document.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import aiohttp
from hindsight_client import Hindsight
from hindsight_client_api.exceptions import ApiException, NotFoundException, OpenApiException

from bot.adapters.memory.documents import (
    BankFact,
    build_content,
    build_hit,
    build_hits,
    build_metadata,
    build_tags,
    build_viewer_tags,
    find_without_record,
    group_by_document,
    is_visible,
)
from bot.domain.access.visibility import Viewer
from bot.domain.incidents.record import Incident
from bot.domain.recall.query import OPERATOR, Query
from bot.domain.text.format import cut
from bot.observability import get_logger
from bot.ports.clock import Clock
from bot.ports.errors import MemoryAuthRejected, MemoryRejected, MemoryUnavailable
from bot.ports.memory import BankHit, BankStatus

PREPARE_S, RECALL_S, WRITE_S, LIST_S = 5.0, 3.0, 20.0, 15.0
# The server reads 500 tokens of a question.
QUESTION_CHARS = 2_000
# Bounds the facts that come back: some fifty records of one fact, or of the several that a model makes of each.
ANSWER_TOKENS = 32_000
PAGE = 100
FETCHED_AT_MOST = 5
OLDEST_VERSION = (1, 0)
CLIENT_S = 60.0
UNTIMED = "unset"
# What the client raises: its own errors, the transport's, and what it trips over in a reply that is not the server's.
FAILURES = (
    OpenApiException,
    aiohttp.ClientError,
    TimeoutError,
    OSError,
    ValueError,
    RuntimeError,
    TypeError,
    AttributeError,
    KeyError,
)
HTTP_OK, GONE = 200, 404
KEY_REFUSED, TOO_MANY = frozenset({401, 403}), frozenset({408, 425, 429})
log = get_logger("hindsight")


@dataclass(slots=True)
class HindsightBank:
    """The RemoteBank port. `recall_s` and `write_s` are deadlines in seconds."""

    client: Hindsight
    bank_id: str
    clock: Clock
    recall_s: float = RECALL_S
    write_s: float = WRITE_S
    _version: str | None = None
    _prepared: bool = False
    _preparing: asyncio.Lock = field(default_factory=asyncio.Lock)
    _last_error: str | None = None
    _last_error_at: datetime | None = None

    async def prepare(self) -> None:
        """Check the server's version and create the bank if there is none; once, until the bank is found missing."""
        if self._prepared:
            return
        async with self._preparing, self._translate_failures(PREPARE_S):
            if self._prepared:
                return
            self._version = require_known_version(await self._read_version())
            if not await self._exists():
                await self._create()
            self._prepared = True

    async def retain(self, incident: Incident) -> None:
        """See the port. The same content with other metadata is rewritten in place by the server."""
        await self.prepare()
        when = incident.happened_at
        async with self._translate_failures(self.write_s):
            reply = await self.client.aretain(
                self.bank_id,
                build_content(incident),
                timestamp=when.isoformat() if when else UNTIMED,
                document_id=incident.incident_id,
                metadata=build_metadata(incident),
                tags=build_tags(incident),
            )
            require_success(reply.success)

    async def retract(self, incident_id: str) -> None:
        """See the port."""
        await self.prepare()
        async with self._translate_failures(self.write_s):
            try:
                reply = await self.client.documents.delete_document(
                    self.bank_id, incident_id, _request_timeout=self.write_s
                )
            except NotFoundException:
                return
            require_success(reply.success)

    async def recall(self, query: Query, limit: int, viewer: Viewer = OPERATOR) -> tuple[BankHit, ...]:
        """See the port. Observations are not requested, because they stand for no record."""
        if not query.text.strip():
            return ()
        await self.prepare()
        async with self._translate_failures(self.recall_s):
            answer = await self.client.arecall(
                self.bank_id,
                cut(query.text, QUESTION_CHARS),
                types=["world", "experience"],
                max_tokens=ANSWER_TOKENS,
                tags=build_viewer_tags(viewer),
                tags_match="any_strict",
            )
            facts = [
                BankFact(found.document_id, found.text, found.metadata or {}, tuple(found.tags or ()))
                for found in answer.results
            ]
        chosen = group_by_document(facts, query, viewer)
        fetched = await asyncio.gather(*map(self._read_document, find_without_record(chosen)[:FETCHED_AT_MOST]))
        chosen |= {str(fact.document_id): fact for fact in fetched if fact}
        # Reading and masking fifty records takes tenths of a second: not on the event loop.
        return await asyncio.to_thread(build_hits, chosen, limit, viewer)

    async def list_documents(self) -> AsyncIterator[BankHit]:
        """See the port."""
        await self.prepare()
        offset = 0
        while ids := await self._read_page(offset):
            for document_id in ids:
                if fact := await self._read_document(document_id):
                    yield build_hit(document_id, fact)
            offset += len(ids)

    async def read_status(self) -> BankStatus:
        """See the port."""
        problem = None
        try:
            async with self._translate_failures(PREPARE_S):
                self._version = await self._read_version()
                self._prepared = self._prepared and await self._exists()
            await self.prepare()
        except (MemoryUnavailable, MemoryRejected) as found:
            problem = str(found)
        return BankStatus(self.bank_id, self._version, problem, self._last_error, self._last_error_at)

    async def inspect(self) -> BankStatus:
        """Return what `read_status` does without creating anything: whether the server answers, takes the key, and has
        the bank."""
        problem, is_there = None, False
        try:
            async with self._translate_failures(PREPARE_S):
                self._version = await self._read_version()
                require_known_version(self._version)
                is_there = await self._exists()
        except (MemoryUnavailable, MemoryRejected) as found:
            problem = str(found)
        return BankStatus(self.bank_id, self._version, problem, is_there=is_there)

    async def _read_page(self, offset: int) -> list[str]:
        async with self._translate_failures(LIST_S):
            listed = await self.client.documents.list_documents(
                self.bank_id,
                tags=build_viewer_tags(OPERATOR),
                tags_match="any_strict",
                time_field="created_at",
                limit=PAGE,
                offset=offset,
                _request_timeout=LIST_S,
            )
            return [item.id for item in listed.items]

    async def _read_document(self, document_id: str) -> BankFact | None:
        async with self._translate_failures(LIST_S):
            try:
                found = await self.client.documents.get_document(self.bank_id, document_id, _request_timeout=LIST_S)
            except NotFoundException:
                return None
            kept = {name: str(value) for name, value in (found.document_metadata or {}).items()}
            fact = BankFact(document_id, found.original_text or "", kept, tuple(found.tags or ()))
        return fact if is_visible(fact, OPERATOR) else None

    async def _read_version(self) -> str:
        """Read without the client's model of the reply, which refuses those of older servers for fields they lack."""
        reply = await self.client.monitoring.get_version_without_preload_content(_request_timeout=PREPARE_S)
        if reply.status != HTTP_OK:
            raise ApiException(status=reply.status)
        return str(json.loads(await reply.read())["api_version"])

    async def _exists(self) -> bool:
        offset = 0
        while True:
            page = await self.client.banks.list_banks(
                q=self.bank_id, limit=PAGE, offset=offset, _request_timeout=PREPARE_S
            )
            if any(bank.bank_id == self.bank_id for bank in page.banks):
                return True
            offset += len(page.banks)
            if not page.banks or offset >= page.total:
                return False

    async def _create(self) -> None:
        """Create the bank: one record, one fact, no model at work. That is what recall needs, and as fast as the server
        can be."""
        await self.client.acreate_bank(
            self.bank_id, retain_extraction_mode="chunks", enable_observations=False, enable_reranking=False
        )
        log.info("a bank was made", bank=self.bank_id)

    @asynccontextmanager
    async def _translate_failures(self, deadline_s: float) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(deadline_s):
                yield
        except FAILURES as problem:
            failure = translate_error(problem, deadline_s)
            self._last_error, self._last_error_at = str(failure), self.clock.now()
            if read_http_status(problem) == GONE:
                self._prepared = False
            raise failure from None


def require_success(success: object) -> None:
    """Raise where the server does not say that the write is done: an empty reply of some proxy is not it."""
    if success is not True:
        raise MemoryUnavailable("Hindsight did not confirm the write; it is tried again.")


def translate_error(problem: BaseException, deadline_s: float) -> MemoryUnavailable | MemoryRejected:
    """Return the port's error for a failed call, in one sentence without anything of the reply."""
    status = read_http_status(problem)
    if status is None:
        return MemoryUnavailable(_format_without_status(problem, deadline_s))
    if status in KEY_REFUSED:
        return MemoryAuthRejected(f"Hindsight refuses the key (HTTP {status}); correct HINDSIGHT_API_KEY.")
    if status == GONE:
        return MemoryUnavailable("Hindsight knows no such bank (HTTP 404); check HINDSIGHT_URL and HINDSIGHT_BANK_ID.")
    if status in TOO_MANY or status >= 500:
        return MemoryUnavailable(f"Hindsight is overloaded or failing (HTTP {status}); look at its log.")
    return MemoryRejected(f"Hindsight refuses this (HTTP {status}).")


def read_http_status(problem: BaseException) -> int | None:
    """Return the HTTP status that a failure carries, if any."""
    status: Any = problem.status if isinstance(problem, ApiException | aiohttp.ClientResponseError) else None
    return int(status) if status else None


def _format_without_status(problem: BaseException, deadline_s: float) -> str:
    kind = type(problem).__name__
    if isinstance(problem, TimeoutError):
        return f"Hindsight did not answer within {deadline_s:g} s."
    if isinstance(problem, aiohttp.ClientError | OSError):
        return f"Hindsight cannot be reached ({kind}); check HINDSIGHT_URL, and that it runs."
    if isinstance(problem, RuntimeError):
        return f"The connection to Hindsight is closed ({kind})."
    return f"What answers at HINDSIGHT_URL is no Hindsight server ({kind}); check the address."


def require_known_version(text: str) -> str:
    """Return the version. Raises MemoryUnavailable for one that is too old."""
    if parse_version(text) < OLDEST_VERSION:
        oldest = ".".join(map(str, OLDEST_VERSION))
        raise MemoryUnavailable(f"Hindsight {text} is too old; upgrade it to {oldest} or later.")
    return text


def parse_version(text: str) -> tuple[int, ...]:
    """Return the leading numbers of a version, for comparing; () for anything else."""
    numbers: list[int] = []
    for part in text.split("."):
        if not part.isdigit():
            break
        numbers.append(int(part))
    return tuple(numbers)


@asynccontextmanager
async def open_hindsight(url: str, api_key: str | None, bank_id: str, clock: Clock) -> AsyncIterator[HindsightBank]:
    """Open the bank on this server, for this event loop; nothing is requested yet, so that a server that is down stops
    nobody."""
    client = Hindsight(url, api_key=api_key, timeout=CLIENT_S, user_agent="precedent", max_attempts=1)
    try:
        yield HindsightBank(client, bank_id, clock)
    finally:
        await client.aclose()  # type: ignore[no-untyped-call]  # the library leaves it unannotated
