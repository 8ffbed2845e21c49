from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest

from bot.adapters.store import Store, open_store
from bot.domain.access.visibility import Viewer
from bot.domain.incidents.record import Announcement, Attempt, Incident, Source, VerificationStatus
from bot.domain.recall.query import OPERATOR, KnownNames, Query
from bot.domain.recall.ranking import Candidate, Tier
from bot.ports.errors import StoreUnavailable
from bot.ports.memory import BankHit
from bot.ports.unit_of_work import Changes
from bot.workflows.recall.recall import LookUpPrecedents, RecallPrecedents
from tests.databases import fresh
from tests.fakes import START, FakeClock, FakeIds, FakeMemoryBank

PUBLIC = Viewer()
GATEWAY = Incident(
    "INC-1",
    "Payment gateway timeouts",
    service="payments-api",
    vendor="razorpay",
    symptoms=("gateway answers 504",),
    started_at=START,
    attempts=(Attempt("failover", VerificationStatus.VERIFIED),),
    alerts=(Announcement("fp-1"),),
)
DISK = Incident("INC-2", "Disk full on orders-db", service="orders-db", symptoms=("no space left on device",))
ASKED = Query("payment gateway timeouts 504", fingerprint="fp-1")


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await open_store(fresh(tmp_path / "test.db"), FakeClock(), FakeIds())
    await store.incidents.commit(Changes(records=(GATEWAY, DISK), recallable=frozenset({"INC-1", "INC-2"})))
    yield store
    await store.close()


class IndexDown:
    """An index whose store cannot be read."""

    async def find_candidates(self, query: Query, viewer: Viewer, limit: int = 50) -> tuple[Candidate, ...]:
        raise StoreUnavailable("The disk is gone.")

    async def score_records(self, query: Query, viewer: Viewer, incident_ids: tuple[str, ...]) -> tuple[Candidate, ...]:
        raise StoreUnavailable("The disk is gone.")

    async def count_records(self, viewer: Viewer) -> int:
        raise StoreUnavailable("The disk is gone.")

    async def list_known_names(self) -> KnownNames:
        raise StoreUnavailable("The disk is gone.")


@dataclass
class SlowBank(FakeMemoryBank):
    """A bank that answers too late."""

    async def recall(self, query: Query, limit: int, viewer: Viewer = OPERATOR) -> tuple[BankHit, ...]:
        await asyncio.sleep(30)
        return ()


async def test_the_index_alone_answers(store: Store) -> None:
    recalled = await RecallPrecedents(index=store.index).precedents(ASKED, PUBLIC)
    assert recalled.precedents[0].incident == GATEWAY
    assert recalled.precedents[0].tier is Tier.STRONG
    assert (recalled.known, recalled.missing) == (2, ())


async def test_the_alerts_own_incident_is_left_out(store: Store) -> None:
    recalled = await RecallPrecedents(index=store.index).precedents(
        replace(ASKED, exclude=frozenset({"INC-1"})), PUBLIC
    )
    assert "INC-1" not in [p.incident.incident_id for p in recalled.precedents]


async def test_a_bank_that_is_down_or_slow_costs_only_a_note(store: Store) -> None:
    for bank, word in ((FakeMemoryBank(down=True), "cannot be reached"), (SlowBank(), "did not answer within 0.05 s")):
        recalled = await RecallPrecedents(index=store.index, bank=bank, deadline_s=0.05).precedents(ASKED, PUBLIC)
        assert recalled.precedents[0].incident == GATEWAY
        (missing,) = recalled.missing
        assert missing.what == "memory"
        assert word in missing.reason


async def test_what_a_bank_finds_is_scored_like_the_rest_and_comes_once(store: Store) -> None:
    bank = FakeMemoryBank()
    for record in (GATEWAY, replace(DISK, title="payment gateway timeouts, says the bank")):
        await bank.retain(record)
    recalled = await RecallPrecedents(index=store.index, bank=bank).precedents(ASKED, PUBLIC)
    assert [p.incident.incident_id for p in recalled.precedents] == ["INC-1", "INC-2"]
    assert recalled.precedents[1].incident == DISK
    assert recalled.precedents[1].tier is Tier.NONE


async def test_a_record_that_only_the_bank_knows_is_unverified(store: Store) -> None:
    bank = FakeMemoryBank()
    await bank.retain(replace(GATEWAY, incident_id="OTHER-1"))
    await bank.retain(replace(GATEWAY, incident_id="OTHER-2", source=Source(visibility="private:G1")))
    recalled = await RecallPrecedents(index=store.index, bank=bank).precedents(ASKED, PUBLIC)
    foreign = {p.incident.incident_id: p.incident for p in recalled.precedents if p.incident.incident_id != "INC-1"}
    assert list(foreign) == ["OTHER-1"]
    assert [a.status for a in foreign["OTHER-1"].attempts] == [VerificationStatus.UNVERIFIED]


async def test_with_the_store_down_the_bank_still_answers() -> None:
    bank = FakeMemoryBank()
    await bank.retain(GATEWAY)
    recalled = await RecallPrecedents(index=IndexDown(), bank=bank).precedents(ASKED, PUBLIC)
    assert [p.incident.incident_id for p in recalled.precedents] == ["INC-1"]
    assert recalled.missing[0].reason == "The disk is gone."


@pytest.mark.parametrize("bank", [None, FakeMemoryBank(down=True), FakeMemoryBank()])
async def test_when_nothing_can_be_asked_it_says_so(bank: FakeMemoryBank | None) -> None:
    with pytest.raises(StoreUnavailable):
        await RecallPrecedents(index=IndexDown(), bank=bank).precedents(ASKED, PUBLIC)


async def test_looking_up_recognises_names_and_keeps_filters(store: Store) -> None:
    look_up = LookUpPrecedents(RecallPrecedents(index=store.index), store.index)
    query, recalled = await look_up("razorpay gateway 504 again", OPERATOR, limit=1)
    assert (query.vendor, query.service) == ("razorpay", None)
    assert [p.incident.incident_id for p in recalled.precedents] == ["INC-1"]
    query, _ = await look_up("gateway", OPERATOR, vendor="v", service="s", region="r")
    assert (query.vendor, query.service, query.region) == ("v", "s", "r")


async def test_looking_up_since(store: Store) -> None:
    look_up = LookUpPrecedents(RecallPrecedents(index=store.index), store.index)
    asked = "payment gateway disk"
    for since, expected in ((START, ["INC-1"]), (START + timedelta(days=1), [])):
        _, recalled = await look_up(asked, OPERATOR, since=since)
        assert [p.incident.incident_id for p in recalled.precedents] == expected


async def test_what_the_store_forgot_or_hides_does_not_come_back_through_the_bank(store: Store) -> None:
    bank = FakeMemoryBank()
    secret = replace(GATEWAY, incident_id="INC-3", source=Source(visibility="private:G1"))
    await store.incidents.commit(
        Changes(records=(secret,), recallable=frozenset({"INC-3"}), retracted=("INC-1",)),
    )
    await bank.retain(GATEWAY)
    await bank.retain(replace(secret, source=Source()))
    recalled = await RecallPrecedents(index=store.index, bank=bank, store=store.incidents).precedents(ASKED, PUBLIC)
    assert {p.incident.incident_id for p in recalled.precedents} <= {"INC-2"}


class NotingBank(FakeMemoryBank):
    """A bank that also holds other writers' notes."""

    async def recall(self, query: Query, limit: int, viewer: Viewer = OPERATOR) -> tuple[BankHit, ...]:
        notes = tuple(BankHit(f"note-{n}", text=f"note {n}") for n in range(9))
        return (BankHit("INC-1", text="known here"), BankHit("gone"), *notes)


async def test_what_is_no_record_is_outside_memory_and_never_counted(store: Store) -> None:
    recalled = await RecallPrecedents(index=store.index, bank=NotingBank(), store=store.incidents).precedents(
        ASKED, PUBLIC
    )
    alone = await RecallPrecedents(index=store.index).precedents(ASKED, PUBLIC)
    assert recalled.precedents == alone.precedents
    assert [(o.id, o.text) for o in recalled.outside] == [(f"note-{n}", f"note {n}") for n in range(5)]
    assert alone.outside == ()
