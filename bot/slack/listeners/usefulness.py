"""`/precedent report [30d]`: how useful the bot was, for the asker's eyes. Must not count anything."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from bot.ports.chat import ChatMessage
from bot.ports.errors import RecordRejected
from bot.slack.listeners.context import UseCases, require_viewer
from bot.slack.listeners.recall_question import HOURS, SPAN
from bot.slack.listeners.resolve import read_channel_id
from bot.slack.views.usefulness import render_report
from bot.workflows.reports.usefulness import ComposeUsefulnessReport

MOST_DAYS = 365


def read_days(said: str, example: str) -> int:
    """For how many days a command asks; raises RecordRejected with the example."""
    span = SPAN.fullmatch(said)
    days = int(span[1]) * HOURS[span[2].lower()] // 24 if span and span[2].lower() != "h" else 0
    if not 1 <= days <= MOST_DAYS:
        raise RecordRejected("", f"Say for how long: {example} (at most {MOST_DAYS}d).")
    return days


async def show_report(deps: UseCases, body: Mapping[str, Any]) -> ChatMessage:
    """The report over what people in this channel may see."""
    viewer = await require_viewer(deps.chat, read_channel_id(body))
    said = next(iter(str(body.get("text") or "").split()[1:]), "30d")
    days, now = read_days(said, "/precedent report 30d"), deps.clock.now()
    found = await ComposeUsefulnessReport(deps.store, deps.agreed.wrong.feedback)(
        now - timedelta(days=days), now, viewer
    )
    return render_report(found, f"the last {days} days")
