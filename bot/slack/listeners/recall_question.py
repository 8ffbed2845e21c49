"""Questions to memory as people type them, and answers for their eyes alone.

Must not score or rank: `LookUp` recalls, `decide` decides.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.domain.access.visibility import Viewer
from bot.domain.alerts.alert import Alert, AlertState
from bot.domain.recall.query import Query
from bot.domain.recall.ranking import Recalled
from bot.ports.chat import ChatMessage
from bot.ports.errors import RecordRejected
from bot.slack.listeners.context import UseCases
from bot.slack.views.markup import decode_text
from bot.slack.views.recall_pages import count_listed

BoltCall = Callable[..., Awaitable[Any]]

_FILTER = re.compile(r"\b(vendor|service|region|since|limit):(\"[^\"]*\"|“[^”]*”|\S*)", re.IGNORECASE)
SPAN = re.compile(r"(\d{1,4})([hdw])", re.IGNORECASE)
HOURS = {"h": 1, "d": 24, "w": 168}
MAX_TEXT = 2000
MAX_LIMIT = 10


@dataclass(frozen=True, slots=True)
class RecallQuestion:
    """A recall as a person typed it."""

    text: str
    filters: Mapping[str, str] = field(default_factory=dict)
    since: datetime | None = None
    limit: int = 5

    @property
    def wording(self) -> str:
        """The question with its filters, as it is repeated to the asker."""
        return " ".join([self.text, *(f"{k}:{v}" for k, v in self.filters.items())]).strip()

    def build_alert(self) -> Alert:
        """The question as the decision reads it: what a person says is happening."""
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


def read_question(text: str, now: datetime) -> RecallQuestion:
    """A question and its filters; raises RecordRejected for a filter that cannot be read."""
    found = {m[1].lower(): m[2].strip('"“”') for m in _FILTER.finditer(text)}
    filters = {k: v[:100] for k, v in found.items() if v}
    words = " ".join(decode_text(_FILTER.sub(" ", text)).split())[:MAX_TEXT]
    limit = filters.get("limit", "5")
    if not limit.isascii() or not limit.isdigit() or not 1 <= int(limit) <= MAX_LIMIT:
        raise RecordRejected("limit", f"a number from 1 to {MAX_LIMIT}, such as limit:5")
    return RecallQuestion(words, filters, read_since(filters.get("since"), now), int(limit))


def read_since(said: str | None, now: datetime) -> datetime | None:
    """ "30d", "12h", "2w" or a date, as a time; raises RecordRejected."""
    if said is None:
        return None
    if span := SPAN.fullmatch(said):
        return now - timedelta(hours=int(span[1]) * HOURS[span[2].lower()])
    try:
        return datetime.strptime(said, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError as problem:
        raise RecordRejected("since", "12h, 30d, 2w or a date such as 2026-01-31") from problem


async def recall_precedents(
    deps: UseCases, question: RecallQuestion, viewer: Viewer, but: str | None = None
) -> tuple[Query, Recalled]:
    """What memory holds on a question; `but`: without this incident."""
    given = question.filters.get
    query, recalled = await deps.lookup(
        question.text,
        viewer,
        vendor=given("vendor"),
        service=given("service"),
        region=given("region"),
        since=question.since,
    )
    others = tuple(p for p in recalled.precedents if p.incident.incident_id != but)
    return query, replace(recalled, precedents=others)


async def answer_question(
    deps: UseCases,
    question: RecallQuestion,
    viewer: Viewer,
    *,
    alert: Alert | None = None,
    but: str | None = None,
    by: str | None = None,
) -> tuple[ChatMessage, int]:
    """What memory holds on a question, decided like any brief, and how many precedents there are to list. `alert`: the
    question is this alert; `but`: without this incident (the alert's own); `by`: who shares it. The limit is for what is
    listed; what is counted are all precedents."""
    _, kept = await recall_precedents(deps, question, viewer, but)
    brief = deps.decide(alert or question.build_alert(), kept, (), deps.clock.now())
    return deps.surfaces.render_recalled(brief, question.wording, question.limit, by), count_listed(kept)


async def tell(respond: BoltCall, message: ChatMessage, *, replaces: bool = False) -> None:
    """Answer the asker alone, without link previews; `replaces`: in the place of the message they pressed."""
    blocks = [dict(b) for b in message.blocks] or None
    await respond(
        text=message.text, blocks=blocks, response_type="ephemeral", replace_original=replaces, unfurl_links=False
    )
