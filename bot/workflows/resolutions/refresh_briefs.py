"""A record was corrected, retracted or purged: the briefs that used it are computed anew, and their threads are told.

Must not change any record. Every thread is told once, however often this is worked on.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import timedelta

from bot.domain.access.visibility import Viewer, scopes
from bot.domain.brief.decide import Brief, same_advice, with_evidence
from bot.domain.incidents.lifecycle import IncidentState, Life
from bot.domain.incidents.opening import view_of
from bot.domain.recall.dismissed import SET_ASIDE, TAKEN_BACK
from bot.ports import IncidentNotFound
from bot.ports.chat import Chat, Message, Posting, Surfaces
from bot.ports.clock import Clock
from bot.ports.parts import brief_edit, owed, unless_refused
from bot.ports.unit_of_work import Changes, InboxRow, IncidentStore, Owed, PostedBrief

PURGED = "purged"
# What concerns one kind of alert only: other briefs that speak of the same incident are left as they are.
ASIDES = frozenset({SET_ASIDE, TAKEN_BACK})
YOUNG = timedelta(days=1)
OUTDATED = "Superseded by a newer brief below. "


@dataclass(frozen=True, slots=True)
class Correction:
    """What happened to a record: "corrected", "retracted" or "purged", by whom. `key` names this very act."""

    incident_id: str
    what: str
    by: str
    key: str


@dataclass(frozen=True, slots=True)
class TellThreads:
    """Work on one correction. `preview` is `PreviewBrief`; `compact` overwrites what a purge deleted; without a `chat`
    (on the command line) a brief is computed with what its incident's own visibility shows."""

    store: IncidentStore
    preview: Callable[..., Awaitable[Brief]]
    surfaces: Surfaces
    clock: Clock
    compact: Callable[[], Awaitable[None]]
    chat: Chat | None = None

    async def __call__(self, row: InboxRow) -> None:
        """Work an inbox row off. Raises StoreUnavailable (StoreConflict: take it again), ChatUnavailable."""
        names = ("incident_id", "what", "by", "key")
        await self.tell(Correction(**{name: str(row.body[name]) for name in names}))
        await self.store.commit(Changes(done=row))

    async def tell(self, said: Correction) -> None:
        """Compute anew and tell; after a purge however old the briefs are, and nothing of it stays in the files."""
        since = None if said.what == PURGED else self.clock.now() - YOUNG
        for posted in await self.store.briefs_using(said.incident_id, since):
            await self._one(posted, said)
        if said.what == PURGED:
            await self.compact()

    async def _one(self, posted: PostedBrief, said: Correction) -> None:
        life = await self._life(posted.incident_id)
        fresh = await self._anew(posted, life, said)
        if fresh == posted.brief or (said.what in ASIDES and fresh.set_aside == posted.brief.set_aside):
            return
        same = same_advice(fresh, posted.brief)
        is_open = life is not None and life.state is IncidentState.OPEN
        if is_open and not same and fresh.recommendation and said.what != PURGED:
            newer = replace(posted, brief=fresh, delivery_id=f"{posted.delivery_id}+{said.key}", message_ts=None)
            due = self._supersede(posted, newer)
        else:
            newer = replace(posted, brief=fresh)
            due = (self._edit(newer), *(self._outdated(posted, said) if said.what == PURGED else ()))
        if _used(posted.brief, said.incident_id):
            due = (self._line(posted, said, same=same), *due)
        lives = (life,) if life else ()
        once = f"retell/{said.key}/{posted.incident_id}/{posted.channel}"
        await self.store.commit(Changes(lives=lives, briefs=(newer,), owed=due, once=once))

    async def _life(self, incident_id: str) -> Life | None:
        try:
            return await self.store.life(incident_id)
        except IncidentNotFound:
            return None

    async def _anew(self, posted: PostedBrief, life: Life | None, said: Correction) -> Brief:
        old = posted.brief
        viewer = await self._viewer(posted.channel, life)
        incident = view_of(life) if life else old.incident
        at = old.now or self.clock.now()
        fresh = await self.preview(old.alert, viewer, at, incident=incident, history=old.history)
        fresh = with_evidence(fresh, old.evidence, old.evidence_at)
        same = old.same_outage
        gone = same is not None and same.incident_id == said.incident_id and said.what == PURGED
        return replace(fresh, same_outage=None if gone else same)

    async def _viewer(self, channel_id: str, life: Life | None) -> Viewer:
        """Who reads the thread now; nobody but the public where that cannot be known."""
        if self.chat:
            channel = await unless_refused(self.chat.channel(channel_id), None)
            return channel.viewer if channel else Viewer()
        return Viewer(scopes(life.visibility, ())) if life else Viewer()

    def _line(self, posted: PostedBrief, said: Correction, *, same: bool) -> Owed:
        message = self.surfaces.corrected(said.incident_id, said.what, same_advice=same)
        posting = _posting("post", posted, f"{said.key}/{posted.incident_id}/{posted.channel}", message)
        return owed(replace(posting, thread_ts=posted.root_ts), key=_key(posted), urgent=True)

    def _edit(self, posted: PostedBrief) -> Owed:
        return brief_edit(posted, self.surfaces.brief(posted.brief))

    def _supersede(self, old: PostedBrief, newer: PostedBrief) -> tuple[Owed, ...]:
        reply = _posting("post", newer, newer.delivery_id, self.surfaces.superseded(newer.brief))
        outdated = replace(old.brief, verdict=f"{OUTDATED}{old.brief.verdict}"[:140])
        return owed(replace(reply, thread_ts=newer.root_ts), key=_key(newer)), self._edit(replace(old, brief=outdated))

    def _outdated(self, posted: PostedBrief, said: Correction) -> tuple[Owed, ...]:
        """The messages that the brief superseded earlier say nothing any more: they may quote what was purged."""
        parts = posted.delivery_id.split("+")
        names = ["+".join(parts[: n + 1]) for n in range(len(parts) - 1)]
        message = self.surfaces.corrected(said.incident_id, said.what, same_advice=False)
        return tuple(
            owed(_posting("update", posted, f"{name}/edit", message), key=_key(posted), replaces=True, target=name)
            for name in names
        )


def _used(brief: Brief, incident_id: str) -> bool:
    """Whether the brief counted this record."""
    return any(source.incident_id == incident_id for source in brief.sources)


def _key(posted: PostedBrief) -> str:
    return f"{posted.channel}/{posted.incident_id}"


def _posting(operation: str, posted: PostedBrief, delivery: str, message: Message) -> Posting:
    return Posting(operation, posted.channel, delivery, message.text, message.blocks, incident_id=posted.incident_id)
