"""Ask people to record what fixed the incidents that cleared: one message a day to each person, each incident once.

`bot.bootstrap.jobs` schedules it. Must not render, or read a thread before somebody may be due.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo

from bot.domain.access.roles import Act, Person
from bot.domain.alerts.suppression import Mute, MuteTarget
from bot.domain.delivery.ids import build_nudge_id
from bot.domain.delivery.kinds import Operation
from bot.domain.incidents.lifecycle import Lifecycle
from bot.domain.reports.schedule import DigestTime, choose_digest_time, find_zone
from bot.domain.resolutions.nudge import Nudge, NudgedIncident, choose_people, is_due, may_be_due, sort_nudges
from bot.ports.audit import AuditLine, format_change
from bot.ports.channels import ChannelStore, PeopleDirectory
from bot.ports.chat import OF_CHANNELS, Chat, Posting, find_channel, may_speak, or_if_refused
from bot.ports.clock import Clock
from bot.ports.delivery.outbox import build_outbox_entry
from bot.ports.errors import ChatAuthRejected, ChatRejected
from bot.ports.incidents import IncidentStore
from bot.ports.nudges import NudgeStore
from bot.ports.posts import PostedBrief
from bot.ports.surfaces import Surfaces
from bot.ports.unit_of_work import Changes

OPENED_WITHIN = timedelta(days=30)
# Slack lets a bot read some fifty threads a minute; the rest is read a quarter of an hour later.
READS_AT_ONCE = 40
NO_END = datetime(9999, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """The result of the last look at an incident."""

    # Whom to ask; None if nobody took part.
    person: str | None
    zone: tzinfo


@dataclass(frozen=True, slots=True, kw_only=True)
class PostNudges:
    """Queue the question for each person at ten in the morning of their time zone, about incidents that cleared on
    earlier days.

    It asks once, however often it runs and in however many replicas.
    """

    nudges: NudgeStore
    store: IncidentStore
    channels: ChannelStore
    people: PeopleDirectory
    chat: Chat
    surfaces: Surfaces
    clock: Clock
    # The operator's digest time; its zone applies to channels that set none.
    default: DigestTime
    # What this process knows already by incident id, so that threads are not read on every run.
    _candidates: dict[str, _Candidate] = field(default_factory=dict)

    async def __call__(self) -> int:
        """Return how many people are asked now. Raises StoreUnavailable, ChatUnavailable."""
        now = self.clock.now()
        waiting = [life for life in await self.nudges.list_unasked(now - OPENED_WITHIN) if _may_be_due(life, now)]
        for gone in set(self._candidates) - {life.incident_id for life in waiting}:
            del self._candidates[gone]
        by_person: dict[str, list[NudgedIncident]] = {}
        reads = 0
        for life in waiting:
            if reads >= READS_AT_ONCE or not self._is_worth_checking(life, now):
                continue
            brief = await self._find_brief(life, now)
            if brief is None:
                continue
            reads += 1
            candidate = self._candidates[life.incident_id] = await self._choose_person(life, brief)
            if not is_due(life.cleared_at or now, now, candidate.zone):
                continue
            if candidate.person is None:
                await self.nudges.close(life.incident_id)
            else:
                by_person.setdefault(candidate.person, []).append(await self._build_nudged(life, brief))
        return sum([await self._ask(person, sort_nudges(found), now) for person, found in by_person.items()])

    def _is_worth_checking(self, life: Lifecycle, now: datetime) -> bool:
        """Return whether it is unknown whom to ask, or it is their time."""
        candidate = self._candidates.get(life.incident_id)
        return candidate is None or is_due(life.cleared_at or now, now, candidate.zone)

    async def _find_brief(self, life: Lifecycle, now: datetime) -> PostedBrief | None:
        """Return the incident's brief in a channel that wants nudges about this alert."""
        for brief in await self.store.list_briefs(life.incident_id):
            policy = await self.channels.read_policy(brief.channel, now)
            stopped = any(m.what is MuteTarget.NUDGES and m.value == life.fingerprint for m in policy.mutes)
            if policy.settings.nudges and not stopped and may_speak(await find_channel(self.chat, brief.channel)):
                return brief
        return None

    async def _choose_person(self, life: Lifecycle, brief: PostedBrief) -> _Candidate:
        """Choose whom to ask: the person who acknowledged the alert, else the one who wrote most in the thread."""
        zone = choose_digest_time(await self.channels.read_settings(brief.channel), self.default).zone
        person = await self._find_first(choose_people(life.acknowledged_by, ()), brief)
        person = person or await self._find_first(choose_people(None, await self._list_authors(brief)), brief)
        if person is None:
            return _Candidate(None, zone)
        return _Candidate(person.user_id, (find_zone(person.zone) if person.zone else None) or zone)

    async def _find_first(self, users: Sequence[str], brief: PostedBrief) -> Person | None:
        for user_id in users:
            if person := await self._find_suitable(user_id, brief.channel):
                return person
        return None

    async def _list_authors(self, brief: PostedBrief) -> list[str]:
        """Return who wrote in the incident's thread, oldest message first."""
        return [
            message.user for message in await or_if_refused(self.chat.read_thread(brief.channel, brief.root_ts), ())
        ]

    async def _find_suitable(self, user_id: str, channel_id: str) -> Person | None:
        """Return the person if they may be asked: of this workspace, and still a member of the channel if that is
        private.
        """
        try:
            person = await self.people.read_person(user_id)
            channel = await self.chat.read_channel(channel_id)
            is_there = not channel.is_private or await self.chat.is_member(channel_id, user_id)
        except ChatAuthRejected:
            raise
        except ChatRejected:
            return None
        return None if person.is_bot or person.is_gone or person.is_outsider or not is_there else person

    async def _build_nudged(self, life: Lifecycle, brief: PostedBrief) -> NudgedIncident:
        found = await self.store.find_records([life.incident_id])
        title = found[life.incident_id].title if life.incident_id in found else brief.brief.verdict
        url = await self._find_link(brief)
        best, cleared_at = brief.brief.recommendation, life.cleared_at or life.last_seen_at
        return NudgedIncident(life.incident_id, title, brief.channel, cleared_at, url, best.fix if best else None)

    async def _find_link(self, brief: PostedBrief) -> str | None:
        where = (brief.message_channel, brief.message_ts) if brief.message_ts else (brief.channel, brief.root_ts)
        return await or_if_refused(self.chat.get_permalink(*where), None)

    async def _ask(self, person: str, incidents: tuple[NudgedIncident, ...], now: datetime) -> bool:
        """Queue the message. Somebody to whom Slack lets nobody write is not asked, now or later."""
        names = [one.incident_id for one in incidents]
        direct = await or_if_refused(self.chat.open_direct_message(person), None)
        if direct is None:
            for incident_id in names:
                await self.nudges.close(incident_id)
            return False
        day = now.astimezone(self._candidates[names[0]].zone).date()
        message = self.surfaces.render_nudge(Nudge(person, incidents))
        delivery = build_nudge_id(person, day)
        only = names[0] if len(names) == 1 else None
        extra = {OF_CHANNELS: sorted({one.channel for one in incidents})}
        posting = Posting(Operation.POST, direct, delivery, message.text, message.blocks, incident_id=only, extra=extra)
        changes = Changes(deliveries=(build_outbox_entry(posting, key=delivery),))
        return await self.nudges.claim(person, day, names, changes)


def _may_be_due(life: Lifecycle, now: datetime) -> bool:
    return life.cleared_at is not None and may_be_due(life.cleared_at, now)


@dataclass(frozen=True, slots=True, kw_only=True)
class StopNudges:
    """Stop these questions about an alert in a channel; `/precedent rules` lists that, with Undo."""

    store: IncidentStore
    channels: ChannelStore
    # Raises NotAllowedHere, naming who may.
    require: Callable[[str, Act], Awaitable[None]]
    clock: Clock

    async def __call__(self, incident_id: str, channel_id: str, user_id: str) -> Mute:
        """Return what is stopped from now on; again is fine.

        Raises NotAllowedHere, IncidentNotFound, StoreUnavailable.
        """
        await self.require(user_id, Act.MUTE)
        life, record = await self.store.read_lifecycle(incident_id), await self.store.read_record(incident_id)
        now, title = self.clock.now(), record.title
        mute = Mute(channel_id, MuteTarget.NUDGES, life.fingerprint, title, NO_END, "", user_id, now, incident_id)
        detail = format_change({}, {"no nudges": title})
        await self.channels.add_mute(mute, Changes(audit=(AuditLine(user_id, "stop nudges", channel_id, detail),)))
        return mute
