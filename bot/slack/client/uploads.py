"""Upload a file to Slack: ask for an address, put the bytes there, then make a message of it; and find it again.

A file becomes visible with the last of the three calls only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

from bot.ports.chat import Posting
from bot.ports.errors import ChatRejected, ChatUnavailable
from bot.slack.client.responses import read_rows

MAX_ALT = 1000
PUT_TIMEOUT_S = 15.0
# Proxies answer so, to who has to log in there.
BETWEEN = frozenset({407, 511})


async def request_upload_url(client: AsyncWebClient, posting: Posting) -> Any:
    """Ask for the address of a file of so many bytes."""
    extra, content = posting.extra, posting.content or b""
    alt = str(extra.get("alt") or "")[:MAX_ALT] or None
    return await client.files_getUploadURLExternal(filename=str(extra.get("name")), length=len(content), alt_txt=alt)


async def put(client: AsyncWebClient, url: str, content: bytes) -> None:
    """Put the bytes there. Nothing is visible yet, so any failure may be tried again. Raises ChatUnavailable,
    ChatRejected."""
    timeout = aiohttp.ClientTimeout(total=PUT_TIMEOUT_S)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.post(url, data=content, proxy=client.proxy) as answer,
        ):
            status, is_page = answer.status, answer.content_type == "text/html"
    except (TimeoutError, aiohttp.ClientError, OSError) as problem:
        raise ChatUnavailable("Slack's file store cannot be reached.") from problem
    if is_page or status in BETWEEN:  # Slack's own store answers in plain text
        raise ChatUnavailable(f"What answers in the place of Slack's file store is a proxy or a login page ({status}).")
    if status >= 500 or status == 429:
        raise ChatUnavailable(f"Slack's file store answers {status}.")
    if status >= 400:
        raise ChatRejected(f"Slack's file store refuses the file ({status}).", f"http_{status}")


async def complete(client: AsyncWebClient, posting: Posting, file_id: str) -> Any:
    """Make a message of the file, in its thread."""
    return await client.files_completeUploadExternal(
        files=[{"id": file_id, "title": str(posting.extra.get("title") or "")}],
        channel_id=posting.channel,
        thread_ts=find_thread(posting),
        initial_comment=posting.text or None,
    )


async def delete(client: AsyncWebClient, posting: Posting) -> Any:
    """Delete a file of ours; `ts` is its id."""
    return await client.files_delete(file=posting.ts or "")


def find_thread(posting: Posting) -> str | None:
    """Return the thread that a file goes into: the one named, or that of the message that it belongs to."""
    return posting.thread_ts or posting.ts


def find_file(message: Mapping[str, Any], name: object) -> str | None:
    """Return the id of the file of this name in a message."""
    return next((str(f["id"]) for f in read_rows(message, "files") if f.get("name") == name and f.get("id")), None)
