"""Store and bank brought together: the store wins, nothing comes back that was retracted, outcomes count as imported."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from bot.adapters.store import Store, open_store
from bot.domain.incidents.record import Attempt, Incident, VerificationStatus
from bot.domain.recall.query import OPERATOR
from bot.ports.errors import MemoryRejected, MemoryUnavailable
from bot.ports.memory import BankHit, BankStatus
from bot.ports.unit_of_work import Changes
from bot.workflows.resolutions.sync import SETTLES_WITHIN, FillBank, FillProgress, PullProgress, PullRecords
from tests.databases import fresh
from tests.fakes import FakeClock, FakeIds, FakeMemoryBank

RECORDS = tuple(Incident(f"INC-{n}", f"Gateway timeouts {n}") for n in range(1, 11))
MODAL = Attempt("failover", VerificationStatus.VERIFIED, by="U1", how="modal")


@dataclass
class FakeRemote(FakeMemoryBank):
    """A remote bank in memory; `notes` are documents without a record."""

    notes: dict[str, str] = field(default_factory=dict)
    refuses: frozenset[str] = frozenset()
    retains: list[str] = field(default_factory=list)
    store: Store | None = None
    changes: list[Changes] = field(default_factory=list)

    async def retain(self, incident: Incident) -> None:
        self.retains.append(incident.incident_id)
        if incident.incident_id in self.refuses:
            raise MemoryRejected("Hindsight refuses this (HTTP 422).")
        await FakeMemoryBank.retain(self, incident)
        if self.store and self.changes:
            await self.store.incidents.commit(self.changes.pop())

    async def read_status(self) -> BankStatus:
        return BankStatus("precedent")

    async def list_documents(self) -> AsyncIterator[BankHit]:
        self._reach()
        for incident_id, record in self.kept.items():
            yield BankHit(incident_id, record)
        for note_id, text in self.notes.items():
            yield BankHit(note_id, text=text)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await open_store(fresh(tmp_path / "test.db"), FakeClock(), FakeIds())
    yield store
    await store.close()


async def keep(store: Store, *records: Incident) -> None:
    await store.incidents.commit(Changes(records=records, recallable=frozenset(r.incident_id for r in records)))


async def fill(store: Store, bank: FakeRemote) -> FillProgress:
    filled = FillProgress()
    steps = [so_far.done async for so_far in FillBank(store.incidents, bank)(filled)]
    assert steps == [] or len(steps) == -(-filled.total // 4)
    return filled


async def pull(store: Store, bank: FakeRemote) -> PullProgress:
    pulled = PullProgress()
    assert [so_far async for so_far in PullRecords(store.incidents, bank)(pulled)][-1] is pulled
    return pulled


async def test_filling_retains_what_is_recallable_and_again_changes_nothing(store: Store) -> None:
    bank = FakeRemote()
    assert (await fill(store, bank)).total == 0
    await keep(store, *RECORDS)
    await store.incidents.commit(Changes(records=(Incident("INC-99", "still open"),)))
    for _ in range(2):
        filled = await fill(store, bank)
        assert (filled.total, filled.retained, filled.refused, filled.done) == (10, 10, [], 10)
        assert bank.kept == {record.incident_id: record for record in RECORDS}


async def test_a_refused_record_is_named_and_the_others_go_in(store: Store) -> None:
    await keep(store, *RECORDS)
    bank = FakeRemote(refuses=frozenset({"INC-3"}))
    filled = await fill(store, bank)
    assert filled.refused == [("INC-3", "Hindsight refuses this (HTTP 422).")]
    assert (filled.retained, len(bank.kept)) == (9, 9)


async def test_a_bank_that_is_down_ends_it(store: Store) -> None:
    await keep(store, *RECORDS)
    with pytest.raises(MemoryUnavailable):
        await fill(store, FakeRemote(down=True))
    with pytest.raises(MemoryUnavailable):
        await pull(store, FakeRemote(down=True))


async def test_what_changes_meanwhile_is_what_the_bank_has_in_the_end(store: Store) -> None:
    before, after = RECORDS[0], replace(RECORDS[0], attempts=(MODAL,))
    await keep(store, before)
    bank = FakeRemote(store=store, changes=[Changes(records=(after,))])
    await fill(store, bank)
    assert bank.retains == ["INC-1", "INC-1"]
    assert bank.kept == {"INC-1": after}


async def test_what_is_retracted_meanwhile_is_not_left_in_the_bank(store: Store) -> None:
    await keep(store, RECORDS[0])
    bank = FakeRemote(store=store, changes=[Changes(retracted=("INC-1",))])
    await fill(store, bank)
    assert bank.kept == {}


async def test_a_record_that_never_settles_does_not_go_on_for_ever(store: Store) -> None:
    await keep(store, RECORDS[0])
    versions = [Changes(records=(replace(RECORDS[0], lesson=f"v{n}"),)) for n in range(20)]
    bank = FakeRemote(store=store, changes=versions)
    await fill(store, bank)
    assert len(bank.retains) == SETTLES_WITHIN


async def test_taking_over_what_only_the_bank_knows(store: Store) -> None:
    ours = replace(RECORDS[0], attempts=(MODAL,))
    await keep(store, ours, RECORDS[1])
    await store.incidents.commit(Changes(retracted=("INC-2",)))
    bank = FakeRemote(notes={"note-1": "the gateway is shared"})
    theirs = [replace(record, attempts=(MODAL,)) for record in RECORDS]
    for record in (*theirs, *(replace(theirs[0], incident_id=f"T-{n}") for n in range(100))):
        await bank.retain(replace(record, title="as the bank has it"))
    pulled = await pull(store, bank)
    assert (pulled.read, pulled.added, pulled.here, pulled.forgotten, pulled.outside) == (111, 108, 1, 1, 1)
    kept = {record.incident_id: record for record in await store.incidents.list_records(OPERATOR, recallable_only=True)}
    assert kept["INC-1"] == ours
    assert "INC-2" not in kept
    assert kept["INC-3"].attempts == (replace(MODAL, how="import"),)
    again = await pull(store, bank)
    assert (again.added, again.here) == (0, 109)
