"""Let a person say which wordings are one fix and which are not; briefs count accordingly.

Must not compare wordings itself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from bot.domain.access.roles import Act
from bot.domain.access.visibility import Viewer
from bot.domain.delivery.ids import build_correction_key
from bot.domain.fixes.grouping import FixEquivalence, FixPair, Wording, choose_pairs, list_wordings
from bot.domain.fixes.steps import normalize_fix
from bot.domain.incidents.record import Incident
from bot.domain.recall.query import OPERATOR
from bot.ports.audit import AuditLine, format_change
from bot.ports.clock import Clock
from bot.ports.delivery.inbox import ReceivedEvent
from bot.ports.errors import NotAllowedHere, RecordRejected
from bot.ports.feedback import FeedbackStore
from bot.ports.incidents import IncidentStore
from bot.ports.unit_of_work import Changes

KIND = "corrected"
FILED = "filed with other fixes by a person"
SAME_WORDING = "These two are worded the same, so they are one fix."
May = Callable[[str, Act, Incident | None], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupFixes:
    """Store what people say about fixes."""

    store: IncidentStore
    feedback: FeedbackStore
    # Raises NotAllowedHere for anybody who is neither author nor steward.
    may: May
    clock: Clock

    async def list_pairs(self, incident_ids: Sequence[str], viewer: Viewer, user_id: str) -> tuple[FixPair, ...]:
        """Return the pairs of fixes of these incidents that this person may judge. Raises StoreUnavailable."""
        found = await self.store.find_records(tuple(incident_ids))
        visible = [found[i] for i in incident_ids if i in found and viewer.may_see(found[i].source.visibility)]
        pairs = choose_pairs(visible, await self.feedback.list_fix_equivalences())
        return tuple([pair for pair in pairs if await self._is_allowed(user_id, pair)])

    async def list_wordings(self) -> tuple[Wording, ...]:
        """Return every wording of a fix in memory, for the operator. Raises StoreUnavailable."""
        return list_wordings(await self.store.list_records(OPERATOR, recallable_only=True))

    async def list_equivalences(self) -> tuple[FixEquivalence, ...]:
        """Return the judgements in force, oldest first. Raises StoreUnavailable."""
        return await self.feedback.list_fix_equivalences()

    async def __call__(self, pair: FixPair, user_id: str, once: str) -> FixEquivalence:
        """Store that the two are one fix (`pair.same`) or two, and queue an update of the threads whose brief it
        changes.

        `once` names the press of the button. Raises NotAllowedHere, RecordRejected, IncidentNotFound,
        StoreUnavailable: nothing was saved then.
        """
        one, other = pair.one, pair.other
        await self._require(user_id, pair)
        equivalence = FixEquivalence(
            pair.same, one.fix, other.fix, one.incident_id, other.incident_id, user_id, self.clock.now()
        )
        if normalize_fix(one.fix) == normalize_fix(other.fix):
            raise RecordRejected("", SAME_WORDING)
        after = {"fixes": "one" if pair.same else "two", "with": other.incident_id}
        events = tuple(_build_work(i, user_id, once) for i in dict.fromkeys((one.incident_id, other.incident_id)))
        audit = (AuditLine(user_id, "file fixes", one.incident_id, format_change({}, after)),)
        changes = Changes(once=f"fixes/{once}", audit=audit, received=events)
        return replace(equivalence, number=await self.feedback.add_fix_equivalence(equivalence, changes))

    async def take_back(self, number: int, user_id: str) -> bool:
        """End a judgement; return False if none in force has this number. Raises NotAllowedHere, StoreUnavailable."""
        equivalence = next((each for each in await self.list_equivalences() if each.number == number), None)
        if equivalence is None:
            return False
        pair = FixPair(
            Wording(equivalence.one, equivalence.one_incident),
            Wording(equivalence.other, equivalence.other_incident),
            equivalence.same,
        )
        await self._require(user_id, pair)
        before = {"fixes": "one" if equivalence.same else "two", "with": equivalence.other_incident}
        audit = (AuditLine(user_id, "undo file fixes", equivalence.one_incident, format_change(before, {})),)
        events = tuple(
            _build_work(i, user_id, f"undo/{number}")
            for i in dict.fromkeys((equivalence.one_incident, equivalence.other_incident))
        )
        return await self.feedback.undo_fix_equivalence(equivalence, user_id, Changes(audit=audit, received=events))

    async def _require(self, user_id: str, pair: FixPair) -> None:
        """Require the author of either record, or a steward."""
        found = await self.store.find_records((pair.one.incident_id, pair.other.incident_id))
        try:
            await self.may(user_id, Act.FILE, found.get(pair.one.incident_id))
        except NotAllowedHere:
            await self.may(user_id, Act.FILE, found.get(pair.other.incident_id))

    async def _is_allowed(self, user_id: str, pair: FixPair) -> bool:
        try:
            await self._require(user_id, pair)
        except NotAllowedHere:
            return False
        return True


def _build_work(incident_id: str, by: str, once: str) -> ReceivedEvent:
    """Build the inbox event that updates the threads that used the record."""
    key = build_correction_key("filed", incident_id, once)
    body = {"what": FILED, "incident_id": incident_id, "by": by, "key": key}
    return ReceivedEvent(key, key, KIND, body, order_key=f"{KIND}/{incident_id}")
