"""`/precedent report [30d]`: how useful the bot was, for the asker's eyes. Must not count anything."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from bot.ports import RecordRejected
from bot.ports.chat import Message
from bot.slack.listeners.context import Listening, asker_in
from bot.slack.listeners.recall_question import HOURS, SPAN
from bot.slack.listeners.resolve import channel_id_of
from bot.slack.views.usefulness import report_message
from bot.workflows.reports.usefulness import ComposeReport

MOST_DAYS = 365


def days_said(said: str, example: str) -> int:
    """For how many days a command asks; raises RecordRejected with the example."""
    span = SPAN.fullmatch(said)
    days = int(span[1]) * HOURS[span[2].lower()] // 24 if span and span[2].lower() != "h" else 0
    if not 1 <= days <= MOST_DAYS:
        raise RecordRejected("", f"Say for how long: {example} (at most {MOST_DAYS}d).")
    return days


async def report(deps: Listening, body: Mapping[str, Any]) -> Message:
    """The report over what people in this channel may see."""
    viewer = await asker_in(deps.chat, channel_id_of(body))
    said = next(iter(str(body.get("text") or "").split()[1:]), "30d")
    days, now = days_said(said, "/precedent report 30d"), deps.clock.now()
    found = await ComposeReport(deps.store, deps.agreed.wrong.said)(now - timedelta(days=days), now, viewer)
    return report_message(found, f"the last {days} days")
