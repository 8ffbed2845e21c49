"""What only a real server shows: fan-out of facts, other writers, crashes, a stopped database, many at once.

Each test reads the bank from the outside to see what is there.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.adapters.memory.breaker import GuardedBank
from bot.adapters.memory.hindsight import HindsightBank
from bot.adapters.store import Store, open_store
from bot.domain.access.visibility import Viewer
from bot.domain.brief.recommendation import build_fix_record
from bot.domain.delivery.kinds import Operation
from bot.domain.incidents.record import Attempt, Incident, Source, VerificationStatus
from bot.domain.recall.query import OPERATOR, Query, build_text_query
from bot.domain.recall.ranking import Recalled
from bot.ports.delivery.outbox import Destination, OutboxEntry
from bot.ports.errors import MemoryUnavailable
from bot.ports.unit_of_work import Changes
from bot.workflows.delivery.deliver import Deliver
from bot.workflows.recall.recall import RecallPrecedents
from bot.workflows.resolutions.sync import FillBank, FillProgress, PullProgress, PullRecords
from tests.builders import seed_incidents
from tests.fakes import FakeChat, FakeClock, FakeIds
from tests.hindsight import banks

pytestmark = [pytest.mark.integration, pytest.mark.xdist_group("hindsight")]

FOURTEEN = tuple(seed_incidents().values())[:14]
ASKED = build_text_query("gateway answers 504, checkout times out", vendor="razorpay", service="payments-api")
# two that answer the question
ANSWERS = tuple(record for record in FOURTEEN if record.vendor == "razorpay" and "504" in " ".join(record.symptoms))[:2]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def store(tmp_path: Path, clock: FakeClock) -> AsyncIterator[Store]:
    opened = await open_store(f"sqlite+aiosqlite:///{tmp_path / 'test.db'}", clock, FakeIds())
    yield opened
    await opened.close()


def delivery(store: Store, bank: HindsightBank, clock: FakeClock) -> Deliver:
    return Deliver(
        outbox=store.outbox,
        chat=FakeChat(clock=clock.now),
        clock=clock,
        bank=bank,
        records=store.incidents,
        chance=lambda: 0.0,
    )


def retained(record: Incident) -> OutboxEntry:
    payload = {"incident_id": record.incident_id}
    return OutboxEntry(Destination.BANK, Operation.RETAIN, record.incident_id, f"retain/{record.incident_id}", payload)


async def keep(store: Store, *records: Incident) -> None:
    """As a resolution does it: the record and what is owed to the bank in one commit."""
    ids = frozenset(record.incident_id for record in records)
    await store.incidents.commit(Changes(records=records, recallable=ids, deliveries=tuple(map(retained, records))))


async def drained(store: Store, work: Deliver, clock: FakeClock, within_s: float = 90.0) -> None:
    """Deliver until nothing is owed; the clock runs ahead so that no back-off is waited out."""
    until = time.monotonic() + within_s
    while (await store.outbox.count_rows()).keys() - {"bank.sent"}:
        assert time.monotonic() < until, await store.outbox.count_rows()
        await work.drain_once()
        clock.move(301)
        await asyncio.sleep(0.05)


async def one_sent(store: Store) -> None:
    for _ in range(4000):
        if (await store.outbox.count_rows()).get("bank.sent"):
            return
        await asyncio.sleep(0.005)
    raise AssertionError("nothing was delivered")


def said(recalled: Recalled) -> list[tuple[str, str, float]]:
    """What is shown: a bank may add candidates that are like nothing, and they change nothing."""
    shown = (*recalled.strong, *recalled.possible)
    return [(p.incident.incident_id, p.tier.value, p.probability) for p in shown]


async def test_fourteen_incidents_are_fourteen_in_either_kind_of_bank(tmp_path: Path) -> None:
    answers = {}
    for kind in ("chunks", "concise"):
        store = await open_store(f"sqlite+aiosqlite:///{tmp_path / kind}.db", FakeClock(), FakeIds())
        async with banks.new_bank() as bank:
            if kind == "concise":
                await bank.client.acreate_bank(bank.bank_id)
            for record in FOURTEEN:
                await store.incidents.commit(Changes(records=(record,), recallable=frozenset({record.incident_id})))
                await bank.retain(record)
            memories = await banks.until_quiet(bank)
            facts = await banks.facts_by_document(bank)
            hits = await bank.recall(ASKED, 50)
            both = await RecallPrecedents(index=store.index, bank=bank, store=store.incidents).precedents(
                ASKED, OPERATOR
            )
            await store.incidents.commit(Changes(retracted=tuple(record.incident_id for record in FOURTEEN)))
            gone = await RecallPrecedents(index=store.index, bank=bank, store=store.incidents).precedents(
                ASKED, OPERATOR
            )
            only_bank = await RecallPrecedents(index=store.index, bank=bank).precedents(ASKED, OPERATOR)
        await store.close()
        assert gone.precedents == ()
        ids = [hit.incident_id for hit in hits]
        assert len(ids) == len(set(ids))
        assert all(hit.incident in FOURTEEN for hit in hits)
        assert facts.keys() - {"None"} == {record.incident_id for record in FOURTEEN}
        assert build_fix_record(both.strong, FakeClock().now()).recommendation
        strong = [p.incident for p in only_bank.strong]
        answers[kind] = (memories, said(both), build_fix_record(both.strong, FakeClock().now()), strong)
    assert answers["chunks"][0] == 14
    assert answers["concise"][0] > 60
    assert answers["chunks"][1:] == answers["concise"][1:]
    assert len(answers["chunks"][3]) >= 2


async def test_without_a_store_the_bank_alone_gives_each_incident_once(store: Store) -> None:
    async with banks.new_bank() as bank:
        await bank.client.acreate_bank(bank.bank_id)
        for record in FOURTEEN[:5]:
            await bank.retain(record)
        recalled = await RecallPrecedents(index=store.index, bank=bank, store=store.incidents).precedents(
            ASKED, OPERATOR
        )
        ids = [p.incident.incident_id for p in recalled.precedents]
        assert sorted(ids) == sorted(set(ids))
        assert ids
        statuses = {a.status for p in recalled.precedents for a in p.incident.attempts}
        assert statuses == {VerificationStatus.UNVERIFIED}


async def test_what_other_writers_kept() -> None:
    async with banks.new_bank() as bank:
        await bank.prepare()
        plain = {"fix": "Fail over to stripe", "root_cause": "gateway slow", "verification_status": "verified"}
        for document, text, metadata, tags in (
            ("THEIRS-1", "Payment gateway 504 in ap-south-1.", plain, ["scope:public"]),
            ("note-1", "The payment gateway is also used by refunds. password=hunter2secret", {}, ["scope:public"]),
            ("note-2", "payment gateway notes without a scope", {}, []),
            ("note-3", "payment gateway notes of a private channel", {}, ["scope:private:G9", "scope:public"]),
        ):
            await bank.client.aretain(bank.bank_id, text, document_id=document, metadata=metadata, tags=tags)
        hits = {hit.incident_id: hit for hit in await bank.recall(Query("payment gateway"), 10, Viewer())}
        assert hits.keys() == {"THEIRS-1", "note-1"}
        theirs = hits["THEIRS-1"].incident
        assert theirs is not None
        assert (theirs.title, theirs.root_cause) == ("Payment gateway 504 in ap-south-1.", "gateway slow")
        assert theirs.attempts == (Attempt("Fail over to stripe", VerificationStatus.VERIFIED),)
        assert hits["note-1"].incident is None
        assert "hunter2" not in (hits["note-1"].text or "")


async def test_filling_the_bank_and_taking_over(store: Store, tmp_path: Path) -> None:
    secret = replace(FOURTEEN[0], incident_id="PRIV-1", source=Source(visibility="private:G1"))
    records = (*FOURTEEN, secret)
    await store.incidents.commit(Changes(records=records, recallable=frozenset(r.incident_id for r in records)))
    async with banks.new_bank() as bank:
        for _ in range(2):
            filled = FillProgress()
            assert [so_far async for so_far in FillBank(store.incidents, bank)(filled)][-1] is filled
            assert (filled.total, filled.retained, filled.refused) == (15, 15, [])
            assert await banks.facts_by_document(bank) == {record.incident_id: 1 for record in records}
        other = await open_store(f"sqlite+aiosqlite:///{tmp_path / 'other.db'}", FakeClock(), FakeIds())
        await other.incidents.commit(Changes(retracted=(FOURTEEN[1].incident_id,)))
        pulled = PullProgress()
        assert [so_far async for so_far in PullRecords(other.incidents, bank)(pulled)][-1] is pulled
        assert (pulled.read, pulled.added, pulled.here, pulled.forgotten) == (15, 14, 0, 1)
        kept = {
            record.incident_id: record for record in await other.incidents.list_records(OPERATOR, recallable_only=True)
        }
        assert kept["PRIV-1"].source.visibility == "private:G1"
        assert {a.how for record in kept.values() for a in record.attempts} == {"import"}
        assert {r.title for r in kept.values()} == {r.title for r in records if r != FOURTEEN[1]}
        await other.close()


async def test_fifty_resolutions_at_once(store: Store, clock: FakeClock) -> None:
    fifty = [replace(FOURTEEN[n % 14], incident_id=f"INC-{1000 + n}") for n in range(50)]
    async with banks.new_bank() as bank:
        await asyncio.gather(*(keep(store, record) for record in fifty))
        await drained(store, delivery(store, bank, clock), clock)
        assert await banks.facts_by_document(bank) == {record.incident_id: 1 for record in fifty}


async def test_fifty_retains_at_once() -> None:
    fifty = [replace(FOURTEEN[n % 14], incident_id=f"INC-{2000 + n}") for n in range(50)]
    async with banks.new_bank() as bank:
        await asyncio.gather(*(bank.retain(record) for record in fifty))
        assert await banks.facts_by_document(bank) == {record.incident_id: 1 for record in fifty}


async def test_killed_before_and_amid_retains(store: Store, clock: FakeClock) -> None:
    server = banks.server()
    async with banks.new_bank() as bank:
        work = delivery(store, bank, clock)
        await keep(store, *FOURTEEN[:7])
        server.kill_api()
        await work.drain_once()
        assert (await store.outbox.count_rows())["bank.pending"] == 7
        await asyncio.to_thread(server.start_api)
        await keep(store, *FOURTEEN[7:])
        clock.move(301)
        draining = asyncio.ensure_future(work.drain_once())
        await one_sent(store)
        server.kill_api()
        await draining
        assert (await store.outbox.count_rows()).get("bank.pending", 0) > 0
        await asyncio.to_thread(server.start_api)
        await drained(store, work, clock)
        assert await banks.facts_by_document(bank) == {record.incident_id: 1 for record in FOURTEEN}


async def test_killed_amid_one_large_retain_leaves_nothing_twice() -> None:
    server = banks.server()
    long = replace(FOURTEEN[0], symptoms=tuple(f"symptom number {n} of the payment gateway." for n in range(60)))
    async with banks.new_bank() as bank:
        await bank.client.acreate_bank(bank.bank_id)
        await bank.retain(FOURTEEN[1])
        retaining = asyncio.ensure_future(bank.retain(long))
        await asyncio.sleep(0.15)
        server.kill_api()
        with pytest.raises(MemoryUnavailable):
            await retaining
        await asyncio.to_thread(server.start_api)
        await bank.retain(long)
        await bank.retain(long)
        first = (await banks.facts_by_document(bank))[long.incident_id]
        hits = await bank.recall(Query("payment gateway symptom"), 50)
        assert [hit.incident_id for hit in hits].count(long.incident_id) == 1
        await bank.retain(long)
        assert (await banks.facts_by_document(bank))[long.incident_id] == first


async def test_its_database_stops(store: Store, clock: FakeClock) -> None:
    server = banks.server()
    async with banks.new_bank() as bank:
        work = delivery(store, bank, clock)
        await keep(store, ANSWERS[0])
        await drained(store, work, clock)
        await asyncio.to_thread(server.stop_postgres)
        try:
            await keep(store, ANSWERS[1])
            await work.drain_once()
            assert (await store.outbox.count_rows())["bank.pending"] == 1
            begun = time.monotonic()
            recall = RecallPrecedents(
                index=store.index, bank=GuardedBank(bank, clock, recall_s=1.0), store=store.incidents
            )
            answers = [await recall.precedents(ASKED, OPERATOR) for _ in range(10)]
            assert time.monotonic() - begun < 5
            assert all(answer.missing[0].what == "memory" for answer in answers)
            expected = {record.incident_id for record in ANSWERS}
            assert all({p.incident.incident_id for p in answer.strong} == expected for answer in answers)
        finally:
            await asyncio.to_thread(server.start_postgres)
        await drained(store, work, clock)
        assert await banks.facts_by_document(bank) == {record.incident_id: 1 for record in ANSWERS}
