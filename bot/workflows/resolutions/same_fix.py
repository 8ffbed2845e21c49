"""A person says which wordings are one fix and which are not; briefs count accordingly. Must not compare wordings itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from bot.domain.access.roles import Act
from bot.domain.access.visibility import Viewer
from bot.domain.fixes.grouping import FixesSaid, FixPair, Wording, pairs_to_ask, wordings_in
from bot.domain.fixes.steps import fix_form
from bot.domain.incidents.record import Incident
from bot.domain.recall.query import OPERATOR
from bot.ports import NotAllowedHere, RecordRejected
from bot.ports.audit import changed
from bot.ports.clock import Clock
from bot.ports.feedback import SaidStore
from bot.ports.unit_of_work import Changes, IncidentStore, Received

KIND = "corrected"
FILED = "filed with other fixes by a person"
SAME_WORDING = "These two are worded the same, so they are one fix."
May = Callable[[str, Act, Incident | None], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class SayFixes:
    """Keep what persons say of fixes. `may` raises NotAllowedHere for who is neither author nor steward."""

    store: IncidentStore
    said: SaidStore
    may: May
    clock: Clock

    async def pairs(self, incident_ids: Sequence[str], viewer: Viewer, user_id: str) -> tuple[FixPair, ...]:
        """The pairs of fixes of these incidents that this person may say something of. Raises StoreUnavailable."""
        found = await self.store.find(tuple(incident_ids))
        seen = [found[i] for i in incident_ids if i in found and viewer.may_see(found[i].source.visibility)]
        pairs = pairs_to_ask(seen, await self.said.fixes_said())
        return tuple([pair for pair in pairs if await self._allowed(user_id, pair)])

    async def wordings(self) -> tuple[Wording, ...]:
        """Every wording of a fix in memory, for the operator. Raises StoreUnavailable."""
        return wordings_in(await self.store.records(OPERATOR, recallable_only=True))

    async def listed(self) -> tuple[FixesSaid, ...]:
        """What was said and holds, oldest first. Raises StoreUnavailable."""
        return await self.said.fixes_said()

    async def __call__(self, pair: FixPair, user_id: str, once: str) -> FixesSaid:
        """Say that the two are one fix (`pair.same`) or two; threads whose brief it changes are told. `once` names the
        press. Raises NotAllowedHere, RecordRejected, IncidentNotFound, StoreUnavailable: then nothing was saved."""
        one, other = pair.one, pair.other
        await self._require(user_id, pair)
        said = FixesSaid(pair.same, one.fix, other.fix, one.incident_id, other.incident_id, user_id, self.clock.now())
        if fix_form(one.fix) == fix_form(other.fix):
            raise RecordRejected("", SAME_WORDING)
        after = {"fixes": "one" if pair.same else "two", "with": other.incident_id}
        work = tuple(_work(i, user_id, once) for i in dict.fromkeys((one.incident_id, other.incident_id)))
        audit = ((user_id, "file fixes", one.incident_id, changed({}, after)),)
        changes = Changes(once=f"fixes/{once}", audit=audit, received=work)
        return replace(said, number=await self.said.say_fixes(said, changes))

    async def take_back(self, number: int, user_id: str) -> bool:
        """End what was said; False where nothing of this number holds. Raises NotAllowedHere, StoreUnavailable."""
        said = next((each for each in await self.listed() if each.number == number), None)
        if said is None:
            return False
        pair = FixPair(Wording(said.one, said.one_incident), Wording(said.other, said.other_incident), said.same)
        await self._require(user_id, pair)
        before = {"fixes": "one" if said.same else "two", "with": said.other_incident}
        audit = ((user_id, "undo file fixes", said.one_incident, changed(before, {})),)
        work = tuple(
            _work(i, user_id, f"undo/{number}") for i in dict.fromkeys((said.one_incident, said.other_incident))
        )
        return await self.said.take_back_fixes(said, user_id, Changes(audit=audit, received=work))

    async def _require(self, user_id: str, pair: FixPair) -> None:
        """The author of either, or a steward."""
        found = await self.store.find((pair.one.incident_id, pair.other.incident_id))
        try:
            await self.may(user_id, Act.FILE, found.get(pair.one.incident_id))
        except NotAllowedHere:
            await self.may(user_id, Act.FILE, found.get(pair.other.incident_id))

    async def _allowed(self, user_id: str, pair: FixPair) -> bool:
        try:
            await self._require(user_id, pair)
        except NotAllowedHere:
            return False
        return True


def _work(incident_id: str, by: str, once: str) -> Received:
    """The telling of the threads that used it."""
    key = f"{KIND}/filed/{incident_id}/{once}"
    body = {"what": FILED, "incident_id": incident_id, "by": by, "key": key}
    return Received(key, key, KIND, body, order_key=f"{KIND}/{incident_id}")
