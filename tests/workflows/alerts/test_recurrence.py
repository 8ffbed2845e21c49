"""What asking about a fix writes: record, question, bank and audit in one commit, once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from bot.adapters.store.database.tables import audit
from bot.domain.resolutions.recurrence import RecurrenceAnswer
from bot.ports.delivery.outbox import Destination
from bot.ports.errors import StoreConflict
from bot.ports.incidents import IncidentStore
from bot.ports.unit_of_work import Changes
from bot.slack.views.surfaces import SlackSurfaces
from bot.workflows.alerts.recurrence import AnswerRecurrence, AskAboutRecurrence
from bot.workflows.resolutions.resolve import FixOutcome, Resolution
from tests.workflows.world import World, fed, format_ts, read_event, world


async def fixed(w: World) -> str:
    """An incident whose fix was seen to work twelve minutes ago; its id."""
    ts = await w.post()
    w.clock.advance(minutes=30)
    incident_id = await w.memory.incidents.find_incident("C1", ts)
    assert incident_id
    await w.resolve(Resolution(FixOutcome.RECOVERED, incident_id, fix="restart it"), "U1", "once")
    w.clock.advance(minutes=12)
    return incident_id


async def fires(w: World, alert: Mapping[str, str] | None = None, store: IncidentStore | None = None) -> None:
    ask = AskAboutRecurrence(
        store=store or fed(w.memory.store.incidents), chat=w.chat, surfaces=SlackSurfaces(), read=read_event
    )
    answer = replace(w.answer, recurrence=ask)
    await answer(await w.row({"channel": "C1", "ts": format_ts(w.clock.now()), "alert": dict(alert or {})}))


async def log(w: World) -> list[tuple[str, str]]:
    async with w.memory.store.database.read() as connection:
        rows = (await connection.execute(sa.select(audit.c.actor, audit.c.action, audit.c.detail))).all()
    return [(actor, detail) for actor, action, detail in rows if action == "fired again"]


async def owed_to_the_bank(w: World) -> list[str]:
    found = []
    while rows := await w.memory.outbox.claim(Destination.BANK, 10):
        found += [row.entry.delivery_id for row in rows]
        for row in rows:
            await w.memory.outbox.acknowledge(row, None)
    return found


async def test_it_is_asked_once_with_what_the_bank_and_the_audit_are_owed(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        incident_id = await fixed(w)
        await w.drain_outbox()
        for _ in range(2):
            await fires(w)
            w.clock.advance(minutes=1)
        posted = [r.entry.delivery_id for r in await w.drain_outbox() if r.entry.delivery_id.startswith("fired-again/")]
        assert posted == [f"fired-again/{incident_id}/1/C1"]
        assert await owed_to_the_bank(w) == [f"retain/fired-again/{incident_id}/1"]
        assert await log(w) == [("precedent", "VERIFIED to PARTIAL, fired again after 12 min: restart it")]
        answer = AnswerRecurrence(fed(w.memory.store.incidents), SlackSurfaces())
        assert await answer(incident_id, 1, RecurrenceAnswer.FAILED, "U2")
        assert not await answer(incident_id, 1, RecurrenceAnswer.UNRELATED, "U3")
        assert await owed_to_the_bank(w) == [f"retain/fired-again/{incident_id}/1/answer"]
        assert (await log(w))[1:] == [("U2", "PARTIAL to FAILED: did not work")]


@pytest.mark.parametrize("alert", [{"state": "resolved"}, {"delivery": "edit"}, {"fingerprint": "another"}])
async def test_only_the_same_alert_that_fires_asks(tmp_path: Path, alert: dict[str, str]) -> None:
    async with world(tmp_path) as w:
        incident_id = await fixed(w)
        await fires(w, alert)
        assert (await w.memory.incidents.read_record(incident_id)).attempts[0].status == "VERIFIED"
        assert await log(w) == []


async def test_who_changed_the_incident_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    async with world(tmp_path) as w:
        incident_id = await fixed(w)
        conflicts: list[int] = []

        class Busy:
            """The store, in which somebody else resolves the incident again just before the first commit."""

            def __getattr__(self, name: str) -> object:
                return getattr(w.memory.incidents, name)

            async def commit(self, changes: Changes) -> bool:
                if not conflicts:
                    conflicts.append(1)
                    await w.resolve(Resolution(FixOutcome.PARTLY, incident_id, fix="only a bit"), "U9", "meanwhile")
                    with pytest.raises(StoreConflict):
                        await w.memory.incidents.commit(changes)
                    raise StoreConflict("changed meanwhile")
                return await w.memory.incidents.commit(changes)

        store: IncidentStore = Busy()  # type: ignore[assignment] # everything else is passed on by name
        await fires(w, store=store)
        record = await w.memory.incidents.read_record(incident_id)
        assert [a.status for a in record.attempts] == ["VERIFIED", "PARTIAL"]
        assert await log(w) == []
