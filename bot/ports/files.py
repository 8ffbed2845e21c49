"""Files that go to Slack: what an outbox row keeps of one, and who draws pictures. Must not draw or send anything.

A row keeps what a picture shows, not its bytes: so purging finds every word in it, and drawing is tried again with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Protocol

from pydantic import TypeAdapter, ValidationError

from bot.domain.digest_chart import DigestChart
from bot.ports import RecordRejected
from bot.ports.chat import Posting

_CHART = TypeAdapter(DigestChart)


class Charts(Protocol):
    """Draws. Promise: does not block the event loop; text in a chart is data and cannot change how it is drawn."""

    async def png(self, chart: DigestChart) -> bytes:
        """The chart as a PNG, readable on light and dark ground. Raises ChartUnavailable."""
        ...


def text_file(
    channel: str, delivery_id: str, name: str, text: str, *, thread_ts: str, incident_id: str, comment: str = ""
) -> Posting:
    """The posting of a text file in a thread; `comment` is what is said above it (mrkdwn). `name` is unique in the
    thread: by it the file is found again."""
    extra = {"name": name, "title": name, "content": text}
    return Posting("upload", channel, delivery_id, comment, thread_ts=thread_ts, incident_id=incident_id, extra=extra)


def picture_file(channel: str, delivery_id: str, name: str, title: str, chart: DigestChart) -> Posting:
    """The posting of a picture; it goes into the thread of the message that is its target."""
    extra = {"name": name, "title": title, "alt": chart.alt, "chart": asdict(chart)}
    return Posting("upload", channel, delivery_id, extra=extra)


def read_chart(value: object) -> DigestChart:
    """The chart that a row keeps; raises RecordRejected where there is none (any more)."""
    try:
        return _CHART.validate_python(value)
    except ValidationError as error:
        raise RecordRejected("chart", "is not kept any more") from error


def content_of(extra: Mapping[str, Any]) -> bytes | None:
    """The bytes of a text file; None for a picture."""
    content = extra.get("content")
    return content.encode("utf-8", "replace") if isinstance(content, str) else None
