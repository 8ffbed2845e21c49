"""Export everything undelivered as JSON Lines, for when a database must be given up. Must not change anything."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from bot.domain.delivery.kinds import Operation
from bot.ports.delivery.outbox import Destination
from bot.ports.delivery.outbox_admin import InboxAdmin, OutboxAdmin, OutboxRowView, UnprocessedEvent
from bot.ports.errors import IncidentNotFound
from bot.ports.incidents import IncidentStore
from bot.records.incident_json import write_record


@dataclass(frozen=True, slots=True)
class ExportUndelivered:
    """Export every undelivered outbox row and every unprocessed event, with full content."""

    outbox: OutboxAdmin
    inbox: InboxAdmin
    store: IncidentStore

    async def __call__(self) -> AsyncIterator[str]:
        """Yield one line of JSON each: `box` is "outbox" or "inbox"; a row for the memory bank carries its record.

        Raises StoreUnavailable.
        """
        async for row in self.outbox.stream_undelivered():
            record = await self._read_record(row)
            yield _format_line({"box": "outbox", **build_row_json(row), "payload": dict(row.payload), **record})
        async for event in self.inbox.stream_unprocessed():
            yield _format_line({"box": "inbox", **build_event_json(event), "body": dict(event.body)})

    async def _read_record(self, row: OutboxRowView) -> Mapping[str, Any]:
        if row.destination != Destination.BANK or row.operation != Operation.RETAIN:
            return {}
        try:
            return {"record": write_record(await self.store.read_record(str(row.payload["incident_id"])))}
        except IncidentNotFound:
            return {"record": None}


def build_row_json(row: OutboxRowView) -> dict[str, Any]:
    """Return an outbox row as JSON values, without its payload."""
    return _format_times({name: value for name, value in asdict(row).items() if name != "payload"})


def build_event_json(event: UnprocessedEvent) -> dict[str, Any]:
    """Return an inbox row as JSON values, without its body."""
    return _format_times({name: value for name, value in asdict(event).items() if name != "body"})


def _format_times(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in values.items()}


def _format_line(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)
