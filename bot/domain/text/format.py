"""Short texts for people: cut, put on one line, listed and counted."""

from __future__ import annotations

from collections.abc import Iterable


def cut(text: str, limit: int) -> str:
    """Return the text in at most `limit` characters; a cut shows as "…"."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def fit_one_line(text: str, limit: int) -> str:
    """Return the text on one line, in at most `limit` characters."""
    return cut(" ".join(text.split()), limit)


def join_names(items: Iterable[str], limit: int = 8) -> str:
    """Join names by commas; more than `limit` are counted: "INC-1, INC-2 and 5 more"."""
    names = list(items)
    rest = len(names) - limit
    return f"{', '.join(names[:limit])} and {rest} more" if rest > 0 else ", ".join(names)


def format_count(number: int, noun: str) -> str:
    """Format a number with its noun: "1 outage", "3 outages"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
