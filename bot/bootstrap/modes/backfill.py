"""Reading channels' past, wired: Slack's history, the store, and the work on alerts that keeps silent. Must not decide."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial

from bot.adapters.store.records.incidents import SqlIncidents
from bot.bootstrap.application import client_of
from bot.bootstrap.config.file import configured, names_in
from bot.bootstrap.system import RandomIds, SystemClock
from bot.bootstrap.wiring.channels import operators_time
from bot.bootstrap.wiring.memory import Memory, open_memory
from bot.domain.alerts.alert import Alert
from bot.domain.alerts.suppression import Admission, House, Outcome, admit
from bot.domain.incidents.opening import posted_at
from bot.domain.operations.backfill import Span
from bot.domain.reports.schedule import DigestTime, digest_time
from bot.parsers import read
from bot.ports import ChatUnavailable
from bot.ports.backfill_progress import Progress
from bot.ports.channels import ChannelStore
from bot.ports.chat import Channel
from bot.ports.clock import Clock
from bot.ports.unit_of_work import Changes, InboxRow
from bot.records.alert_json import stored_reading
from bot.settings import Settings
from bot.slack.client.chat import SlackChat
from bot.slack.client.history import PastReader, SlackHistory
from bot.slack.client.policy_chat import AgreedChat
from bot.slack.inbound.events import Own
from bot.slack.views.surfaces import SlackSurfaces
from bot.workflows.alerts.answer import AnswerAlert
from bot.workflows.channels.settings import source_of
from bot.workflows.operations.backfill import Backfill, Patience
from bot.workflows.operations.backfill_report import ListBackfilled

HOUSE_KEPT_FOR = timedelta(seconds=30)
SILENT = Admission(Outcome.COUNT_ONLY, "it is past: nothing is posted about it")


@dataclass(frozen=True, slots=True)
class SilentIncidents(SqlIncidents):
    """The store, without anything that would be owed or worked on later."""

    async def commit(self, changes: Changes) -> bool:
        """See the port. No row of the inbox stands behind the past."""
        return await SqlIncidents.commit(self, replace(changes, owed=(), received=(), done=None))


@dataclass(frozen=True, slots=True)
class LinkedChat(AgreedChat):
    """Links to messages made from the workspace's address: of ten thousand alerts Slack is not to be asked for each."""

    url: str = ""

    async def permalink(self, channel_id: str, ts: str) -> str | None:
        """See the port."""
        return link(self.url, channel_id, ts)


@dataclass(frozen=True, slots=True)
class AnswerInSilence:
    """The work on an alert as on any other, but that nothing is posted; what the channel agreed to ignore is ignored.
    `houses` is what was agreed when it was asked last."""

    work: AnswerAlert
    channels: ChannelStore
    clock: Clock
    default: DigestTime
    houses: dict[str, tuple[House, datetime]] = field(default_factory=dict)

    async def __call__(self, row: InboxRow) -> bool:
        """False where it is ignored. Raises StoreUnavailable, ChatUnavailable."""
        event = row.body["event"]
        house = await self._house(event["channel"])
        at = posted_at(str(event["ts"])) or self.clock.now()
        zone = digest_time(house.settings, self.default).zone
        if admit(stored_reading(event), source_of(event), house, at, zone).outcome is Outcome.IGNORE:
            return False
        await self.work(row)
        return True

    async def _house(self, channel: str) -> House:
        now = self.clock.now()
        if channel not in self.houses or now - self.houses[channel][1] > HOUSE_KEPT_FOR:
            self.houses[channel] = await self.channels.house(channel, now), now
        return self.houses[channel][0]


async def silent(_row: InboxRow, _channel: Channel, _alert: Alert, _at: datetime) -> Admission:
    """Whatever it is, it only counts."""
    return SILENT


def link(workspace: str, channel: str, ts: str) -> str:
    """The address of a message."""
    return f"{workspace.rstrip('/')}/archives/{channel}/p{ts.replace('.', '')}"


@asynccontextmanager
async def backfilling(
    settings: Settings,
    a_minute: float,
    told: Callable[[Progress, Span], None],
    waits: Callable[[float, ChatUnavailable], None],
) -> AsyncIterator[tuple[Backfill, ListBackfilled]]:
    """The store and Slack, ready to read. Raises StoreUnavailable, ChatUnavailable, ChatAuthRejected."""
    clock = SystemClock()
    async with open_memory(settings, clock, RandomIds()) as memory:
        slack = SlackChat(client_of(settings), clock)
        patiently = Patience(clock, a_minute, waits)
        identity = await slack.identity()
        names = names_in(configured(settings.precedent_config))
        own = frozenset({identity.bot_id, identity.user_id})
        reader = PastReader(
            Own(identity.bot_id, identity.user_id), identity.team_id, partial(read, own_bot_ids=own, names=names)
        )
        chat = LinkedChat(slack, memory.channels, identity.url)
        answer = AnswerInSilence(_work(memory, chat, clock), memory.channels, clock, operators_time(settings))
        history, store = SlackHistory(slack), memory.store
        yield (
            Backfill(
                history, store.backfills, store.incidents, chat, store.heard, clock, reader, answer, patiently, told
            ),
            ListBackfilled(store.backfills, store.incidents),
        )


@asynccontextmanager
async def backfilled(settings: Settings) -> AsyncIterator[ListBackfilled]:
    """The store alone: what was read before. Raises StoreUnavailable."""
    async with open_memory(settings, SystemClock(), RandomIds()) as memory:
        yield ListBackfilled(memory.store.backfills, memory.store.incidents)


def _work(memory: Memory, chat: LinkedChat, clock: Clock) -> AnswerAlert:
    known = memory.store.incidents
    store = SilentIncidents(known.database, known.clock, known.writer)
    return AnswerAlert(store, memory.recall, memory.index, chat, SlackSurfaces(), clock, stored_reading, silent)
