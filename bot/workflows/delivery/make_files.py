"""What files hold, made when they are sent: the picture of a digest, the post-mortem of an incident. Must not send them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from bot.domain.incidents.lifecycle import Life
from bot.domain.incidents.record import Incident
from bot.domain.reports.postmortem import Saying, postmortem
from bot.ports import IncidentNotFound
from bot.ports.chat import Chat, Posting
from bot.ports.files import Charts, Threads, read_chart
from bot.ports.parts import unless_refused
from bot.ports.unit_of_work import IncidentStore


@dataclass(frozen=True, slots=True)
class MakeFiles:
    """`bot.ports.files.Files`."""

    charts: Charts
    store: IncidentStore
    threads: Threads
    chat: Chat

    async def content(self, posting: Posting) -> bytes:
        """See the port."""
        incident_id = posting.extra.get("postmortem")
        if isinstance(incident_id, str):
            return (await self._postmortem(incident_id, posting)).encode("utf-8", "replace")
        return await self.charts.png(read_chart(posting.extra.get("chart")))

    async def _postmortem(self, incident_id: str, posting: Posting) -> str:
        """As things stand now: also whether the channel may still see it."""
        record = await self.store.record(incident_id)
        if not (await self.chat.channel(posting.channel)).viewer.may_see(record.source.visibility):
            raise IncidentNotFound(f"There is no incident {incident_id} that this channel may see.")
        life = await _life(self.store, incident_id)
        said = await self._said(posting)
        people = {s.by for s in said or ()} | {a.by for a in record.attempts if a.by}
        people |= {life.acknowledged_by} if life and life.acknowledged_by else set()
        names = await self.threads.names(sorted(people))
        named = tuple(replace(s, by=names.get(s.by, s.by)) for s in said or ())
        return postmortem(*_named(record, life, names), named, unread=said is None)

    async def _said(self, posting: Posting) -> tuple[Saying, ...] | None:
        """What people said in the thread; None where the bot may not read it."""
        said = await unless_refused(self.threads.said_in(posting.channel, posting.thread_ts or ""), None)
        return None if said is None else tuple(said)


async def _life(store: IncidentStore, incident_id: str) -> Life | None:
    try:
        return await store.life(incident_id)
    except IncidentNotFound:
        return None


def _named(record: Incident, life: Life | None, names: Mapping[str, str]) -> tuple[Incident, Life | None]:
    """With people's names in the place of their ids."""
    attempts = tuple(replace(a, by=names.get(a.by, a.by)) if a.by else a for a in record.attempts)
    who = life.acknowledged_by if life else None
    after = replace(life, acknowledged_by=names.get(who, who)) if life and who else life
    return replace(record, attempts=attempts), after
