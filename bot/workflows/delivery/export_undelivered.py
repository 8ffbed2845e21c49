"""Everything that is still owed as JSON Lines, for when a database must be given up. Must not change anything."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from bot.ports import IncidentNotFound
from bot.ports.outbox_admin import InboxDesk, KeptEvent, KeptRow, OutboxDesk
from bot.ports.unit_of_work import Destination, IncidentStore
from bot.records.incident_json import write_record


@dataclass(frozen=True, slots=True)
class ExportUndelivered:
    """Give every delivery that is owed and every event that is not worked off, each with all that it says."""

    outbox: OutboxDesk
    inbox: InboxDesk
    store: IncidentStore

    async def __call__(self) -> AsyncIterator[str]:
        """One line of JSON each: `box` is outbox or inbox; what is owed to the memory bank carries its record. Raises
        StoreUnavailable."""
        async for row in self.outbox.undelivered():
            record = await self._record(row)
            yield _line({"box": "outbox", **row_json(row), "payload": dict(row.payload), **record})
        async for event in self.inbox.unworked():
            yield _line({"box": "inbox", **event_json(event), "body": dict(event.body)})

    async def _record(self, row: KeptRow) -> Mapping[str, Any]:
        if row.destination != Destination.BANK or row.operation != "retain":
            return {}
        try:
            return {"record": write_record(await self.store.record(str(row.payload["incident_id"])))}
        except IncidentNotFound:
            return {"record": None}


def row_json(row: KeptRow) -> dict[str, Any]:
    """An outbox row as JSON values, without what it says."""
    return _plain({name: value for name, value in asdict(row).items() if name != "payload"})


def event_json(event: KeptEvent) -> dict[str, Any]:
    """An inbox row as JSON values, without what it says."""
    return _plain({name: value for name, value in asdict(event).items() if name != "body"})


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in values.items()}


def _line(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)
