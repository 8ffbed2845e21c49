"""The question of `/recall` as a person types it: words, and filters such as `vendor:razorpay since:30d limit:5`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from bot.domain.alerts.alert import Alert, AlertState
from bot.domain.text.problem import FieldProblem

MAX_TEXT = 2000
MAX_LIMIT = 10
MAX_FILTER = 100
DEFAULT_LIMIT = 5
_FILTER = re.compile(r"\b(vendor|service|region|since|limit):(\"[^\"]*\"|“[^”]*”|\S*)", re.IGNORECASE)
_SPAN = re.compile(r"(\d{1,4})([hdw])", re.IGNORECASE)
_HOURS = {"h": 1, "d": 24, "w": 168}


@dataclass(frozen=True, slots=True)
class RecallQuestion:
    """A question to memory."""

    text: str
    # By name, as typed: vendor, service, region, since, limit.
    filters: Mapping[str, str] = field(default_factory=dict)
    since: datetime | None = None
    limit: int = DEFAULT_LIMIT

    @property
    def wording(self) -> str:
        """Return the question with its filters, as it is repeated to the asker."""
        return " ".join([self.text, *(f"{k}:{v}" for k, v in self.filters.items())]).strip()

    def build_alert(self) -> Alert:
        """Return the question as the decision reads it: what a person says is happening."""
        given = self.filters.get
        return Alert(
            "person",
            AlertState.FIRING,
            "",
            title=self.text[:200] or None,
            vendor=given("vendor"),
            service=given("service"),
            region=given("region"),
            text=self.text,
        )


def read_question(text: str, now: datetime, decode: Callable[[str], str] = str) -> RecallQuestion | FieldProblem:
    """Return the question, or the filter that cannot be read. `decode` undoes the escapes of the place where it was typed;
    it sees the words alone, filters are taken as typed."""
    found = {m[1].lower(): m[2].strip('"“”') for m in _FILTER.finditer(text)}
    filters = {k: v[:MAX_FILTER] for k, v in found.items() if v}
    words = " ".join(decode(_FILTER.sub(" ", text)).split())[:MAX_TEXT]
    limit = filters.get("limit", str(DEFAULT_LIMIT))
    if not limit.isascii() or not limit.isdigit() or not 1 <= int(limit) <= MAX_LIMIT:
        return FieldProblem("limit", f"a number from 1 to {MAX_LIMIT}, such as limit:5")
    since = read_since(filters["since"], now) if "since" in filters else None
    if isinstance(since, FieldProblem):
        return since
    return RecallQuestion(words, filters, since, int(limit))


def read_since(text: str, now: datetime) -> datetime | FieldProblem:
    """Return the beginning that "30d", "12h", "2w" or a date names."""
    span = read_span(text)
    if span is not None:
        return now - span
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        return FieldProblem("since", "12h, 30d, 2w or a date such as 2026-01-31")


def read_span(text: str) -> timedelta | None:
    """Return how long "30d", "12h" or "2w" is; None for anything else."""
    span = _SPAN.fullmatch(text)
    return timedelta(hours=int(span[1]) * _HOURS[span[2].lower()]) if span else None
