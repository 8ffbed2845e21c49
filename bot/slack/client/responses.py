"""Check what comes back from Slack's address: a proxy's login page or a gateway's error may answer in its place.

An odd answer becomes one of the port's errors, never a Python error.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

import aiohttp
from slack_sdk.errors import SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from bot.ports.channel_history import PageCursors
from bot.ports.errors import ChatOutcomeUnknown

# What these hold in Slack's answers, whatever was asked; the second table is for what differs between calls.
SHAPES: Mapping[str, type] = {
    "response_metadata": dict,
    "messages": list,
    "channels": list,
    "members": list,
    "usergroups": list,
    "users": list,
    "bot": dict,
}
OPERATION_SHAPES: Mapping[str, Mapping[str, type]] = {
    "channel": {"channel": dict},
    "direct": {"channel": dict},
    "user": {"user": dict},
    "upload_url": {"upload_url": str, "file_id": str},
    "connect": {"url": str},
}


class NotSlack(SlackClientError):  # told as one of the port's errors by `SlackChat`
    """Raised for an answer that is no JSON object."""


class SlackClient(AsyncWebClient):
    """SDK client that checks bodies. The SDK takes every body for one of Slack's, and on another it fails in ways that
    are no errors of Slack."""

    async def _request(self, *, http_verb: str, api_url: str, req_args: dict[str, Any]) -> dict[str, Any]:
        try:
            found = await super()._request(http_verb=http_verb, api_url=api_url, req_args=req_args)
        except aiohttp.ClientError:  # some of them are ValueErrors, too
            raise
        except (ValueError, LookupError, RecursionError) as odd:  # a body in no encoding, or nested without end
            raise NotSlack("The answer cannot be read.") from odd
        if not isinstance(found.get("data"), dict):
            raise NotSlack(f"The answer is no JSON object (HTTP {found.get('status_code')}).")
        return found


def build_not_slack_error(operation: str, detail: str = "") -> ChatOutcomeUnknown:
    """Return what to raise where something else than Slack answered.

    Whether Slack did it is not known: it may have, and its answer was replaced.
    """
    more = f" ({detail})" if detail else ""
    return ChatOutcomeUnknown(
        f"What answered {operation} is not Slack{more}: a proxy or a login page between here and Slack, or SLACK_API_URL"
        " is wrong."
    )


def check_shapes(operation: str, data: object) -> Mapping[str, Any]:
    """Return the answer, in the shapes of Slack's. Raises ChatOutcomeUnknown."""
    if not isinstance(data, Mapping):
        raise build_not_slack_error(operation, "no JSON object")
    for name, kind in {**SHAPES, **OPERATION_SHAPES.get(operation, {})}.items():
        if not isinstance(data.get(name), kind) and data.get(name) is not None:
            raise build_not_slack_error(operation, f"{name} is of another kind")
    return data


def read_rows(answer: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """Return the objects of a list; anything else in it is left out."""
    found = answer.get(name)
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []


def read_next_cursor(answer: Mapping[str, Any]) -> str:
    """Return where the next page begins, "" at the end."""
    found = (answer.get("response_metadata") or {}).get("next_cursor")
    return found if isinstance(found, str) else ""


async def fetch_pages(
    ask: Callable[[str | None], Awaitable[Mapping[str, Any]]], limit: int
) -> AsyncIterator[Mapping[str, Any]]:
    """Yield answer after answer, until there is no more or there were `most`.

    Raises ChatUnavailable where the pages go round in a circle, and what `ask` raises.
    """
    seen, cursor = PageCursors(), ""
    for _ in range(limit):
        answer = await ask(cursor or None)
        yield answer
        cursor = seen.follow(read_next_cursor(answer))
        if not cursor:
            return
