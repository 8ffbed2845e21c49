"""Status tells the truth about the remote bank: reachable, which version, and its latest failure."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from bot.bootstrap.wiring.memory import open_memory
from bot.ports.memory import BankHit, BankStatus
from bot.settings import Settings
from bot.workflows.operations.status import ReportStatus, StatusLine, format_bank
from tests.databases import fresh
from tests.fakes import START, FakeClock, FakeIds, FakeMemoryBank


@dataclass
class ScriptedBank(FakeMemoryBank):
    """A remote bank with this status."""

    told: BankStatus = field(default_factory=lambda: BankStatus("precedent", "1.1.0"))

    async def read_status(self) -> BankStatus:
        return self.told

    async def list_documents(self) -> AsyncIterator[BankHit]:
        for incident_id, record in self.kept.items():
            yield BankHit(incident_id, record)


async def lines(folder: Path, bank: ScriptedBank | None) -> dict[str, StatusLine]:
    clock = FakeClock()
    settings = Settings(database_url=fresh(folder / "status.db"))
    async with open_memory(settings, clock, FakeIds()) as memory:
        report = ReportStatus(
            health=memory.health,
            outbox=memory.outbox,
            index=memory.index,
            clock=clock,
            memory=memory.name,
            model="off",
            version="0.1",
            bank=bank,
        )
        return {line.name: line for line in await report()}


async def test_a_remote_bank_has_a_line_of_its_own(tmp_path: Path) -> None:
    assert "Hindsight" not in await lines(tmp_path, None)
    assert (await lines(tmp_path, ScriptedBank()))["Hindsight"] == StatusLine(
        "Hindsight", True, "version 1.1.0, bank precedent"
    )
    down = ScriptedBank(told=BankStatus("precedent", problem="Hindsight cannot be reached (ClientConnectorError)."))
    line = (await lines(tmp_path, down))["Hindsight"]
    assert line.ok is False
    assert line.detail == "Hindsight cannot be reached (ClientConnectorError). The local index answers."


def test_a_failure_that_is_mended_is_still_said() -> None:
    status = BankStatus("precedent", "1.1.0", None, "It did not answer.", START + timedelta(minutes=5))
    assert format_bank(status).ok
    assert format_bank(status).detail.endswith("latest failure 2026-11-23 08:05 UTC: It did not answer.")


async def test_the_settings_decide_which_bank_is_used(tmp_path: Path) -> None:
    at = fresh(tmp_path / "x.db")
    async with open_memory(Settings(database_url=at), FakeClock(), FakeIds()) as memory:
        assert (memory.bank, memory.remote, memory.name) == (None, None, "embedded memory")
    there = Settings(database_url=at, hindsight_url="http://127.0.0.1:1", hindsight_bank_id="team")
    async with open_memory(there, FakeClock(), FakeIds()) as memory:
        assert memory.bank is not None
        assert memory.remote is not None
        assert memory.name == "Hindsight bank team and the local index"
        assert (await memory.remote.read_status()).problem
