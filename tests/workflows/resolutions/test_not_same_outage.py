"""Two incidents that a person keeps apart: the memory bank gets both records again."""

from __future__ import annotations

from pathlib import Path

from bot.domain.delivery.kinds import Operation
from bot.ports.delivery.outbox import Destination
from bot.ports.unit_of_work import Changes
from bot.slack.views.surfaces import SlackSurfaces
from bot.workflows.resolutions.not_same_outage import RecordNotSameOutage
from bot.workflows.resolutions.resolve import FixOutcome, Resolution
from tests.workflows.world import World, fed, world


async def resolved(w: World, *fingerprints: str) -> None:
    for number, fingerprint in enumerate(fingerprints, 1):
        await w.post(fingerprint=fingerprint)
        await w.resolve(Resolution(FixOutcome.RECOVERED, f"INC-{number}", fix="restart it"), "U1", f"view:{number}")
        w.clock.advance(minutes=1)


async def test_the_bank_gets_both_records_for_its_copies_hold_all_of_them(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await resolved(w, "payments/504", "checkout/500")
        keep_apart = RecordNotSameOutage(fed(w.memory.store.incidents), SlackSurfaces())
        await keep_apart("INC-1", "INC-2", "U1")
        await keep_apart("INC-1", "INC-2", "U1")  # again changes nothing
        rows = await w.memory.outbox.claim(Destination.BANK, 9)
        assert [(row.entry.operation, row.entry.payload) for row in rows] == [
            (Operation.RETAIN, {"incident_id": "INC-1"}),
            (Operation.RETAIN, {"incident_id": "INC-2"}),
        ]


async def test_without_a_bank_and_for_what_may_not_be_recalled_nothing_is_queued(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await w.post()
        record = await w.memory.incidents.read_record("INC-1")
        await fed(w.memory.store.incidents).commit(Changes(records=(record,)))
        await resolved(w, "checkout/500")
        assert not await w.memory.outbox.claim(Destination.BANK, 9)


async def test_what_came_from_the_bank_is_not_sent_back(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        await resolved(w, "payments/504")
        record = await w.memory.incidents.read_record("INC-1")
        await fed(w.memory.store.incidents).commit(Changes(records=(record,), skips_bank=True))
        assert not await w.memory.outbox.claim(Destination.BANK, 9)
