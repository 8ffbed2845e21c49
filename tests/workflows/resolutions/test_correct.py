"""Corrections behind the surfaces: the bank, order and repetition; who is not known; and telling without a chat."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.bootstrap.wiring.resolutions import build_local_correct, build_refresh_briefs
from bot.domain.access.roles import Person, Verifiers
from bot.domain.brief.decide import is_same_advice
from bot.domain.delivery.kinds import Operation
from bot.domain.incidents.corrections import hash_text, read_texts
from bot.domain.incidents.record import VerificationStatus
from bot.domain.recall.query import OPERATOR
from bot.ports.chat import Channel
from bot.ports.delivery.outbox import Destination
from bot.ports.errors import ChatRejected, ChatUnavailable, RecordRejected
from bot.ports.unit_of_work import Changes
from bot.slack.views.surfaces import SlackSurfaces
from bot.workflows.delivery.deliver import Deliver
from bot.workflows.recall.preview_brief import PreviewBrief
from bot.workflows.resolutions.confirm_recovery import ConfirmRecovery
from bot.workflows.resolutions.correct import EditRecord, RetractRecord, allow_operator, confirm_operator
from bot.workflows.resolutions.refresh_briefs import Correction
from bot.workflows.resolutions.resolve import FixOutcome, Resolution, Resolve
from tests.fakes import FakeMemoryBank
from tests.workflows.world import World, fed, world

FIX = Resolution(FixOutcome.RECOVERED, "INC-1", fix="Flush the ledger cache")


@pytest.fixture
async def w(tmp_path: Path) -> AsyncIterator[World]:
    async with world(tmp_path) as made:
        await made.post(severity="critical")
        await made.drain_outbox()
        yield made


def with_bank(w: World) -> tuple[Resolve, EditRecord, RetractRecord]:
    store = fed(w.memory.store.incidents)
    return (
        Resolve(store=store, surfaces=SlackSurfaces(), clock=w.clock),
        EditRecord(store=store, may=allow_operator, confirms=confirm_operator, clock=w.clock),
        RetractRecord(store, allow_operator),
    )


async def told(w: World) -> None:
    """Work off what corrections owe to the inbox."""
    for row in await w.memory.inbox.claim(10):
        assert row.kind == "corrected"
        await build_refresh_briefs(w.memory, SlackSurfaces(), w.clock, w.chat)(row)


async def test_the_bank_gets_corrections_in_order_and_forgets_what_was_retracted(w: World) -> None:
    bank = FakeMemoryBank()
    deliver = Deliver(outbox=w.memory.outbox, chat=w.chat, clock=w.clock, bank=bank, records=w.memory.incidents)
    resolve, edit, retract = with_bank(w)
    await resolve(FIX, "U1", "v1")
    while await deliver.drain(Destination.BANK) == 0:
        pass
    assert bank.kept["INC-1"].lesson is None
    shown = {name: hash_text(text) for name, text in read_texts(bank.kept["INC-1"]).items()}
    await edit("INC-1", "U1", {"lesson": "look at cron"}, shown, "v2")
    while await deliver.drain(Destination.BANK) == 0:
        pass
    assert bank.kept["INC-1"].lesson == "look at cron"
    shown |= {"lesson": hash_text("look at cron")}
    await edit("INC-1", "U1", {"lesson": "never delivered"}, shown, "v3")
    await retract("INC-1", "U1", "a drill", "v4")
    while await deliver.drain(Destination.BANK) == 0:
        pass
    assert bank.kept == {}
    counts = await w.memory.outbox.count_rows()
    assert (counts["bank.sent"], counts.get("bank.pending", 0), counts.get("bank.dead", 0)) == (4, 0, 0)


async def test_a_submission_that_comes_twice_is_one_act(w: World) -> None:
    await w.resolve(FIX, "U1", "v1")
    edit = build_local_correct(w.memory, w.clock).edit
    shown = {name: hash_text(text) for name, text in read_texts(await w.memory.incidents.read_record("INC-1")).items()}
    await edit("INC-1", "U1", {"lesson": "once"}, shown, "v2")
    with pytest.raises(RecordRejected, match="It says now: “once”"):
        await edit("INC-1", "U1", {"lesson": "once"}, shown, "v2")
    lines = [line.action async for line in w.memory.store.audit_log.stream_lines()]
    assert lines == ["resolve", "edit"]


async def test_secrets_that_are_typed_are_masked(w: World) -> None:
    await w.resolve(FIX, "U1", "v1")
    edit = build_local_correct(w.memory, w.clock).edit
    shown = {name: hash_text(text) for name, text in read_texts(await w.memory.incidents.read_record("INC-1")).items()}
    await edit("INC-1", "U1", {"lesson": "key AKIAIOSFODNN7EXAMPLE\x00"}, shown, "v2")
    assert "AKIAIOSFODNN7EXAMPLE" not in str((await w.memory.incidents.read_record("INC-1")).lesson)


@pytest.mark.parametrize("problem", [ChatRejected("no scope", "missing_scope"), ChatUnavailable("down")])
async def test_a_resolution_is_kept_where_slack_does_not_say_who_it_is(w: World, problem: Exception) -> None:
    class Nobody:
        async def read_person(self, user_id: str) -> Person:
            raise problem

    confirms = ConfirmRecovery(Nobody(), Verifiers())  # type: ignore[arg-type]  # the one question that is asked
    recorded = await replace(w.resolve, confirms=confirms)(FIX, "U1", "v1")
    assert [a.status for a in recorded.incident.attempts] == [VerificationStatus.UNVERIFIED]
    assert "Slack does not tell me now who you are" in recorded.unconfirmed


async def test_retracting_restores_the_earlier_brief(w: World) -> None:
    preview = PreviewBrief(w.memory.recall, w.memory.index)
    (posted,) = await w.memory.incidents.list_briefs("INC-1")

    async def now() -> object:
        return await preview(posted.brief.alert, Channel("C1").viewer, w.clock.now())

    before = await now()
    await w.resolve(FIX, "U1", "v1")
    assert await now() != before
    await build_local_correct(w.memory, w.clock).retract("INC-1", "U1", "a drill", "v2")
    assert await now() == before


async def test_a_thread_is_told_once_however_often_it_is_worked_on(w: World) -> None:
    await w.resolve(FIX, "U1", "v1")
    w.clock.advance(hours=2)
    await w.post(severity="critical")
    await w.drain_outbox()
    await build_local_correct(w.memory, w.clock).retract("INC-1", "U1", "a drill", "v2")
    (row,) = await w.memory.inbox.claim(5)
    tell = build_refresh_briefs(w.memory, SlackSurfaces(), w.clock, w.chat)
    for _ in range(2):
        await tell.refresh(Correction(**{name: str(row.body[name]) for name in ("incident_id", "what", "by", "key")}))
    await tell(row)
    said = [r.entry.payload["text"] for r in await w.drain_outbox() if r.entry.operation == Operation.POST]
    assert said == ["INC-1 was retracted: its steps above no longer count."]


@pytest.mark.parametrize(("hours", "is_told"), [(23, True), (25, False)])
async def test_resolved_threads_are_told_for_a_day(w: World, hours: float, is_told: bool) -> None:
    await w.resolve(FIX, "U1", "v1")
    w.clock.advance(hours=2)
    await w.post(severity="critical")
    await w.resolve(replace(FIX, incident_id="INC-2", fix="Another"), "U1", "v2")
    await w.drain_outbox()
    w.clock.advance(hours=hours)
    await build_local_correct(w.memory, w.clock).retract("INC-1", "U1", "a drill", "v3")
    await told(w)
    assert (
        bool([r for r in await w.drain_outbox() if "INC-1 was retracted" in str(r.entry.payload.get("text"))])
        is is_told
    )


async def test_a_private_thread_is_computed_anew_with_what_it_may_see(w: World) -> None:
    """On the command line there is no chat: then what the incident's own visibility shows."""
    w.chat.channels["G1"] = Channel("G1", is_private=True)
    await w.resolve(FIX, "U1", "v1")
    w.clock.advance(hours=1)
    await w.post("G1", severity="critical")
    await w.resolve(replace(FIX, incident_id="INC-2", fix="The private way"), "U1", "v2")
    w.clock.advance(hours=1)
    for channel in ("C1", "G1"):
        await w.post(channel, severity="critical")
    await w.drain_outbox()
    await build_local_correct(w.memory, w.clock).purge("INC-1", "U1", "a name", "v3")
    act = build_refresh_briefs(w.memory, SlackSurfaces(), w.clock)
    for row in await w.memory.inbox.claim(5):
        await act(row)
    public, private = [(await w.memory.incidents.list_briefs(f"INC-{n}"))[0].brief for n in (3, 4)]
    assert public.recommendation is None
    assert "private way" not in str(public)
    assert private.recommendation is not None
    assert private.recommendation.fix == "The private way"
    assert not is_same_advice(public, private)
    assert [r.incident_id for r in await w.memory.incidents.list_records(OPERATOR, recallable_only=True)] == ["INC-2"]


async def test_an_unknown_channel_sees_what_is_public(w: World) -> None:
    await w.resolve(FIX, "U1", "v1")
    w.clock.advance(hours=2)
    await w.post(severity="critical")
    await w.drain_outbox()
    w.chat.gone.add("C1")
    await build_local_correct(w.memory, w.clock).retract("INC-1", "U1", "a drill", "v2")
    await told(w)
    (posted,) = await w.memory.incidents.list_briefs("INC-2")
    assert posted.brief.recommendation is None
    assert await w.memory.incidents.commit(Changes())
