from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from bot.adapters.store import Store
from bot.domain.delivery.kinds import Operation
from bot.domain.incidents.record import Incident
from bot.ports.chat import Channel, Posting
from bot.ports.delivery.outbox import Destination, OutboxEntry, OutboxRow, build_outbox_entry
from bot.ports.delivery.outbox_admin import UNDELIVERED, OutboxState
from bot.ports.errors import (
    ChatAuthRejected,
    ChatOutcomeUnknown,
    ChatRejected,
    ChatUnavailable,
    MemoryAuthRejected,
    MemoryRejected,
    MemoryUnavailable,
    RecordRejected,
    StoreUnavailable,
)
from bot.ports.unit_of_work import Changes
from bot.workflows.delivery.deliver import IDLE_S, ROW_FAULTS, Deliver, build_posting
from bot.workflows.delivery.policy import DeadLetter, RetryLater, compute_backoff_s, decide_after_failure, schedule
from tests.fakes import START, FakeChat, FakeClock, FakeMemoryBank
from tests.workflows.delivery.deliver_support import drain


def post(delivery_id: str, channel: str = "C1", **other: Any) -> OutboxEntry:
    return build_outbox_entry(
        Posting(Operation.POST, channel, delivery_id, "text"), key=other.pop("key", delivery_id), **other
    )


async def owe(store: Store, *rows: OutboxEntry) -> None:
    await store.incidents.commit(Changes(deliveries=rows))


def sent(chat: FakeChat) -> list[str]:
    return [posting.delivery_id for _, posting in chat.posted]


# decisions


@pytest.mark.parametrize(
    ("problem", "expected"),
    [
        (ChatRejected("no such channel", "channel_not_found"), DeadLetter("no such channel")),
        (MemoryRejected("too large"), DeadLetter("too large")),
        (RecordRejected("title", "is missing"), DeadLetter("title: is missing")),
        (ChatUnavailable("busy", 7.0), RetryLater(7.0, "busy")),
        (ChatUnavailable("down"), RetryLater(2.0, "down")),
        (MemoryUnavailable("down"), RetryLater(2.0, "down")),
        (ChatOutcomeUnknown("cut off"), RetryLater(2.0, "cut off", uncertain=True)),
        (TimeoutError(), RetryLater(2.0, "TimeoutError", uncertain=True)),
        (MemoryAuthRejected("key"), RetryLater(60.0, "key", pause_s=60.0, tried=False)),
        (ChatAuthRejected("revoked"), RetryLater(60.0, "revoked", pause_s=60.0, tried=False)),
    ],
)
def test_what_a_failure_means(problem: Exception, expected: object) -> None:
    assert decide_after_failure(problem, 2, 0.5, uncertain=False) == expected


def test_doubt_about_an_earlier_call_stays() -> None:
    decision = decide_after_failure(ChatUnavailable("down"), 1, 0.5, uncertain=True)
    assert isinstance(decision, RetryLater)
    assert decision.uncertain


def test_backoff_grows_with_jitter_up_to_five_minutes() -> None:
    assert [compute_backoff_s(n, 0.999) for n in (1, 2, 3)] == pytest.approx([1.998, 3.996, 7.992])
    assert compute_backoff_s(40, 0.999) == pytest.approx(299.7)
    assert compute_backoff_s(40, 0.0) == 0.5


def row(delivery_id: str, channel: str, operation: Operation = Operation.POST) -> OutboxRow:
    payload = {"operation": operation, "channel": channel, "delivery_id": delivery_id}
    return OutboxRow(
        1, OutboxEntry(Destination.SLACK, operation, "k", delivery_id, payload), "lease", 1, uncertain=False
    )


def test_a_channel_takes_one_message_a_second_and_reactions_at_once() -> None:
    rows = [row("a", "C1"), row("b", "C1"), row("c", "C2"), row("d", "C1"), row("e", "C1", Operation.REACT)]
    waits = schedule(rows, {"C2": START + timedelta(seconds=0.5), "C1": START - timedelta(seconds=9)}, START)
    assert [(r.entry.delivery_id, wait) for r, wait in waits] == [
        ("a", 0.0),
        ("b", 1.0),
        ("c", 0.5),
        ("d", 2.0),
        ("e", 0.0),
    ]


def test_a_payload_that_is_no_call_is_refused() -> None:
    broken = OutboxRow(
        1, OutboxEntry(Destination.SLACK, Operation.POST, "k", "d", {"text": "x"}), "lease", 1, uncertain=False
    )
    with pytest.raises(RecordRejected):
        build_posting(broken)


# deliveries


async def test_a_post_is_made_once_with_its_blocks_and_settled_with_its_ts(
    deliver: Deliver, store: Store, chat: FakeChat, clock: FakeClock
) -> None:
    posting = Posting(Operation.POST, "C1", "d1", "hi", ({"type": "divider"},), thread_ts="1.1", incident_id="INC-1")
    await owe(store, build_outbox_entry(posting, key="k"))
    assert await deliver.drain_once() == 0.0
    assert await deliver.drain_once() == IDLE_S
    assert [p for _, p in chat.posted] == [posting]
    assert await store.outbox.count_rows() == {"slack.sent": 1}
    assert chat.looked == 0


async def test_an_edit_knows_the_message_that_it_changes(
    deliver: Deliver, store: Store, chat: FakeChat, clock: FakeClock
) -> None:
    edit = Posting(Operation.UPDATE, "C1", "d1/edit", "newer")
    await owe(store, post("d1", key="k"), build_outbox_entry(edit, key="k", target="d1"))
    await drain(deliver, clock, 2)
    assert [(p.operation, p.ts) for _, p in chat.posted] == [("post", None), ("update", "1700000001.000100")]


async def test_an_edit_of_what_was_never_posted_ends_as_a_dead_letter(
    deliver: Deliver, store: Store, chat: FakeChat, clock: FakeClock
) -> None:
    chat.problems = [ChatRejected("gone", "channel_not_found")]
    await owe(
        store, post("d1", key="k"), build_outbox_entry(Posting(Operation.UPDATE, "C1", "e", "x"), key="k", target="d1")
    )
    await drain(deliver, clock, 400)
    assert chat.posted == []
    assert await store.outbox.count_rows() == {"slack.dead": 2}


async def test_messages_of_a_channel_keep_their_pace_and_people_go_first(
    deliver: Deliver, store: Store, chat: FakeChat, clock: FakeClock
) -> None:
    await owe(store, post("a"), post("b"), post("c"), post("other", "C2"))
    await deliver.drain_once()
    await owe(store, post("person", urgent=True))
    await drain(deliver, clock, 4)
    assert sent(chat) == ["a", "other", "person", "b", "c"]
    times = [at for at, p in chat.posted if p.channel == "C1"]
    assert all(later - earlier >= timedelta(seconds=1) for earlier, later in pairwise(times))


async def test_a_lost_answer_is_looked_up_before_it_is_posted_again(
    deliver: Deliver, store: Store, chat: FakeChat, clock: FakeClock
) -> None:
    chat.lost = [ChatOutcomeUnknown("cut off")]
    await owe(store, post("d1"))
    await drain(deliver, clock, 5)
    assert sent(chat) == ["d1"]
    assert chat.looked == 1
    assert await store.outbox.count_rows() == {"slack.sent": 1}


async def test_a_call_that_never_arrived_is_made_again(
    deliver: Deliver, store: Store, chat: FakeChat, clock: FakeClock
) -> None:
    chat.problems = [ChatOutcomeUnknown("cut off")]
    await owe(store, post("d1"))
    await drain(deliver, clock, 5)
    assert sent(chat) == ["d1"]
    assert chat.looked == 1


async def test_a_post_that_was_replaced_becomes_an_edit(
    deliver: Deliver, store: Store, chat: FakeChat, clock: FakeClock
) -> None:
    await owe(store, post("d1"))
    await drain(deliver, clock, 2)
    await owe(store, build_outbox_entry(Posting(Operation.POST, "C1", "d1", "newer"), key="d1", replaces=True))
    await drain(deliver, clock, 2)
    assert [(p.operation, p.text, p.ts) for _, p in chat.posted][1] == ("update", "newer", "1700000001.000100")
    assert len(chat.posted) == 2


async def test_outages_are_waited_out_and_slacks_own_wish_is_kept(
    deliver: Deliver, store: Store, chat: FakeChat, clock: FakeClock
) -> None:
    chat.problems = [ChatUnavailable("rate limited", 3.0)]
    await owe(store, post("d1"), post("d2"))
    await deliver.drain_once()
    await drain(deliver, clock, 2)
    assert sent(chat) == []
    await drain(deliver, clock, 4)
    assert sorted(sent(chat)) == ["d1", "d2"]


async def test_a_refused_token_stops_everything_and_loses_nothing(
    deliver: Deliver, store: Store, chat: FakeChat, clock: FakeClock
) -> None:
    chat.problems = [ChatAuthRejected("revoked")]
    await owe(store, post("d1"), post("d2", "C2"))
    await deliver.drain_once()
    assert await deliver.drain_once() > 0
    already = len(chat.posted)
    await drain(deliver, clock, 30)
    assert len(chat.posted) == already
    await drain(deliver, clock, 35)
    assert sorted(sent(chat)) == ["d1", "d2"]


async def test_the_store_being_down_is_told(deliver: Deliver, store: Store, chat: FakeChat) -> None:
    chat.problems = [StoreUnavailable("The disk is full.")]
    await owe(store, post("d1"))
    with pytest.raises(StoreUnavailable):
        await deliver.drain_once()


# the bank


RECORD = Incident("INC-1", "Gateway timeouts")


def to_bank(operation: Operation, delivery_id: str, **payload: Any) -> OutboxEntry:
    return OutboxEntry(Destination.BANK, operation, "INC-1", delivery_id, {"incident_id": "INC-1", **payload})


async def test_the_bank_gets_what_the_store_holds_in_order(store: Store, chat: FakeChat, clock: FakeClock) -> None:
    bank = FakeMemoryBank()
    deliver = Deliver(
        outbox=store.outbox, chat=chat, clock=clock, bank=bank, records=store.incidents, chance=lambda: 0.5
    )
    await store.incidents.commit(Changes(records=(RECORD,), deliveries=(to_bank(Operation.RETAIN, "r1"),)))
    assert await deliver.drain_once() == 0.0
    assert bank.kept == {"INC-1": RECORD}
    await store.incidents.commit(Changes(retracted=("INC-1",), deliveries=(to_bank(Operation.RETRACT, "r2"),)))
    await deliver.drain_once()
    assert bank.kept == {}
    assert await store.outbox.count_rows() == {"bank.sent": 2}


async def test_what_is_here_again_is_not_retracted_by_an_older_row(
    store: Store, chat: FakeChat, clock: FakeClock
) -> None:
    bank = FakeMemoryBank()
    deliver = Deliver(
        outbox=store.outbox, chat=chat, clock=clock, bank=bank, records=store.incidents, chance=lambda: 0.5
    )
    imported = replace(to_bank(Operation.RETAIN, "import"), replaces=True)
    await store.incidents.commit(Changes(records=(RECORD,), deliveries=(imported,)))
    await store.incidents.commit(Changes(retracted=("INC-1",), deliveries=(to_bank(Operation.RETRACT, "r2"),)))
    await store.incidents.commit(Changes(records=(RECORD,), deliveries=(imported,)))
    await drain(deliver, clock, 2)
    assert bank.kept == {"INC-1": RECORD}
    assert await store.outbox.count_rows() == {"bank.sent": 2}


async def test_a_bank_that_is_down_gets_it_later(store: Store, chat: FakeChat, clock: FakeClock) -> None:
    bank = FakeMemoryBank(down=True)
    deliver = Deliver(
        outbox=store.outbox, chat=chat, clock=clock, bank=bank, records=store.incidents, chance=lambda: 0.5
    )
    await store.incidents.commit(Changes(records=(RECORD,), deliveries=(to_bank(Operation.RETAIN, "r1"),)))
    await drain(deliver, clock, 30)
    assert await store.outbox.count_rows() == {"bank.pending": 1}
    bank.down = False
    await drain(deliver, clock, 60)
    assert bank.kept == {"INC-1": RECORD}


async def test_a_record_that_is_gone_needs_no_retaining(store: Store, chat: FakeChat, clock: FakeClock) -> None:
    bank = FakeMemoryBank()
    deliver = Deliver(outbox=store.outbox, chat=chat, clock=clock, bank=bank, records=store.incidents)
    await owe(store, to_bank(Operation.RETAIN, "r1"))
    await deliver.drain_once()
    assert bank.kept == {}
    assert await store.outbox.count_rows() == {"bank.sent": 1}


@dataclass
class OddBank(FakeMemoryBank):
    """A bank that fails for some records, or for all, as told."""

    problems: dict[str, Exception] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    async def retain(self, incident: Incident) -> None:
        self.asked.append(incident.incident_id)
        if problem := self.problems.get(incident.incident_id, self.problems.get("*")):
            raise problem
        await super().retain(incident)


async def with_records(store: Store, *numbers: int) -> None:
    records = tuple(replace(RECORD, incident_id=f"INC-{n}") for n in numbers)
    rows = tuple(
        OutboxEntry(
            Destination.BANK, Operation.RETAIN, r.incident_id, f"retain/{r.incident_id}", {"incident_id": r.incident_id}
        )
        for r in records
    )
    await store.incidents.commit(Changes(records=records, deliveries=rows))


async def test_a_row_that_fails_while_others_arrive_is_a_dead_letter_in_the_end(
    store: Store, chat: FakeChat, clock: FakeClock
) -> None:
    bank = OddBank(problems={"INC-1": MemoryUnavailable("HTTP 500.")})
    deliver = Deliver(
        outbox=store.outbox, chat=chat, clock=clock, bank=bank, records=store.incidents, chance=lambda: 0.0
    )
    await with_records(store, 1)
    for number in range(2, 2 + ROW_FAULTS):
        assert await store.outbox.count_rows() == {"bank.pending": 1} | (
            {"bank.sent": number - 2} if number > 2 else {}
        )
        await drain(deliver, clock, 1)
        await with_records(store, number)
        await deliver.drain_once()
    await drain(deliver, clock, 1)
    assert await store.outbox.count_rows() == {"bank.dead": 1, "bank.sent": ROW_FAULTS}
    (dead,) = await store.outbox_admin.list_rows(frozenset({OutboxState.DEAD}), 5)
    assert dead.error == "HTTP 500. This failed 20 times while other deliveries arrived."


async def test_an_outage_has_no_limit_even_after_others_arrived(store: Store, chat: FakeChat, clock: FakeClock) -> None:
    bank = OddBank()
    deliver = Deliver(
        outbox=store.outbox, chat=chat, clock=clock, bank=bank, records=store.incidents, chance=lambda: 0.0
    )
    await with_records(store, 1)
    await deliver.drain_once()
    bank.problems["*"] = MemoryUnavailable("down")
    await with_records(store, 2, 3)
    await drain(deliver, clock, 60)
    assert len(bank.asked) > 4 * ROW_FAULTS
    bank.problems.clear()
    await drain(deliver, clock, 2)
    assert await store.outbox.count_rows() == {"bank.sent": 3}


async def test_a_refused_key_pauses_the_bank_alone_and_one_probe_ends_it(
    store: Store, chat: FakeChat, clock: FakeClock
) -> None:
    bank = OddBank(problems={"*": MemoryAuthRejected("The key is refused.")})
    deliver = Deliver(
        outbox=store.outbox, chat=chat, clock=clock, bank=bank, records=store.incidents, chance=lambda: 0.0
    )
    await with_records(store, 1, 2, 3)
    await deliver.drain_once()
    assert len(bank.asked) == 3
    assert deliver.list_paused() == {"bank": "The key is refused."}
    await owe(store, post("d1"))
    await drain(deliver, clock, 59)
    assert sent(chat) == ["d1"]
    assert len(bank.asked) == 3
    await drain(deliver, clock, 2)
    assert len(bank.asked) == 4
    bank.problems.clear()
    await drain(deliver, clock, 60)
    assert deliver.list_paused() == {}
    assert await store.outbox.count_rows() == {"bank.sent": 3, "slack.sent": 1}
    attempts = {row.attempts for row in await store.outbox_admin.list_rows(frozenset({OutboxState.SENT}), 9)}
    assert attempts == {1}


async def test_a_probe_that_meets_an_outage_does_not_end_the_pause(
    store: Store, chat: FakeChat, clock: FakeClock
) -> None:
    chat.problems = [ChatAuthRejected("revoked"), ChatUnavailable("down"), ChatUnavailable("down")]
    deliver = Deliver(outbox=store.outbox, chat=chat, clock=clock, chance=lambda: 0.0)
    await owe(store, post("d1"))
    await deliver.drain_once()
    await owe(store, post("d2", "C2"), post("d3", "C3"))
    clock.move(61)
    await deliver.drain_once()
    assert len(chat.problems) == 1
    assert deliver.list_paused() == {"slack": "revoked"}
    await drain(deliver, clock, 10)
    assert deliver.list_paused() == {}
    assert sorted(sent(chat)) == ["d1", "d2", "d3"]


async def test_a_right_that_can_be_missed_stops_nothing(deliver: Deliver, store: Store, chat: FakeChat) -> None:
    chat.problems = [ChatAuthRejected("The app lacks the scope reactions:write.", "missing_scope")]
    await owe(store, build_outbox_entry(Posting(Operation.REACT, "C1", "r1", "eyes"), key="r1"))
    await deliver.drain_once()
    assert await store.outbox.count_rows() == {"slack.dead": 1}
    assert deliver.list_paused() == {}


async def test_a_bank_row_waits_while_no_bank_is_set_up(deliver: Deliver, store: Store, clock: FakeClock) -> None:
    await with_records(store, 1)
    await drain(deliver, clock, 2)
    assert await deliver.drain(Destination.BANK) == 0.0
    assert await store.outbox.count_rows() == {"bank.pending": 1}


async def test_what_is_under_way_at_a_stop_is_given_back_and_looked_for(
    store: Store, chat: FakeChat, clock: FakeClock
) -> None:
    never, begun = asyncio.Event(), asyncio.Event()

    class Slow(FakeChat):
        async def deliver(self, posting: Posting) -> str | None:
            await super().deliver(posting)
            begun.set()
            await never.wait()
            return None

    slow = Slow(clock=clock.now)
    deliver = Deliver(outbox=store.outbox, chat=slow, clock=clock)
    await owe(store, post("d1"))
    drained = asyncio.ensure_future(deliver.drain_once())
    await begun.wait()
    drained.cancel()
    with pytest.raises(asyncio.CancelledError):
        await drained
    assert await deliver.release() == 1
    chat.there = slow.there
    await Deliver(outbox=store.outbox, chat=chat, clock=clock).drain_once()
    assert (chat.looked, chat.posted) == (1, [])
    assert await store.outbox.count_rows() == {"slack.sent": 1}


async def test_a_delivery_that_takes_too_long_may_have_happened(store: Store, clock: FakeClock) -> None:
    class Hanging(FakeChat):
        async def deliver(self, posting: Posting) -> str | None:
            await asyncio.sleep(10)
            return None

    await owe(store, post("d1"))
    await Deliver(outbox=store.outbox, chat=Hanging(clock=clock.now), clock=clock, deadline_s=0.01).drain_once()
    (row,) = await store.outbox_admin.list_rows(UNDELIVERED, 5)
    assert (row.uncertain, row.attempts, row.error) == (True, 1, "TimeoutError")


async def test_nothing_is_posted_to_a_channel_that_another_organisation_reads(
    store: Store, deliver: Deliver, chat: FakeChat
) -> None:
    chat.channels["C1"] = Channel("C1", is_shared=True)
    await owe(store, post("a"), post("b", "C2"))
    await deliver.drain_once()
    assert sent(chat) == ["b"]
    assert (await store.outbox.count_rows())["slack.dead"] == 1


async def test_nothing_is_posted_in_a_channel_that_the_bot_cannot_see(
    store: Store, deliver: Deliver, chat: FakeChat
) -> None:
    chat.gone.add("C1")
    await owe(store, post("a"))
    await deliver.drain_once()
    assert sent(chat) == []
    (row,) = [row async for row in store.outbox_admin.stream_undelivered()]
    assert (row.state, row.error) == ("dead", "the bot cannot see this channel: nothing is posted there")


def test_a_clock_that_was_set_back_makes_nobody_wait_for_hours() -> None:
    row = OutboxRow(1, post("a"), "lease", 1, uncertain=False)
    ((_, wait_s),) = schedule([row], {"C1": START + timedelta(hours=1)}, START)
    assert wait_s <= 5
