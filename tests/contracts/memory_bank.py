"""What any memory bank must do. The bindings are in `test_contracts`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

import pytest

from bot.domain.access.visibility import Viewer
from bot.domain.incidents.record import Attempt, Incident, Source, VerificationStatus
from bot.domain.recall.query import OPERATOR, Query
from bot.ports.errors import MemoryUnavailable
from bot.ports.memory import MemoryBank

GATEWAY = Incident("INC-1", "Gateway timeouts", symptoms=("payment gateway answers 504",))
DISK = Incident("INC-2", "Disk full on the database", symptoms=("no space left on device",))
JAPANESE = Incident("INC-3", "決済サービスがタイムアウト", symptoms=("応答がありません",))


@dataclass
class BankUnderTest:
    """A bank, and how to make it unreachable."""

    bank: MemoryBank
    cut_off: Callable[[], Awaitable[None]]


class MemoryBankContract:
    """Subclasses give `made`."""

    @pytest.fixture
    def bank(self, made: BankUnderTest) -> MemoryBank:
        return made.bank

    async def test_recall_of_nothing(self, bank: MemoryBank) -> None:
        assert await bank.recall(Query("gateway"), 5) == ()
        await bank.retain(GATEWAY)
        assert await bank.recall(Query("kubernetes"), 5) == ()
        assert await bank.recall(Query(""), 5) == ()

    async def test_what_was_retained_is_recalled_at_once(self, bank: MemoryBank) -> None:
        await bank.retain(GATEWAY)
        await bank.retain(DISK)
        hits = await bank.recall(Query("disk space on device"), 5)
        assert hits[0].incident_id == "INC-2"
        assert hits[0].incident in (DISK, None)

    async def test_retaining_twice_keeps_one(self, bank: MemoryBank) -> None:
        await bank.retain(GATEWAY)
        await bank.retain(GATEWAY)
        assert [hit.incident_id for hit in await bank.recall(Query("gateway"), 5)] == ["INC-1"]

    async def test_retaining_replaces(self, bank: MemoryBank) -> None:
        await bank.retain(GATEWAY)
        await bank.retain(replace(GATEWAY, title="Certificates expired", symptoms=()))
        assert await bank.recall(Query("gateway"), 5) == ()
        assert [hit.incident_id for hit in await bank.recall(Query("certificates"), 5)] == ["INC-1"]

    async def test_the_nearest_first_and_no_more_than_asked(self, bank: MemoryBank) -> None:
        near = replace(GATEWAY, incident_id="INC-9", title="Payment gateway timeouts at checkout, gateway 504")
        await bank.retain(DISK)
        await bank.retain(GATEWAY)
        await bank.retain(near)
        asked = Query("payment gateway timeouts at checkout")
        assert [hit.incident_id for hit in await bank.recall(asked, 5)][:2] == ["INC-9", "INC-1"]
        assert [hit.incident_id for hit in await bank.recall(asked, 1)] == ["INC-9"]

    async def test_other_scripts(self, bank: MemoryBank) -> None:
        await bank.retain(GATEWAY)
        await bank.retain(JAPANESE)
        assert [hit.incident_id for hit in await bank.recall(Query("決済がタイムアウトした"), 5)] == ["INC-3"]

    async def test_retracting(self, bank: MemoryBank) -> None:
        await bank.retain(GATEWAY)
        await bank.retract("INC-1")
        await bank.retract("INC-1")
        assert await bank.recall(Query("gateway"), 5) == ()

    async def test_what_is_excluded_does_not_come_back(self, bank: MemoryBank) -> None:
        await bank.retain(GATEWAY)
        assert await bank.recall(Query("gateway", exclude=frozenset({"INC-1"})), 5) == ()

    async def test_what_the_viewer_may_not_see_does_not_come_back(self, bank: MemoryBank) -> None:
        await bank.retain(GATEWAY)
        await bank.retain(replace(GATEWAY, incident_id="INC-8", source=Source(visibility="private:G1")))
        for viewer, seen in (
            (Viewer(), {"INC-1"}),
            (Viewer(frozenset({"public", "private:G1"})), {"INC-1", "INC-8"}),
            (Viewer(frozenset({"private:G2"})), set()),
            (OPERATOR, {"INC-1", "INC-8"}),
        ):
            assert {hit.incident_id for hit in await bank.recall(Query("gateway"), 5, viewer)} == seen

    async def test_a_record_that_becomes_private_is_private_at_once(self, bank: MemoryBank) -> None:
        await bank.retain(GATEWAY)
        await bank.retain(replace(GATEWAY, source=Source(visibility="private:G1")))
        assert await bank.recall(Query("gateway"), 5, Viewer()) == ()

    async def test_another_outcome_is_known_at_once(self, bank: MemoryBank) -> None:
        for status in (VerificationStatus.UNVERIFIED, VerificationStatus.VERIFIED, VerificationStatus.FAILED):
            record = replace(GATEWAY, attempts=(Attempt("Restart the gateway", status),))
            await bank.retain(record)
            (hit,) = await bank.recall(Query("gateway"), 5)
            assert hit.incident in (record, None)

    async def test_a_large_record_and_a_large_question(self, bank: MemoryBank) -> None:
        await bank.retain(replace(GATEWAY, symptoms=tuple(f"line {n} of the log" for n in range(3000))))
        assert [hit.incident_id for hit in await bank.recall(Query("gateway " * 5000), 5)] == ["INC-1"]

    async def test_out_of_reach(self, made: BankUnderTest) -> None:
        await made.cut_off()
        with pytest.raises(MemoryUnavailable):
            await made.bank.retain(GATEWAY)
        with pytest.raises(MemoryUnavailable):
            await made.bank.retract("INC-1")
        with pytest.raises(MemoryUnavailable):
            await made.bank.recall(Query("gateway"), 5)
