"""Reading the arguments of Web API calls: flags, channels the bot may see, pages. Must not change anything."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from bot.playground.core import Core
from bot.playground.workspace.state import JSON, Channel, SlackRefused

Item = TypeVar("Item")


def flag(value: Any) -> bool:
    """Whether an argument is true, as JSON, form text or number."""
    return str(value).lower() in ("true", "1")


def required(args: Mapping[str, Any], key: str) -> str:
    """An argument that must be there. Raises SlackRefused invalid_arguments."""
    value = args.get(key)
    if value in (None, ""):
        detail = f"[ERROR] missing required field: {key}"
        raise SlackRefused("invalid_arguments", response_metadata={"messages": [detail]})
    return str(value)


def visible_channel(core: Core, args: Mapping[str, Any]) -> Channel:
    """The channel of a call by its id. Raises SlackRefused channel_not_found, also where the bot may not look."""
    channel = core.workspace.channels.get(str(args.get("channel", "")))
    if channel is None or ((channel.is_private or channel.is_im) and not core.workspace.bot_is_in(channel)):
        raise SlackRefused("channel_not_found")
    return channel


def joined_channel(core: Core, args: Mapping[str, Any]) -> Channel:
    """A channel that the bot is in. Raises SlackRefused not_in_channel or channel_not_found."""
    channel = visible_channel(core, args)
    if not core.workspace.bot_is_in(channel):
        raise SlackRefused("not_in_channel")
    return channel


def page(items: Sequence[Item], args: Mapping[str, Any], *, default: int, most: int = 1000) -> tuple[list[Item], str]:
    """One page of items by `limit` and `cursor`, and the cursor of the next ("" at the end).

    Raises SlackRefused invalid_limit or invalid_cursor.
    """
    limit = _number(args.get("limit") or default, "invalid_limit")
    if not 1 <= limit <= most:
        raise SlackRefused("invalid_limit")
    start = _offset(str(args.get("cursor") or ""))
    end = start + limit
    following = base64.b64encode(f"next:{end}".encode()).decode() if end < len(items) else ""
    return list(items[start:end]), following


def _offset(cursor: str) -> int:
    if not cursor:
        return 0
    try:
        return int(base64.b64decode(cursor, validate=True).decode().removeprefix("next:"))
    except ValueError:
        raise SlackRefused("invalid_cursor") from None


def _number(value: Any, error: str) -> int:
    try:
        return int(value)
    except ValueError:
        raise SlackRefused(error) from None


def next_page(cursor: str) -> JSON:
    """The `response_metadata` of a paged answer."""
    return {"response_metadata": {"next_cursor": cursor}}


def in_time(messages: Sequence[JSON], args: Mapping[str, Any]) -> list[JSON]:
    """The messages between `oldest` and `latest`, both left out unless `inclusive`."""
    oldest, latest = str(args.get("oldest") or "0"), str(args.get("latest") or "")
    inclusive = flag(args.get("inclusive"))
    return [m for m in messages if _after(m["ts"], oldest, inclusive) and _before(m["ts"], latest, inclusive)]


def _stamp(ts: str) -> tuple[int, int]:
    seconds, _, micros = ts.partition(".")
    return int(seconds or 0), int((micros or "0").ljust(6, "0")[:6])


def _after(ts: str, oldest: str, inclusive: bool) -> bool:  # noqa: FBT001  # a private comparison
    return _stamp(ts) > _stamp(oldest) or (inclusive and _stamp(ts) == _stamp(oldest))


def _before(ts: str, latest: str, inclusive: bool) -> bool:  # noqa: FBT001  # likewise
    return not latest or latest == "now" or _stamp(ts) < _stamp(latest) or (inclusive and _stamp(ts) == _stamp(latest))
