"""Wire the reading of channels' past: Slack's history, the store, and the work on alerts without posting anything."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial

from bot.adapters.store.records.incidents import SqlIncidentStore
from bot.bootstrap.config.file import build_directory, read_optional_configuration
from bot.bootstrap.system import RandomIds, SystemClock
from bot.bootstrap.wiring.alerts import build_answer_alert
from bot.bootstrap.wiring.channels import read_digest_time
from bot.bootstrap.wiring.memory import Memory, open_memory
from bot.bootstrap.wiring.slack import build_slack_client
from bot.domain.alerts.alert import Alert
from bot.domain.alerts.suppression import ChannelPolicy, Disposition, SuppressionDecision, decide_suppression
from bot.domain.incidents.opening import parse_ts
from bot.domain.operations.backfill import ReadSpan
from bot.domain.reports.schedule import DigestTime, choose_digest_time
from bot.parsers import read
from bot.ports.alerts.backfill_progress import BackfillProgress
from bot.ports.channels import ChannelStore
from bot.ports.chat import Channel, read_source
from bot.ports.clock import Clock
from bot.ports.delivery.inbox import InboxRow
from bot.ports.errors import ChatUnavailable
from bot.ports.unit_of_work import Changes
from bot.records.alert_json import read_stored_alert
from bot.settings import Settings
from bot.slack.client.chat import SlackChat
from bot.slack.client.history import PastReader, SlackHistory
from bot.slack.inbound.events import OwnIdentity
from bot.slack.views.surfaces import SlackSurfaces
from bot.workflows.alerts.answer import AnswerAlert
from bot.workflows.operations.backfill import Backfill, PacedCaller
from bot.workflows.operations.backfill_report import ReportBackfill
from bot.workflows.recall.preview_brief import PreviewBrief

POLICY_CACHE_TTL = timedelta(seconds=30)
COUNT_ONLY_DECISION = SuppressionDecision(Disposition.COUNT_ONLY, "it is past: nothing is posted about it")


@dataclass(frozen=True, slots=True)
class QuietIncidentStore(SqlIncidentStore):
    """The incident store, without anything that would be delivered or worked on later."""

    async def commit(self, changes: Changes) -> bool:
        """Commit without deliveries. No row of the inbox is behind what is in the past."""
        return await SqlIncidentStore.commit(
            self, replace(changes, deliveries=(), received=(), done=None, skips_bank=True)
        )


@dataclass(slots=True)
class ComputedLinksChat(SlackChat):
    """Computes links to messages from the workspace's address: for ten thousand alerts Slack should not be asked each
    time."""

    url: str = ""

    async def get_permalink(self, channel_id: str, ts: str) -> str | None:
        """Return the link, as the port says, without asking Slack."""
        return build_link(self.url, channel_id, ts)


@dataclass(frozen=True, slots=True)
class ProcessQuietly:
    """Work on an alert as on any other, but post nothing; what the channel's settings ignore is ignored."""

    work: AnswerAlert
    channels: ChannelStore
    clock: Clock
    default: DigestTime
    # the policy of each channel and when it was read
    houses: dict[str, tuple[ChannelPolicy, datetime]] = field(default_factory=dict)

    async def __call__(self, row: InboxRow) -> bool:
        """Work on a row; return False if it is ignored. Raises StoreUnavailable, ChatUnavailable."""
        event = row.body["event"]
        house = await self._read_policy(event["channel"])
        at = parse_ts(str(event["ts"])) or self.clock.now()
        zone = choose_digest_time(house.settings, self.default).zone
        if (
            decide_suppression(read_stored_alert(event), read_source(event), house, at, zone).outcome
            is Disposition.IGNORE
        ):
            return False
        await self.work(row)
        return True

    async def _read_policy(self, channel: str) -> ChannelPolicy:
        now = self.clock.now()
        if channel not in self.houses or now - self.houses[channel][1] > POLICY_CACHE_TTL:
            self.houses[channel] = await self.channels.read_policy(channel, now), now
        return self.houses[channel][0]


async def admit_silently(_row: InboxRow, _channel: Channel, _alert: Alert, _at: datetime) -> SuppressionDecision:
    """Admit any alert to be counted only."""
    return COUNT_ONLY_DECISION


def build_link(workspace: str, channel: str, ts: str) -> str:
    """Return the address of a message."""
    return f"{workspace.rstrip('/')}/archives/{channel}/p{ts.replace('.', '')}"


@asynccontextmanager
async def open_backfill(
    settings: Settings,
    a_minute: float,
    told: Callable[[BackfillProgress, ReadSpan], None],
    waits: Callable[[float, ChatUnavailable], None],
) -> AsyncIterator[tuple[Backfill, ReportBackfill]]:
    """Open the store and Slack, ready to read. Raises StoreUnavailable, ChatUnavailable, ChatAuthRejected."""
    clock = SystemClock()
    async with open_memory(settings, clock, RandomIds()) as memory:
        chat = ComputedLinksChat(build_slack_client(settings), clock, memory.channels)
        patiently = PacedCaller(clock=clock, a_minute=a_minute, on_wait=waits)
        identity = await chat.fetch_identity()
        chat.url = identity.url
        names = build_directory(read_optional_configuration(settings.precedent_config))
        own = frozenset({identity.bot_id, identity.user_id})
        reader = PastReader(
            OwnIdentity(identity.bot_id, identity.user_id),
            identity.team_id,
            partial(read, own_bot_ids=own, names=names),
        )
        answer = ProcessQuietly(
            _build_answer_alert(memory, chat, clock), memory.channels, clock, read_digest_time(settings)
        )
        history, store = SlackHistory(chat), memory.store
        yield (
            Backfill(
                history=history,
                backfills=store.backfill_progress,
                store=store.incidents,
                chat=chat,
                heard=store.watermark,
                clock=clock,
                reader=reader,
                answer=answer,
                patiently=patiently,
                on_progress=told,
            ),
            ReportBackfill(store.backfill_progress, store.incidents),
        )


@asynccontextmanager
async def open_backfill_report(settings: Settings) -> AsyncIterator[ReportBackfill]:
    """Open the store alone, for what was read before. Raises StoreUnavailable."""
    async with open_memory(settings, SystemClock(), RandomIds()) as memory:
        yield ReportBackfill(memory.store.backfill_progress, memory.store.incidents)


def _build_answer_alert(memory: Memory, chat: ComputedLinksChat, clock: Clock) -> AnswerAlert:
    known = memory.store.incidents
    store = QuietIncidentStore(known.database, known.clock, known.writer)
    return build_answer_alert(
        store=store,
        preview=PreviewBrief(memory.recall, memory.index),
        chat=chat,
        surfaces=SlackSurfaces(),
        clock=clock,
        read=read_stored_alert,
        admit=admit_silently,
    )
