"""What any store of what persons said must do, whichever database holds it. The bindings are in `test_contracts`."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from bot.adapters.store import Store
from bot.domain.fixes.grouping import FixEquivalence
from bot.domain.incidents.record import Incident
from bot.domain.recall.dismissed import DismissalReason, DismissedPrecedent
from bot.domain.recall.query import Query
from bot.ports.audit import AuditLine
from bot.ports.unit_of_work import Changes
from tests.contracts.channels import audited
from tests.fakes import START

ASIDE = DismissedPrecedent(
    "INC-1", "f1", "決済", "pay", DismissalReason.PLACE, "U1", START, "INC-9", "C1", "private:G1", "note ✗", True
)
SAME = FixEquivalence(True, "restart ✗", "bounce", "INC-1", "INC-2", "U1", START)
NOTE = Changes(audit=(AuditLine("U1", "act", "INC-1", "detail"),), once="once/1")


class SaidContract:
    """Subclasses give `store`."""

    async def test_what_is_set_aside_is_found_by_alert_service_and_channel(self, store: Store) -> None:
        number = await store.feedback.dismiss_precedent(ASIDE, NOTE)
        assert await store.feedback.dismiss_precedent(ASIDE, NOTE) == 0
        kept = replace(ASIDE, number=number)
        for query in (Query("x", fingerprint="f1"), Query("x", service="Pay"), None):
            assert await store.feedback.list_dismissed(query) == (kept,)
        assert await store.feedback.list_dismissed(Query("x", fingerprint="f2", service="search")) == ()
        assert await store.feedback.list_dismissed(Query("x")) == ()
        assert await store.feedback.list_dismissed(channel="C1") == (kept,)
        assert await store.feedback.list_dismissed(channel="C2") == ()
        newer = replace(ASIDE, why=DismissalReason.OUTDATED, by="U2", pinned_off=False)
        other = replace(ASIDE, incident_id="INC-2", title=None, service=None)
        again = [await store.feedback.dismiss_precedent(each, Changes()) for each in (newer, other, other)]
        assert [a.number for a in await store.feedback.list_dismissed()] == [again[0], again[2]]
        assert (await store.feedback.list_dismissed())[0] == replace(newer, number=again[0])

    async def test_taking_back_ends_it_once(self, store: Store) -> None:
        kept = replace(ASIDE, number=await store.feedback.dismiss_precedent(ASIDE, Changes()))
        assert await store.feedback.undo_dismissal(kept, "U2", NOTE)
        assert not await store.feedback.undo_dismissal(kept, "U2", replace(NOTE, once=None))
        assert await store.feedback.list_dismissed() == ()
        assert await audited(store) == 1

    async def test_what_is_said_of_fixes_is_kept_in_order_until_it_is_taken_back(self, store: Store) -> None:
        one = replace(SAME, number=await store.feedback.add_fix_equivalence(SAME, NOTE))
        assert await store.feedback.add_fix_equivalence(SAME, NOTE) == 0
        two = replace(
            SAME, same=False, number=await store.feedback.add_fix_equivalence(replace(SAME, same=False), Changes())
        )
        assert await store.feedback.list_fix_equivalences() == (one, two)
        assert await store.feedback.undo_fix_equivalence(one, "U1", Changes())
        assert not await store.feedback.undo_fix_equivalence(one, "U1", Changes())
        assert await store.feedback.list_fix_equivalences() == (two,)

    async def test_what_was_taken_back_long_ago_is_forgotten(self, store: Store) -> None:
        aside = replace(ASIDE, number=await store.feedback.dismiss_precedent(ASIDE, Changes()))
        said = replace(SAME, number=await store.feedback.add_fix_equivalence(SAME, Changes()))
        await store.feedback.add_fix_equivalence(replace(SAME, same=False), Changes())
        await store.feedback.undo_dismissal(aside, "U2", Changes())
        await store.feedback.undo_fix_equivalence(said, "U2", Changes())
        later = START + timedelta(days=40)
        assert (await store.retention.delete_expired(before=later, audit_before=START)).silences == 2
        assert [each.same for each in await store.feedback.list_fix_equivalences()] == [False]

    async def test_a_purge_takes_along_what_was_said_of_the_incident(self, store: Store) -> None:
        for incident_id, about in (("INC-1", "INC-9"), ("INC-2", "INC-1"), ("INC-3", "INC-9")):
            await store.feedback.dismiss_precedent(replace(ASIDE, incident_id=incident_id, about=about), Changes())
        await store.feedback.add_fix_equivalence(SAME, Changes())
        await store.feedback.add_fix_equivalence(replace(SAME, one_incident="INC-3"), Changes())
        await store.incidents.commit(Changes(records=(Incident("INC-1", "t"),)))
        assert await store.purging.purge("INC-1", (), Changes())
        assert [a.incident_id for a in await store.feedback.list_dismissed()] == ["INC-3"]
        assert [s.one_incident for s in await store.feedback.list_fix_equivalences()] == ["INC-3"]
