"""Put shadow mode around the use cases: what may be read in the shadow channel, what is left out, and the mode's
state.

`bot.domain.operations.shadow` decides where a message goes. Must not post anything itself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta

from bot.domain.alerts.alert import Alert
from bot.domain.alerts.suppression import Disposition, SuppressionDecision
from bot.domain.delivery.ids import build_left_out_id
from bot.domain.delivery.kinds import Operation
from bot.domain.incidents.lifecycle import Lifecycle
from bot.domain.operations.shadow import may_be_shown
from bot.domain.recall.query import OPERATOR
from bot.observability import get_logger
from bot.ports.chat import OF_CHANNELS, Channel, Chat, ChatMessage, Posting, or_if_refused
from bot.ports.clock import Clock
from bot.ports.delivery.inbox import InboxRow
from bot.ports.delivery.outbox import OutboxRow, build_outbox_entry
from bot.ports.errors import ChatAuthRejected, ChatRejected, ChatUnavailable
from bot.ports.incidents import IncidentStore
from bot.ports.nudges import NudgeStore
from bot.ports.posts import PostedBrief
from bot.ports.unit_of_work import Changes

WAIT_S = 60.0
AGAIN_S = 1.0
LOOK_EVERY_S = 30.0
# The maximum age of a channel's facts where they decide who reads something: a storm asks six times a minute.
FRESH_S = 10.0
PRIVATE_PREFIX = "private:"
HEADED_OPERATIONS = frozenset({Operation.POST, Operation.UPDATE})
DIRECT_PREFIX = "D"
# Slack's errors for a shadow channel that was there a moment ago.
LOST_CODES = frozenset({"not_in_channel", "is_archived", "channel_not_found"})
LEFT_OUT = "who reads the shadow channel may not see alerts of this private channel"
log = get_logger("shadow")


def find_problem(channel: Channel) -> str | None:
    """Return a sentence why nothing can be written in a shadow channel; None if it can."""
    if channel.is_shared:
        return "it is shared with another organisation; choose a channel of your own"
    if channel.is_archived:
        return "it is archived; unarchive it and invite the bot, or choose another channel"
    return None if channel.is_joined else "the bot is not in it; invite it: /invite @Precedent"


async def find_shadow_channel(chat: Chat, shadow: str) -> tuple[Channel | None, str | None]:
    """Return the shadow channel, and what is wrong with it. Raises ChatAuthRejected, ChatUnavailable."""
    try:
        channel = await chat.read_channel(shadow, within_s=FRESH_S)
    except ChatAuthRejected:
        raise
    except ChatRejected as refused:
        return None, str(refused)
    return channel, find_problem(channel)


@dataclass(frozen=True, slots=True)
class FindShadowed:
    """Find the brief that is shown in a shadow channel instead of its own."""

    store: IncidentStore

    async def __call__(self, incident_id: str, shadow_channel: str, pressed: Collection[str]) -> PostedBrief | None:
        """Return it, where several are shown there the one whose message is among the `pressed`. Raises
        StoreUnavailable."""
        briefs = await self.store.list_briefs(incident_id)
        shown = [b for b in briefs if b.shadow == shadow_channel != b.channel]
        return min(shown, key=lambda b: b.message_ts not in pressed, default=None)


@dataclass(frozen=True, slots=True)
class ShowInShadow:
    """Check a message once more before it goes to a shadow channel: may its readers see this? Say which channel it is
    from.
    """

    chat: Chat
    # The shadow channel of the current mode; None if the mode is off.
    shadow: str | None
    # Puts channel and link above the message.
    head: Callable[[Posting, str, str | None], Posting]

    async def __call__(self, row: OutboxRow, posting: Posting) -> Posting | None:
        """Return the message to send; None if the channel's readers may not see it.

        Raises ChatUnavailable while the shadow channel cannot be written to: what is queued for it waits.
        """
        place, origin = row.place or row.target_place, str(row.entry.payload.get("channel") or "")
        if place is None or posting.operation not in (*HEADED_OPERATIONS, Operation.UPLOAD):
            return posting
        there = await self._find_channel(place.channel)
        if not await self._may_be_read(row, origin, there):
            return None
        in_thread = row.under_result if row.place else place.under
        if in_thread or posting.operation not in HEADED_OPERATIONS:
            return posting
        link = await or_if_refused(self.chat.get_permalink(origin, place.root_ts), None) if place.root_ts else None
        return self.head(posting, origin, link)

    async def _may_be_read(self, row: OutboxRow, origin: str, there: Channel) -> bool:
        """Return whether the channel's readers may see the row.

        A direct message is about the channels that it names; one that names none could be about any. An edit of one
        says nothing new.
        """
        origins: Sequence[str] = (origin,)
        if origin.startswith(DIRECT_PREFIX):
            origins = (row.entry.payload.get("extra") or {}).get(OF_CHANNELS) or ()
            if not origins:
                return row.entry.operation != Operation.POST
        for channel_id in origins:
            here = await or_if_refused(self.chat.read_channel(channel_id, within_s=FRESH_S), None)
            if here is None or not may_be_shown(there.viewer, here.viewer):
                return False
        return True

    async def _find_channel(self, shadow: str) -> Channel:
        channel, problem = await find_shadow_channel(self.chat, shadow)
        if channel is not None and problem is None:
            return channel
        if shadow == self.shadow:
            raise _build_unavailable(shadow, str(problem))
        raise ChatRejected(f"The shadow channel {shadow} cannot be written to: {problem}", "old_shadow_channel")

    def translate_failure(self, row: OutboxRow, problem: BaseException) -> BaseException:
        """Return the error that a failed delivery stands for.

        If the current shadow channel was lost since it was checked, the row waits for it like all others.
        """
        place = row.place or row.target_place
        if place and place.channel == self.shadow and isinstance(problem, ChatRejected) and problem.code in LOST_CODES:
            return _build_unavailable(place.channel, str(problem))
        return problem


def _build_unavailable(shadow: str, problem: str) -> ChatUnavailable:
    sentence = f"The shadow channel {shadow} cannot be written to: {problem.rstrip('.')}."
    return ChatUnavailable(f"{sentence} What is owed there waits; mend it, or set another SHADOW_CHANNEL.", WAIT_S)


async def is_hidden(chat: Chat, shadow: Channel, visibility: str, *, within_s: float | None = FRESH_S) -> bool:
    """Return whether incidents of this visibility must not be shown in the shadow channel. Raises ChatUnavailable."""
    if not visibility.startswith(PRIVATE_PREFIX):
        return False
    here = await or_if_refused(chat.read_channel(visibility.removeprefix(PRIVATE_PREFIX), within_s=within_s), None)
    return here is None or not may_be_shown(shadow.viewer, here.viewer)


Admit = Callable[[InboxRow, Channel, Alert, datetime], Awaitable[SuppressionDecision]]


@dataclass(frozen=True, slots=True)
class AdmitInShadow:
    """Admit alerts by their channel's rules, but mention nobody in the shadow channel.

    An alert of a private channel that must not be shown there is counted, and gets no brief.
    """

    admit: Admit
    chat: Chat
    shadow: str

    async def __call__(self, row: InboxRow, channel: Channel, alert: Alert, at: datetime) -> SuppressionDecision:
        """See `AdmitAlert`.

        Raises StoreUnavailable; ChatUnavailable also if the channel's audience changed while its alert was being
        read: the alert is read again then.
        """
        admission = replace(await self.admit(row, channel, alert, at), tell=None)
        if admission.outcome is not Disposition.ANSWER:
            return admission
        now = await or_if_refused(self.chat.read_channel(channel.id, within_s=FRESH_S), channel)
        if (now.visibility, now.is_silent) != (channel.visibility, channel.is_silent):
            raise ChatUnavailable("Who reads this channel changed just now: its alert is read anew.", AGAIN_S)
        there = await or_if_refused(self.chat.read_channel(self.shadow, within_s=FRESH_S), Channel(self.shadow))
        if await is_hidden(self.chat, there, channel.visibility):
            return SuppressionDecision(Disposition.COUNT_ONLY, LEFT_OUT)
        return admission


@dataclass(frozen=True, slots=True)
class NudgesInShadow:
    """Implement the nudge store without incidents that must not be shown in the shadow channel: they wait for the
    mode's end.
    """

    nudges: NudgeStore
    chat: Chat
    shadow: str

    async def list_unasked(self, since: datetime) -> tuple[Lifecycle, ...]:
        """See the port. Raises ChatUnavailable, too."""
        there = await or_if_refused(self.chat.read_channel(self.shadow, within_s=FRESH_S), None)
        found = await self.nudges.list_unasked(since) if there else ()
        return tuple([life for life in found if there and not await is_hidden(self.chat, there, life.visibility)])

    async def claim(self, person: str, day: date, incident_ids: Sequence[str], changes: Changes) -> bool:
        """See the port."""
        return await self.nudges.claim(person, day, incident_ids, changes)

    async def close(self, incident_id: str) -> None:
        """See the port."""
        await self.nudges.close(incident_id)


@dataclass(slots=True, kw_only=True)
class ReportLeftOut:
    """Say in the shadow channel how many alerts of private channels were left out today (UTC): one line a day,
    edited.
    """

    store: IncidentStore
    chat: Chat
    clock: Clock
    shadow: str
    render: Callable[[int], ChatMessage]
    _told: tuple[date, int] | None = field(default=None)

    async def __call__(self) -> float:
        """Look once, and return the seconds until the next look. Raises StoreUnavailable, ChatUnavailable."""
        there, problem = await find_shadow_channel(self.chat, self.shadow)
        if there is None or problem:
            return LOOK_EVERY_S
        now = self.clock.now()
        since = now.replace(hour=0, minute=0, second=0, microsecond=0)
        lives = await self.store.list_lifecycles(since, now + timedelta(seconds=1), OPERATOR)
        hidden = {v: await is_hidden(self.chat, there, v, within_s=None) for v in {life.visibility for life in lives}}
        count = sum(hidden[life.visibility] for life in lives)
        if count and self._told != (since.date(), count):
            message, name = self.render(count), build_left_out_id(self.shadow, since.date())
            posting = Posting(Operation.POST, self.shadow, name, message.text, message.blocks)
            await self.store.commit(Changes(deliveries=(build_outbox_entry(posting, key=name, replaces=True),)))
            self._told = (since.date(), count)
        return LOOK_EVERY_S


async def describe_mode(chat: Chat, shadow: str) -> tuple[bool, str]:
    """Return whether shadow mode can work, and its state in words for people. Never raises because of Slack."""
    try:
        channel, problem = await find_shadow_channel(chat, shadow)
    except (ChatAuthRejected, ChatUnavailable) as down:
        return False, f"on, channel {shadow}: {down}"
    if problem or channel is None:
        return False, f"on, but channel {shadow} cannot be written to: {problem}. What is owed there waits"
    return True, f"on: all that I would say by myself goes to #{channel.name or shadow}, nothing to alert channels"


async def log_mode(chat: Chat, shadow: str) -> None:
    """Log that the mode is on, and as an error what keeps it from working."""
    fine, text = await describe_mode(chat, shadow)
    (log.warning if fine else log.error)("shadow mode", state=text)
