"""Every adapter and every fake of a port is held to the port's contract."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.adapters.memory.embedded import EmbeddedBank
from bot.adapters.memory.hindsight import open_hindsight
from bot.adapters.store import Store, open_store
from tests.contracts.backfills import BackfillsContract
from tests.contracts.channels import ChannelContract
from tests.contracts.chat import ChatContract, Workspace, open_fake_workspace, open_local_workspace
from tests.contracts.corrections import CorrectionsContract
from tests.contracts.deploys import DeploysContract
from tests.contracts.desks import DeskContract
from tests.contracts.ledger import LedgerContract
from tests.contracts.lives import LivesContract
from tests.contracts.memory_bank import BankUnderTest, MemoryBankContract
from tests.contracts.nudges import NudgesContract
from tests.contracts.replicas import Opening, ReplicasContract
from tests.contracts.said import SaidContract
from tests.contracts.shadow import ShadowContract
from tests.contracts.stores import StoreContract
from tests.databases import fresh, fresh_postgres
from tests.fakes import FakeClock, FakeIds, FakeMemoryBank
from tests.hindsight import banks
from tests.ports import free_port


class TestSlackChat(ChatContract):
    @pytest.fixture
    async def workspace(self) -> AsyncIterator[Workspace]:
        async with open_local_workspace() as made:
            yield made


class TestFakeChat(ChatContract):
    @pytest.fixture
    async def workspace(self) -> AsyncIterator[Workspace]:
        async with open_fake_workspace() as made:
            yield made


class WholeStoreContract(
    StoreContract,
    LivesContract,
    DeskContract,
    ChannelContract,
    CorrectionsContract,
    NudgesContract,
    SaidContract,
    LedgerContract,
    DeploysContract,
    BackfillsContract,
    ShadowContract,
):
    """What every store keeps."""


class TestStoreOnSqlite(WholeStoreContract):
    @pytest.fixture
    async def store(self, clock: FakeClock, tmp_path: Path) -> AsyncIterator[Store]:
        store = await open_store(fresh(tmp_path / "state" / "test.db"), clock, FakeIds())
        yield store
        await store.close()


class TestReplicasOnSqlite(ReplicasContract):
    @pytest.fixture
    async def replica(self, clock: FakeClock, tmp_path: Path) -> AsyncIterator[Opening]:
        async with AsyncExitStack() as opened:

            async def another() -> Store:
                store = await open_store(fresh(tmp_path / "shared.db"), clock, FakeIds())
                opened.push_async_callback(store.close)
                return store

            yield another


@pytest.mark.integration
class TestStoreOnPostgres(WholeStoreContract):
    @pytest.fixture
    async def store(self, clock: FakeClock) -> AsyncIterator[Store]:
        url = await fresh_postgres()
        store = await open_store(url, clock, FakeIds())
        yield store
        await store.close()


@pytest.mark.integration
class TestReplicasOnPostgres(ReplicasContract):
    @pytest.fixture
    async def replica(self, clock: FakeClock) -> AsyncIterator[Opening]:
        url = await fresh_postgres()
        async with AsyncExitStack() as opened:

            async def another() -> Store:
                store = await open_store(url, clock, FakeIds())
                opened.push_async_callback(store.close)
                return store

            yield another


class TestFakeBank(MemoryBankContract):
    @pytest.fixture
    def made(self) -> BankUnderTest:
        bank = FakeMemoryBank()

        async def cut_off() -> None:
            bank.down = True

        return BankUnderTest(bank, cut_off)


class TestEmbeddedBank(MemoryBankContract):
    @pytest.fixture
    async def made(self, tmp_path: Path) -> AsyncIterator[BankUnderTest]:
        store = await open_store(fresh(tmp_path / "test.db"), FakeClock(), FakeIds())

        async def cut_off() -> None:
            async with store.database.write() as connection:
                for table in ("records", "counters", "index_fts", "index_terms"):
                    await connection.execute(sa.text(f"DROP TABLE {table}"))

        yield BankUnderTest(EmbeddedBank(store.incidents, store.index), cut_off)
        await store.close()


@pytest.mark.integration
@pytest.mark.xdist_group("hindsight")
class TestHindsightBank(MemoryBankContract):
    @pytest.fixture
    async def made(self) -> AsyncIterator[BankUnderTest]:
        async with (
            banks.new_bank() as bank,
            open_hindsight(f"http://127.0.0.1:{free_port()}", None, "x", bank.clock) as nowhere,
        ):
            there = bank.client

            async def cut_off() -> None:
                bank.client = nowhere.client

            yield BankUnderTest(bank, cut_off)
            bank.client = there
