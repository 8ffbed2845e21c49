"""Asking a configured server over HTTP, the same way for every source of evidence: once, in time, and no further than
configured.

Must not follow a redirect, must not ask an address that names the machine's own metadata, must not send a key anywhere
but to its own server and there only encrypted or within private networks, and must not read more than 1 MiB.
"""

from __future__ import annotations

import json
import os
import re
import socket
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import DefaultResolver

from bot.adapters.evidence.addresses import find_refusal, find_server_problem, resolve_literal
from bot.domain.evidence.log_templates import clean_line
from bot.ports.errors import EvidenceUnavailable

MOST_BYTES = 1024 * 1024
TIMEOUT_S = 3.0
MOST_ERROR_CHARS = 120
JSON = ("application/json",)
_HEADER = re.compile(r"[\x20-\x7e]{1,4000}")


@dataclass(slots=True)
class GuardedResolver(AbstractResolver):
    """Looks names up and returns only addresses that may be asked, so that a name whose address changes between check
    and connection gains nothing."""

    private_only: bool
    inner: AbstractResolver = field(default_factory=DefaultResolver)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """See aiohttp. Raises EvidenceUnavailable where one of the addresses must not be asked."""
        found = await self.inner.resolve(host, port, family)
        for one in found:
            address = resolve_literal(one["host"])
            why = (
                find_refusal(address, private_only=self.private_only)
                if address
                else "it has an address of no known kind"
            )
            if why:
                raise EvidenceUnavailable(f"refused: {why}")
        return found

    async def close(self) -> None:
        """See aiohttp."""
        await self.inner.close()


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """A server's answer, at most 1 MiB of it."""

    body: bytes
    cut: bool = False  # the server said more


@dataclass(frozen=True, slots=True)
class HttpSource:
    """One configured server."""

    base: str  # its address with an optional path
    # sent as `Authorization: <scheme>`, never shown
    key: str | None = field(default=None, repr=False)
    scheme: str = "Bearer"
    # sent beside it, never shown
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout_s: float = TIMEOUT_S

    async def read_json(
        self, path: str, params: Sequence[tuple[str, str]] = (), form: Mapping[str, str] | None = None
    ) -> Any:
        """Return the JSON value that it answers. `form`: ask by POST with these fields. Raises EvidenceUnavailable."""
        answer = await self.read(path, params, JSON, form=form)
        if answer.cut:
            raise EvidenceUnavailable("the answer is larger than 1 MiB")
        return decode_json(answer.body)

    async def read(
        self,
        path: str,
        params: Sequence[tuple[str, str]] = (),
        kinds: Iterable[str] = JSON,
        headers: Mapping[str, str] | None = None,
        form: Mapping[str, str] | None = None,
    ) -> HttpAnswer:
        """Return its answer, of one of these content types. Raises EvidenceUnavailable with the reason in plain words."""
        if why := find_server_problem(self.base, has_key=bool(self.key)):
            raise EvidenceUnavailable(f"refused: {why}")
        sent = {"Accept": ", ".join(kinds), "Accept-Encoding": "identity", **self.headers, **(headers or {})}
        if self.key:
            if not _HEADER.fullmatch(self.key):
                raise EvidenceUnavailable("its key holds characters that no key has")
            sent["Authorization"] = f"{self.scheme} {self.key}"
        url = f"{self.base.rstrip('/')}/{path.lstrip('/')}"
        method = "GET" if form is None else "POST"
        try:
            async with self._open_session() as session:
                asked = session.request(
                    method, url, params=list(params), data=form, headers=sent, allow_redirects=False
                )
                async with asked as response:
                    return await _read_body(response, tuple(kinds))
        except EvidenceUnavailable as said:
            # a server that repeats the key in its error must not get it shown
            raise EvidenceUnavailable(str(said).replace(self.key or "\0", "[masked:key]")) from None
        except TimeoutError:
            raise EvidenceUnavailable(f"no answer within {self.timeout_s:g} s") from None
        except aiohttp.ClientConnectorCertificateError:
            raise EvidenceUnavailable("its certificate is not trusted") from None
        except aiohttp.ClientConnectorError as problem:
            raise EvidenceUnavailable(f"cannot be reached ({_format_reason(problem)})") from None
        except (aiohttp.ClientError, OSError, ValueError) as problem:
            raise EvidenceUnavailable(f"the connection broke ({type(problem).__name__})") from None

    def _open_session(self) -> aiohttp.ClientSession:
        private_only = bool(self.key) and urlsplit(self.base).scheme == "http"
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(resolver=GuardedResolver(private_only), use_dns_cache=False),
            timeout=aiohttp.ClientTimeout(total=self.timeout_s),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
        )


async def _read_body(response: aiohttp.ClientResponse, kinds: tuple[str, ...]) -> HttpAnswer:
    body = bytearray()
    async for part in response.content.iter_chunked(64 * 1024):
        body += part
        if len(body) > MOST_BYTES:
            break
    if response.status != 200:
        raise EvidenceUnavailable(format_refusal(response.status, bytes(body), response.headers))
    if response.headers.get("Content-Encoding", "identity").casefold() != "identity":
        raise EvidenceUnavailable("the answer is compressed, which was not asked for")
    if response.content_type not in kinds and not (JSON[0] in kinds and response.content_type.endswith("+json")):
        raise EvidenceUnavailable(
            f"the answer is {clean_text(response.content_type)}, not {kinds[0]}: is the address right?"
        )
    return HttpAnswer(bytes(body[:MOST_BYTES]), len(body) > MOST_BYTES)


def format_refusal(status: int, body: bytes, headers: Mapping[str, str]) -> str:
    """Return what a status other than success means."""
    if 300 <= status < 400:
        return f"HTTP {status}: it redirects, which is not followed; configure where it leads"
    if status == 429 or (status == 403 and headers.get("X-RateLimit-Remaining") == "0"):
        return f"HTTP {status}: it asks for fewer questions"
    said = _find_error_text(status, body, headers)
    words = {401: "the key is missing or wrong", 403: "the key may not see this", 404: "not found"}.get(status, said)
    return f"HTTP {status}: {words}" if words else f"HTTP {status}"


def _find_error_text(status: int, body: bytes, headers: Mapping[str, str]) -> str:
    """Return the error in a JSON answer, or in a plain text that refuses a question (Loki's are); any other page is for
    people."""
    if status < 500 and headers.get("Content-Type", "").startswith("text/plain"):
        return clean_text(body[:2_000].decode("utf-8", "replace"))
    try:
        value = json.loads(body[:20_000])
    except (ValueError, RecursionError):
        return ""
    found = (value.get("error") or value.get("message")) if isinstance(value, dict) else None
    return clean_text(found) if isinstance(found, str) else ""


def clean_text(text: str) -> str:
    """Return a few words of a server, masked, on one line, cut."""
    plain = clean_line(text)
    return plain if len(plain) <= MOST_ERROR_CHARS else f"{plain[: MOST_ERROR_CHARS - 1]}…"


def decode_json(body: bytes) -> Any:
    """Return the JSON value. Raises EvidenceUnavailable."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise EvidenceUnavailable("the answer is not JSON that can be read") from None


def _format_reason(problem: aiohttp.ClientConnectorError) -> str:
    if isinstance(problem, aiohttp.ClientConnectorDNSError):
        return "its name is not known"
    if isinstance(problem, aiohttp.ClientConnectorSSLError):
        return "no TLS there: is it http?"
    number = problem.os_error.errno
    return os.strerror(number).casefold() if number else type(problem.os_error).__name__
