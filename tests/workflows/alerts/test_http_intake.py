"""Direct intake on the real store: kept once, posted once, answered in its thread, changed by what is told later."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.store.delivery.delivery_log import SqlDeliveryLog
from bot.domain.alerts.alert import Alert, AlertState
from bot.domain.alerts.suppression import Mute, MuteTarget
from bot.domain.delivery.kinds import Operation
from bot.domain.incidents.lifecycle import IncidentState, dismiss
from bot.ports.chat import Channel
from bot.ports.delivery.inbox import InboxRow
from bot.ports.delivery.outbox import Destination, OutboxRow
from bot.ports.errors import ChatRejected, ChatUnavailable, NotAllowedHere
from bot.ports.unit_of_work import Changes
from bot.records.alert_json import read_stored_alert
from bot.slack.views.alert import render_alert
from bot.workflows.alerts.http_intake import AnswerHttpAlert, ReceiveHttpAlert
from bot.workflows.channels.settings import AdmitAlert, build_default_time
from tests.fakes import FakeChat
from tests.workflows.world import World, world

ALERT = Alert("webhook", AlertState.FIRING, "webhook:cards:1", title="Card payments time out", service="checkout-api")


@dataclass
class IntakeWorld:
    """A world with direct intake in it."""

    world: World
    receive: ReceiveHttpAlert
    work: AnswerHttpAlert

    async def told(self, digest: str, **changes: Any) -> bool:
        facts = {name: getattr(ALERT, name) for name in ALERT.__slots__} | changes
        return await self.receive(Alert(**facts), "C1", digest)

    async def taken(self) -> InboxRow | None:
        self.world.clock.advance(seconds=1)
        rows = await self.world.memory.inbox.claim(10)
        assert len(rows) <= 1
        return rows[0] if rows else None

    async def worked_off(self) -> list[OutboxRow]:
        """Work and deliver until nothing is left; what went to Slack."""
        sent: list[OutboxRow] = []
        for _ in range(12):
            row = await self.taken()
            if row:
                await self.work(row)
            sent += await self.world.drain_outbox()
        return sent


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[IntakeWorld]:
    async with world(tmp_path) as here:
        m = here.memory
        deliveries, admit = (
            SqlDeliveryLog(m.store.database),
            AdmitAlert(m.channels, build_default_time("mon", 9, "UTC")),
        )
        answer = here.build_answer(read=read_stored_alert, admit=admit)
        work = AnswerHttpAlert(
            store=m.incidents,
            inbox=m.inbox,
            deliveries=deliveries,
            chat=here.chat,
            answer=answer,
            render=render_alert,
            admit=admit,
        )
        yield IntakeWorld(
            here, ReceiveHttpAlert(inbox=m.inbox, deliveries=deliveries, chat=here.chat, clock=here.clock), work
        )


def shown(sent: list[OutboxRow]) -> list[tuple[str, bool]]:
    """Operations, and whether each is in a thread."""
    return [(row.entry.operation, "thread_ts" in row.entry.payload) for row in sent]


async def test_the_alert_is_posted_and_the_brief_answers_in_its_thread(desk: IntakeWorld) -> None:
    assert await desk.told("a") is True
    sent = await desk.worked_off()
    assert shown(sent) == [("post", False), ("post", True)]
    assert "Card payments time out" in sent[0].entry.payload["text"]
    assert await desk.world.memory.incidents.find_incident("C1", sent[1].entry.payload["thread_ts"]) == "INC-1"


async def test_the_same_delivery_again_is_one_post_and_a_later_one_is_a_repeat(desk: IntakeWorld) -> None:
    assert await desk.told("a") is True
    assert await desk.told("a") is False
    desk.world.clock.advance(minutes=9)
    assert await desk.told("a") is False
    await desk.worked_off()
    desk.world.clock.advance(minutes=30)
    assert await desk.told("a") is True
    sent = await desk.worked_off()
    assert ("post", False) not in shown(sent)
    assert ("update", False) in shown(sent)
    assert (await desk.world.memory.incidents.read_lifecycle("INC-1")).state is IncidentState.OPEN


async def test_resolved_changes_our_post_and_clears_the_incident(desk: IntakeWorld) -> None:
    await desk.told("a")
    first = await desk.worked_off()
    await desk.told("b", state=AlertState.RESOLVED)
    sent = await desk.worked_off()
    assert shown(sent) == [("update", False), ("update", False)]
    assert sent[0].entry.payload["target"] == first[0].entry.delivery_id
    assert sent[0].entry.payload["text"].startswith("Resolved")
    assert (await desk.world.memory.incidents.read_lifecycle("INC-1")).state is IncidentState.CLEARED


async def test_a_resolve_that_comes_while_the_firing_waits_for_its_post_clears_the_incident(desk: IntakeWorld) -> None:
    await desk.told("a")
    desk.world.clock.advance(seconds=20)
    await desk.told("b", state=AlertState.RESOLVED)
    desk.world.clock.advance(minutes=5)
    await desk.worked_off()
    life = await desk.world.memory.incidents.read_lifecycle("INC-1")
    assert life.state is IncidentState.CLEARED
    assert life.cleared_at
    assert life.cleared_at - life.opened_at == timedelta(seconds=20)


async def test_the_same_words_count_again_once_something_else_was_told(desk: IntakeWorld) -> None:
    states = [AlertState.FIRING, AlertState.RESOLVED, AlertState.FIRING, AlertState.RESOLVED]
    for n, state in enumerate(states):
        assert await desk.told(state.value, state=state) is True
        assert await desk.told(state.value, state=state) is False
        await desk.worked_off()
        life = await desk.world.memory.incidents.read_lifecycle("INC-1")
        assert life.state is (IncidentState.OPEN if n % 2 == 0 else IncidentState.CLEARED)
    assert life.fired == 2


async def test_two_deliveries_at_once_are_one(desk: IntakeWorld) -> None:
    taken = await asyncio.gather(*(desk.told("a") for _ in range(4)))
    assert sorted(taken) == [False, False, False, True]


async def test_what_is_muted_is_not_posted_and_counts(desk: IntakeWorld) -> None:
    now = desk.world.clock.now()
    mute = Mute("C1", MuteTarget.CHANNEL, "", "this channel", now + timedelta(hours=1), "deploy", "U1", now)
    await desk.world.memory.channels.add_mute(mute, Changes())
    await desk.told("a")
    assert await desk.worked_off() == []
    await desk.told("b", state=AlertState.RESOLVED)
    assert await desk.worked_off() == []
    life = await desk.world.memory.incidents.read_lifecycle("INC-1")
    assert (life.state, life.fired) == (IncidentState.CLEARED, 1)


async def test_a_channel_without_the_bot_takes_nothing_until_it_is_invited(desk: IntakeWorld) -> None:
    desk.world.chat.channels["C1"] = Channel("C1", is_joined=False)
    with pytest.raises(ChatRejected, match="not in this channel"):
        await desk.told("a")
    del desk.world.chat.channels["C1"]
    assert await desk.told("a") is True


async def test_after_our_post_was_deleted_the_next_notice_is_posted(desk: IntakeWorld) -> None:
    await desk.told("a")
    await desk.worked_off()
    await desk.told("b", state=AlertState.ESCALATED)
    row = await desk.taken()
    assert row
    await desk.work(row)
    for owed in await desk.world.memory.outbox.claim(Destination.SLACK, 9):
        await desk.world.memory.outbox.dead_letter(owed, "message_not_found")
    await desk.told("c", state=AlertState.ESCALATED)
    assert ("post", False) in shown(await desk.worked_off())


async def test_a_dismissed_alert_stays_quiet_for_a_day_after_it_was_dismissed(desk: IntakeWorld) -> None:
    await desk.told("a")
    await desk.worked_off()
    desk.world.clock.advance(hours=20)
    life = await desk.world.memory.incidents.read_lifecycle("INC-1")
    await desk.world.memory.incidents.commit(Changes(lifecycles=(dismiss(life, desk.world.clock.now()),)))
    desk.world.clock.advance(hours=6)
    await desk.told("b")
    assert ("post", False) not in shown(await desk.worked_off())
    desk.world.clock.advance(hours=45)
    await desk.told("c")
    assert ("post", False) in shown(await desk.worked_off())


async def test_what_fires_again_is_posted_again_and_stays_one_incident(desk: IntakeWorld) -> None:
    await desk.told("a")
    await desk.worked_off()
    await desk.told("b", state=AlertState.RESOLVED)
    await desk.worked_off()
    desk.world.clock.advance(hours=2)
    await desk.told("c")
    again = await desk.worked_off()
    assert shown(again).count(("post", False)) == 1
    life = await desk.world.memory.incidents.read_lifecycle("INC-1")
    assert (life.state, life.fired) == (IncidentState.OPEN, 2)
    await desk.told("d", state=AlertState.RESOLVED)
    over = await desk.worked_off()
    newest = next(
        row for row in again if "thread_ts" not in row.entry.payload and row.entry.operation == Operation.POST
    )
    resolved = [row for row in over if row.entry.payload["text"].startswith("Resolved")]
    assert [row.entry.payload["target"] for row in resolved] == [newest.entry.delivery_id]
    assert (await desk.world.memory.incidents.read_lifecycle("INC-1")).state is IncidentState.CLEARED


async def test_a_worker_that_dies_after_the_post_does_not_post_again(desk: IntakeWorld) -> None:
    await desk.told("a")
    row = await desk.taken()
    assert row
    await desk.work(row)
    await desk.world.memory.inbox.retry_later(row, 0.0, "died")
    assert shown(await desk.worked_off()) == [("post", False), ("post", True)]


async def test_the_end_of_what_was_never_announced_says_nothing(desk: IntakeWorld) -> None:
    await desk.told("a", state=AlertState.RESOLVED)
    assert await desk.worked_off() == []


async def test_an_alert_that_another_bot_announced_here_is_not_posted_a_second_time(desk: IntakeWorld) -> None:
    root = await desk.world.post(fingerprint=ALERT.fingerprint, tool=ALERT.tool)
    await desk.world.drain_outbox()
    desk.world.clock.advance(minutes=1)
    await desk.told("a", state=AlertState.RESOLVED)
    sent = await desk.worked_off()
    assert shown(sent) == [("update", False)]
    assert (await desk.world.memory.incidents.read_lifecycle("INC-1")).state is IncidentState.CLEARED
    assert await desk.world.memory.incidents.find_incident("C1", root) == "INC-1"


async def test_a_post_that_slack_refuses_is_kept_for_a_person(desk: IntakeWorld) -> None:
    await desk.told("a")
    row = await desk.taken()
    assert row
    await desk.work(row)
    (owed,) = await desk.world.memory.outbox.claim(Destination.SLACK, 5)
    await desk.world.memory.outbox.dead_letter(owed, "not_in_channel")
    again = await desk.taken()
    assert again
    await desk.work(again)
    (dead,) = await desk.world.memory.store.inbox_admin.list_dead(5)
    assert "not_in_channel" in str(dead.error)
    assert await desk.told("a") is True


async def test_a_channel_that_is_shared_or_unknown_takes_nothing(desk: IntakeWorld) -> None:
    desk.world.chat.channels["C1"] = Channel("C1", is_shared=True)
    with pytest.raises(NotAllowedHere):
        await desk.told("a")
    desk.world.chat.gone.add("C1")
    with pytest.raises(ChatRejected):
        await desk.told("a")
    assert await desk.taken() is None


class Away(FakeChat):
    """A Slack that cannot be asked."""

    async def read_channel(self, channel_id: str, *, within_s: float | None = None) -> Channel:
        raise ChatUnavailable("Slack cannot be reached.")


async def test_while_slack_is_away_the_alert_is_kept_all_the_same(desk: IntakeWorld) -> None:
    away = replace(desk.receive, chat=Away())
    assert await away(ALERT, "C1", "a") is True
    assert ("post", True) in shown(await desk.worked_off())
