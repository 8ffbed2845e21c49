"""Stand-ins for what is outside, each held to the same contract tests as the real thing. Must not be smarter than it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from bot.domain.access.visibility import Viewer
from bot.domain.delivery.kinds import Operation
from bot.domain.incidents.record import Incident
from bot.domain.recall.query import OPERATOR, Query
from bot.domain.text.tokens import tokenize
from bot.ports.channels import ChannelStore
from bot.ports.chat import BotIdentity, Channel, Posting, ThreadMessage
from bot.ports.errors import ChatRejected, MemoryUnavailable
from bot.ports.memory import BankHit

START = datetime(2026, 11, 23, 8, 0, tzinfo=UTC)


@dataclass
class FakeClock:
    """A clock that moves when it is told to."""

    at: datetime = START

    def now(self) -> datetime:
        return self.at

    def move(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)


@dataclass
class FakeIds:
    """Tokens that count."""

    given: int = 0

    def new(self) -> str:
        self.given += 1
        return f"token{self.given}"


@dataclass
class FakeMemoryBank:
    """A bank in memory: more shared words are nearer. `down` makes it unreachable."""

    kept: dict[str, Incident] = field(default_factory=dict)
    down: bool = False

    async def retain(self, incident: Incident) -> None:
        self._reach()
        self.kept[incident.incident_id] = incident

    async def retract(self, incident_id: str) -> None:
        self._reach()
        self.kept.pop(incident_id, None)

    async def recall(self, query: Query, limit: int, viewer: Viewer = OPERATOR) -> tuple[BankHit, ...]:
        self._reach()
        asked = set(tokenize(query.text))
        seen = {i: r for i, r in self.kept.items() if viewer.may_see(r.source.visibility) and i not in query.exclude}
        shared = {i: len(asked & self._words(record)) for i, record in seen.items()}
        best = sorted((i for i, n in shared.items() if n), key=lambda i: (-shared[i], i))
        return tuple(BankHit(i, self.kept[i]) for i in best[:limit])

    def _reach(self) -> None:
        if self.down:
            raise MemoryUnavailable("The memory bank cannot be reached; start it.")

    @staticmethod
    def _words(record: Incident) -> set[str]:
        return set(tokenize(" ".join((record.title, *record.symptoms))))


@dataclass(kw_only=True)
class FakeChat:
    """A Slack that takes everything, or fails as told. Every channel is public unless `channels` says otherwise."""

    clock: Callable[[], datetime] = lambda: START
    posted: list[tuple[datetime, Posting]] = field(default_factory=list)
    # Raised one by one, before anything is posted.
    problems: list[Exception] = field(default_factory=list)
    # Raised one by one, after it was posted.
    lost: list[Exception] = field(default_factory=list)
    looked: int = 0
    there: dict[str, str] = field(default_factory=dict)
    channels: dict[str, Channel] = field(default_factory=dict)
    policies: ChannelStore | None = None
    # Channels that the bot cannot see.
    gone: set[str] = field(default_factory=set)
    # Who is in a channel; everybody where it is not named.
    members: dict[str, frozenset[str]] = field(default_factory=dict)
    threads: dict[tuple[str, str], tuple[ThreadMessage, ...]] = field(default_factory=dict)

    @property
    def delivered(self) -> list[Posting]:
        return [posting for _, posting in self.posted]

    async def deliver(self, posting: Posting) -> str | None:
        if self.problems:
            raise self.problems.pop(0)
        self.posted.append((self.clock(), posting))
        ts = posting.ts or f"{1_700_000_000 + len(self.posted)}.000100"
        if posting.operation == Operation.POST:
            self.there[posting.delivery_id] = ts
        if self.lost:
            raise self.lost.pop(0)
        return ts

    async def find_delivered(self, posting: Posting) -> str | None:
        self.looked += 1
        return self.there.get(posting.delivery_id)

    async def read_channel(self, channel_id: str, *, within_s: float | None = None) -> Channel:
        if channel_id in self.gone:
            raise ChatRejected("The bot cannot see this channel.", "channel_not_found")
        found = self.channels.get(channel_id, Channel(channel_id))
        if self.policies and found.is_shared:
            return replace(found, is_allowed=(await self.policies.read_settings(channel_id)).shared)
        if self.policies and found.is_private:
            return replace(found, pools=await self.policies.list_pool(channel_id))
        return found

    async def is_member(self, channel_id: str, user_id: str) -> bool:
        return channel_id not in self.members or user_id in self.members[channel_id]

    async def get_permalink(self, channel_id: str, ts: str) -> str | None:
        return f"https://team.slack.example/archives/{channel_id}/p{ts.replace('.', '')}"

    async def read_thread(self, channel_id: str, root_ts: str) -> tuple[ThreadMessage, ...]:
        return self.threads.get((channel_id, root_ts), ())

    async def read_message(self, channel_id: str, ts: str) -> ThreadMessage | None:
        found = (m for (c, _), rows in self.threads.items() for m in rows if (c, m.ts) == (channel_id, ts))
        return next(found, None)

    async def open_direct_message(self, user_id: str) -> str:
        return f"D{user_id}"

    async def fetch_identity(self) -> BotIdentity:
        return BotIdentity("UBOT", "BBOT")
