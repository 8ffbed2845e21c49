"""Commands that only show something, for the asker's eyes: digest, open incidents, usefulness, status, model payloads."""

from __future__ import annotations

from datetime import timedelta

from bot.domain.recall.question import read_span
from bot.ports.errors import IncidentNotFound, RecordRejected
from bot.slack.listeners.context import UseCases
from bot.slack.listeners.interaction import Interaction
from bot.slack.listeners.resolve import read_incident_id
from bot.slack.views.home import render_open_incidents, render_status
from bot.slack.views.hypothesis import render_sent
from bot.slack.views.usefulness import render_report
from bot.workflows.assistant.analyze import NOTHING_SENT

MAX_DAYS = 365


async def show_digest(uses: UseCases, it: Interaction) -> None:
    """Answer `/digest [7d|30d]` with what recurs."""
    viewer = await uses.access.require_viewer(it.channel_id)
    now, span = uses.clock.now(), it.text.lower() or "7d"
    since = now - timedelta(days=read_days(span, "/digest 7d or /digest 30d"))
    await it.whisper(uses.surfaces.render_digest(await uses.compose_digest(since, now, viewer, f"the last {span}")))


async def list_incidents(uses: UseCases, it: Interaction) -> None:
    """Answer `/incidents` with the open ones."""
    viewer = await uses.access.require_viewer(it.channel_id)
    await it.whisper(render_open_incidents(await uses.list_open_incidents(viewer)))


async def show_report(uses: UseCases, it: Interaction) -> None:
    """Answer `/precedent report [30d]`: how useful the bot was, over what people in this channel may see."""
    viewer = await uses.access.require_viewer(it.channel_id)
    span = next(iter(it.arguments.split()), "30d")
    days, now = read_days(span, "/precedent report 30d"), uses.clock.now()
    report = await uses.compose_report(now - timedelta(days=days), now, viewer)
    await it.whisper(render_report(report, f"the last {days} days"))


async def show_status(uses: UseCases, it: Interaction) -> None:
    """Answer `/precedent status`."""
    viewer = await uses.access.require_viewer(it.channel_id)
    await it.whisper(render_status(await uses.status(viewer)))


async def show_sent(uses: UseCases, it: Interaction) -> None:
    """Answer `/precedent sent INC-…` with exactly what went to a model about an incident."""
    if not it.arguments:
        raise RecordRejected("", "Say which incident: /precedent sent INC-7.")
    viewer = await uses.access.require_viewer(it.channel_id)
    incident_id = await read_incident_id(uses, it.arguments)
    if uses.show_sent is None:
        raise IncidentNotFound(NOTHING_SENT.format(incident_id))
    await it.whisper(render_sent(await uses.show_sent(incident_id, viewer)))


def read_days(text: str, example: str) -> int:
    """Return how many days "30d" or "2w" asks for. Raises RecordRejected with the example."""
    span = None if text.lower().endswith("h") else read_span(text)
    if span is None or not 1 <= span.days <= MAX_DAYS:
        raise RecordRejected("", f"Say for how long: {example} (at most {MAX_DAYS}d).")
    return span.days
