"""Make the content of files at the moment of sending: a digest's picture, an incident's post-mortem.

Must not send them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from bot.domain.incidents.lifecycle import Lifecycle
from bot.domain.incidents.record import Incident
from bot.domain.reports.postmortem import QuotedMessage, write_postmortem
from bot.ports.chat import Chat, Posting, or_if_refused
from bot.ports.errors import IncidentNotFound
from bot.ports.files import ChartRenderer, ThreadReader, read_chart
from bot.ports.incidents import IncidentStore, find_lifecycle


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeFiles:
    """`bot.ports.files.Files`."""

    charts: ChartRenderer
    store: IncidentStore
    threads: ThreadReader
    chat: Chat

    async def build_content(self, posting: Posting) -> bytes:
        """See the port."""
        incident_id = posting.extra.get("postmortem")
        if isinstance(incident_id, str):
            return (await self._write_postmortem(incident_id, posting)).encode("utf-8", "replace")
        return await self.charts.render_png(read_chart(posting.extra.get("chart")))

    async def _write_postmortem(self, incident_id: str, posting: Posting) -> str:
        """Write the post-mortem as of now, after checking again that the channel may see the incident."""
        record = await self.store.read_record(incident_id)
        if not (await self.chat.read_channel(posting.channel)).viewer.may_see(record.source.visibility):
            raise IncidentNotFound(f"There is no incident {incident_id} that this channel may see.")
        life = await find_lifecycle(self.store, incident_id)
        messages = await self._read_thread(posting)
        people = {s.by for s in messages or ()} | {a.by for a in record.attempts if a.by}
        people |= {life.acknowledged_by} if life and life.acknowledged_by else set()
        names = await self.threads.read_names(sorted(people))
        named_messages = tuple(replace(s, by=names.get(s.by, s.by)) for s in messages or ())
        return write_postmortem(*_replace_ids(record, life, names), named_messages, unread=messages is None)

    async def _read_thread(self, posting: Posting) -> tuple[QuotedMessage, ...] | None:
        """Return what people wrote in the thread; None if the bot may not read it."""
        messages = await or_if_refused(self.threads.read_messages(posting.channel, posting.thread_ts or ""), None)
        return None if messages is None else tuple(messages)


def _replace_ids(
    record: Incident, life: Lifecycle | None, names: Mapping[str, str]
) -> tuple[Incident, Lifecycle | None]:
    """Return record and lifecycle with people's names in place of their Slack ids."""
    attempts = tuple(replace(a, by=names.get(a.by, a.by)) if a.by else a for a in record.attempts)
    who = life.acknowledged_by if life else None
    after = replace(life, acknowledged_by=names.get(who, who)) if life and who else life
    return replace(record, attempts=attempts), after
