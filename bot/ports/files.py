"""Files that go to Slack: what an outbox row stores of one, who makes its bytes, and who reads a thread for one.

A row stores what a file is about, not its bytes: so a purge finds every stored word, what people wrote in a thread is
not stored at all, and a retry makes the file again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Protocol

from pydantic import TypeAdapter, ValidationError

from bot.domain.delivery.kinds import Operation
from bot.domain.reports.digest_chart import DigestChart
from bot.domain.reports.postmortem import QuotedMessage
from bot.ports.chat import Posting
from bot.ports.errors import RecordRejected

_CHART = TypeAdapter(DigestChart)


class FileBuilder(Protocol):
    """Makes the bytes of a file when it is sent."""

    async def build_content(self, posting: Posting) -> bytes:
        """Return the file's bytes. Raises ChartUnavailable, RecordRejected (its subject is no longer stored),
        IncidentNotFound, StoreUnavailable, ChatUnavailable."""
        ...


class ChartRenderer(Protocol):
    """Draws. Promise: does not block the event loop; text in a chart is data and cannot change how it is drawn."""

    async def render_png(self, chart: DigestChart) -> bytes:
        """Return the chart as a PNG, readable on a light and on a dark background. Raises ChartUnavailable."""
        ...


class ThreadReader(Protocol):
    """Reads a thread when somebody asked for it. Raises ChatUnavailable, ChatRejected."""

    async def read_messages(self, channel: str, root_ts: str) -> Sequence[QuotedMessage]:
        """Return what people wrote there, oldest first, no bots; secrets masked; the first few hundred."""
        ...

    async def read_names(self, user_ids: Sequence[str]) -> Mapping[str, str]:
        """Return the names of these people, as far as Slack gives them."""
        ...


def build_picture_upload(channel: str, delivery_id: str, name: str, title: str, chart: DigestChart) -> Posting:
    """Return the upload of a picture; it goes into the thread of the message that is its target."""
    extra = {"name": name, "title": title, "alt": chart.alt, "chart": asdict(chart)}
    return Posting(Operation.UPLOAD, channel, delivery_id, extra=extra)


def build_postmortem_upload(
    channel: str, delivery_id: str, name: str, thread_ts: str, incident_id: str, by: str
) -> Posting:
    """Return the upload of an incident's post-mortem, requested by this person. `name` is unique in the thread: by it
    the file is found again."""
    extra = {"name": name, "title": f"Post-mortem of {incident_id}", "postmortem": incident_id}
    said = f"Post-mortem, asked for by <@{by}>" if by.isalnum() else ""
    return Posting(
        Operation.UPLOAD, channel, delivery_id, said, thread_ts=thread_ts, incident_id=incident_id, extra=extra
    )


def read_chart(value: object) -> DigestChart:
    """Return the chart that a row stores. Raises RecordRejected where there is none (any more)."""
    try:
        return _CHART.validate_python(value)
    except ValidationError as error:
        raise RecordRejected("chart", "is not kept any more") from error
