"""Read the arguments of Web API calls: flags, channels that the bot may see, and pages."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from bot.playground.core import LocalSlackCore
from bot.playground.workspace.state import JSON, LocalChannel, SlackRefused

Item = TypeVar("Item")


def parse_flag(value: Any) -> bool:
    """Return whether an argument is true, as JSON, form text or number."""
    return str(value).lower() in ("true", "1")


def read_required(args: Mapping[str, Any], key: str) -> str:
    """Return a required argument. Raises SlackRefused invalid_arguments."""
    value = args.get(key)
    if value in (None, ""):
        detail = f"[ERROR] missing required field: {key}"
        raise SlackRefused("invalid_arguments", response_metadata={"messages": [detail]})
    return str(value)


def find_visible_channel(core: LocalSlackCore, args: Mapping[str, Any]) -> LocalChannel:
    """Return the channel of a call by its id. Raises SlackRefused channel_not_found, also if the bot may not see it."""
    channel = core.workspace.channels.get(str(args.get("channel", "")))
    if channel is None or ((channel.is_private or channel.is_im) and not core.workspace.has_bot(channel)):
        raise SlackRefused("channel_not_found")
    return channel


def find_joined_channel(core: LocalSlackCore, args: Mapping[str, Any]) -> LocalChannel:
    """Return a channel that the bot is in. Raises SlackRefused not_in_channel or channel_not_found."""
    channel = find_visible_channel(core, args)
    if not core.workspace.has_bot(channel):
        raise SlackRefused("not_in_channel")
    return channel


def paginate(
    items: Sequence[Item], args: Mapping[str, Any], *, default: int, most: int = 1000
) -> tuple[list[Item], str]:
    """Return one page of items by `limit` and `cursor`, and the cursor of the next page ("" at the end).

    Raises SlackRefused invalid_limit or invalid_cursor.
    """
    limit = _parse_number(args.get("limit") or default, "invalid_limit")
    if not 1 <= limit <= most:
        raise SlackRefused("invalid_limit")
    start = _parse_cursor(str(args.get("cursor") or ""))
    end = start + limit
    following = base64.b64encode(f"next:{end}".encode()).decode() if end < len(items) else ""
    return list(items[start:end]), following


def _parse_cursor(cursor: str) -> int:
    if not cursor:
        return 0
    try:
        return int(base64.b64decode(cursor, validate=True).decode().removeprefix("next:"))
    except ValueError:
        raise SlackRefused("invalid_cursor") from None


def _parse_number(value: Any, error: str) -> int:
    try:
        return int(value)
    except ValueError:
        raise SlackRefused(error) from None


def build_next_page(cursor: str) -> JSON:
    """Build the `response_metadata` of a paged response."""
    return {"response_metadata": {"next_cursor": cursor}}


def filter_by_time(messages: Sequence[JSON], args: Mapping[str, Any]) -> list[JSON]:
    """Return the messages between `oldest` and `latest`, without these two unless `inclusive`."""
    oldest, latest = str(args.get("oldest") or "0"), str(args.get("latest") or "")
    inclusive = parse_flag(args.get("inclusive"))
    return [m for m in messages if _is_after(m["ts"], oldest, inclusive) and _is_before(m["ts"], latest, inclusive)]


def _parse_ts(ts: str) -> tuple[int, int]:
    seconds, _, micros = ts.partition(".")
    return int(seconds or 0), int((micros or "0").ljust(6, "0")[:6])


def _is_after(ts: str, oldest: str, inclusive: bool) -> bool:  # noqa: FBT001  # a private comparison
    return _parse_ts(ts) > _parse_ts(oldest) or (inclusive and _parse_ts(ts) == _parse_ts(oldest))


def _is_before(ts: str, latest: str, inclusive: bool) -> bool:  # noqa: FBT001  # likewise
    return (
        not latest
        or latest == "now"
        or _parse_ts(ts) < _parse_ts(latest)
        or (inclusive and _parse_ts(ts) == _parse_ts(latest))
    )
