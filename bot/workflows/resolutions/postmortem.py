"""Queue a post-mortem, requested in a channel, as a file for the incident's thread. Must not write it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from bot.domain.delivery.ids import build_incident_key, build_postmortem_id
from bot.ports.clock import Clock
from bot.ports.delivery.outbox import build_outbox_entry
from bot.ports.files import build_postmortem_upload
from bot.ports.incidents import IncidentStore, require_brief
from bot.ports.unit_of_work import Changes

AGAIN_AFTER_MINUTES = 10


@dataclass(frozen=True, slots=True)
class RequestPostmortem:
    """Queue a post-mortem: two requests within ten minutes, with nothing recorded in between, give one file."""

    store: IncidentStore
    clock: Clock

    async def __call__(self, incident_id: str, channel_id: str, by: str) -> bool:
        """Queue the file; return False if that was done just now.

        Raises IncidentNotFound (no record, or no brief in this channel), StoreUnavailable.
        """
        record = await self.store.read_record(incident_id)
        posted = await require_brief(self.store, incident_id, channel_id)
        now = self.clock.now()
        stretch = f"{now:%Y%m%d%H}{now.minute // AGAIN_AFTER_MINUTES}"
        mark = hashlib.sha256(f"{stretch}/{record!r}".encode("utf-8", "replace")).hexdigest()[:8]
        delivery = build_postmortem_id(channel_id, incident_id, mark)
        name = f"{_build_file_name(incident_id)}-post-mortem-{mark}.md"
        posting = build_postmortem_upload(channel_id, delivery, name, posted.root_ts, incident_id, by)
        row = build_outbox_entry(posting, key=build_incident_key(channel_id, incident_id), urgent=True)
        return await self.store.commit(Changes(deliveries=(row,), once=delivery))


def _build_file_name(incident_id: str) -> str:
    """Return an id as part of a file name: an imported id may contain anything."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "-" for c in incident_id)[:60]
