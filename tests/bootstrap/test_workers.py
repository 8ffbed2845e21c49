"""The loops, against an in-memory inbox that says what was done to each row."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from bot.bootstrap.workers import MAX_ATTEMPTS, InboxWorker, Loop, compute_retry_delay_s, run_job
from bot.ports.delivery.inbox import InboxRow, ReceivedEvent
from bot.ports.errors import ChatAuthRejected, ChatUnavailable, StoreConflict, StoreUnavailable


class ListInbox:
    """An inbox over a list; remembers how each row ended."""

    def __init__(self, *rows: InboxRow, down: int = 0) -> None:
        self.rows = list(rows)
        self.ended: dict[int, tuple[str, float | str | None]] = {}
        self.down = down

    async def receive(self, received: ReceivedEvent) -> bool:
        raise NotImplementedError

    async def claim(self, limit: int) -> tuple[InboxRow, ...]:
        if self.down:
            self.down -= 1
            raise StoreUnavailable("down")
        taken, self.rows = self.rows[:limit], self.rows[limit:]
        return tuple(taken)

    async def retry_later(self, row: InboxRow, delay_s: float, error: str) -> None:
        self.ended[row.id] = ("later", delay_s)

    async def give_up(self, row: InboxRow, error: str) -> None:
        self.ended[row.id] = ("dead", error)

    async def acknowledge(self, row: InboxRow) -> None:
        self.ended[row.id] = ("settled", None)

    async def delete_settled(self, when: datetime) -> int:
        return 0


def row(number: int, kind: str = "message", attempts: int = 1) -> InboxRow:
    return InboxRow(number, kind, {}, f"lease{number}", attempts, datetime(2026, 11, 29, tzinfo=UTC))


def failing(problem: Exception) -> Callable[[InboxRow], Awaitable[None]]:
    async def handler(_row: InboxRow) -> None:
        raise problem

    return handler


async def work_off(worker: InboxWorker, inbox: ListInbox, count: int) -> None:
    task = asyncio.ensure_future(worker.run())
    for _ in range(400):
        if len(inbox.ended) >= count:
            break
        await asyncio.sleep(0.01)
    await worker.stop(1.0)
    await asyncio.wait_for(task, 2)


async def test_a_kind_without_a_handler_is_settled() -> None:
    inbox = ListInbox(row(1, "unknown"))
    await work_off(InboxWorker(inbox, {}), inbox, 1)
    assert inbox.ended == {1: ("settled", None)}


@pytest.mark.parametrize(
    ("problem", "attempts", "ended"),
    [
        (StoreConflict("race"), 1, ("later", 0.05)),
        (ChatUnavailable("slow"), 50, ("later", 300.0)),
        (ChatAuthRejected("revoked", "token_revoked"), 50, ("later", 300.0)),
        (KeyError("bug"), 2, ("later", 4.0)),
        (KeyError("bug"), MAX_ATTEMPTS, ("dead", "KeyError: 'bug'")),
    ],
)
async def test_a_failed_row_is_retried_and_only_a_bug_ever_ends_it(
    problem: Exception, attempts: int, ended: tuple[str, object]
) -> None:
    inbox = ListInbox(row(1, attempts=attempts))
    await work_off(InboxWorker(inbox, {"message": failing(problem)}), inbox, 1)
    assert inbox.ended == {1: ended}


@dataclass
class Crew:
    """A handler that knows how many of its calls were at work at once, at most."""

    inbox: ListInbox
    now: int = 0
    most: int = 0

    async def __call__(self, taken: InboxRow) -> None:
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.02)
        self.now -= 1
        await self.inbox.acknowledge(taken)


async def test_at_most_so_many_rows_are_worked_on_at_once() -> None:
    inbox = ListInbox(*(row(n) for n in range(9)))
    crew = Crew(inbox)

    await work_off(InboxWorker(inbox, {"message": crew}, workers=3, late_s=30.0), inbox, 9)
    assert crew.most == 3
    assert len(inbox.ended) == 9


async def test_where_the_event_loop_is_late_one_row_is_worked_on_at_once() -> None:
    inbox = ListInbox(*(row(n) for n in range(5)))
    crew = Crew(inbox)

    async def hog() -> None:
        while len(inbox.ended) < 5:
            time.sleep(0.03)  # noqa: ASYNC251  # what holds up the loop is meant
            await asyncio.sleep(0)

    await asyncio.gather(work_off(InboxWorker(inbox, {"message": crew}, workers=3, late_s=0.005), inbox, 5), hog())
    assert crew.most == 1
    assert len(inbox.ended) == 5


def test_waits_grow_and_end() -> None:
    waits = [compute_retry_delay_s(n, KeyError()) for n in range(1, 12)]
    assert waits == sorted(waits)
    assert waits[0] == 2.0
    assert waits[-1] == 300.0


async def test_a_loop_goes_on_after_a_failure_and_stops_when_told(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0

    async def once() -> float:
        nonlocal calls
        calls += 1
        return 0.01

    loop = Loop("test", once)
    loop.start()
    await asyncio.sleep(0.1)
    await loop.stop(1.0)
    seen = calls
    assert seen > 2
    await asyncio.sleep(0.05)
    assert calls == seen


async def test_a_job_that_fails_is_logged_and_not_raised(capsys: pytest.CaptureFixture[str]) -> None:
    async def job() -> None:
        raise KeyError("bug")

    await run_job("broken", job)
    said = capsys.readouterr()
    assert "broken" in said.err + said.out


async def test_what_does_not_end_in_time_is_broken_off_and_given_back() -> None:
    inbox, never = ListInbox(row(1), row(2)), asyncio.Event()

    async def handler(taken: InboxRow) -> None:
        if taken.id == 1:
            await never.wait()
        await asyncio.sleep(0.1)
        await inbox.acknowledge(taken)

    worker = InboxWorker(inbox, {"message": handler})
    task = asyncio.ensure_future(worker.run())
    await asyncio.sleep(0.05)
    await worker.stop(0.5)
    assert inbox.ended == {1: ("later", 0.0), 2: ("settled", None)}
    await asyncio.wait_for(task, 2)


async def test_giving_back_to_a_store_that_is_down_is_no_failure(capsys: pytest.CaptureFixture[str]) -> None:
    class Down(ListInbox):
        async def retry_later(self, row: InboxRow, delay_s: float, error: str) -> None:
            raise StoreUnavailable("down")

    never = asyncio.Event()

    async def handler(_taken: InboxRow) -> None:
        await never.wait()

    worker = InboxWorker(Down(row(1)), {"message": handler})
    task = asyncio.ensure_future(worker.run())
    await asyncio.sleep(0.05)
    await worker.stop(0.05)
    await asyncio.wait_for(task, 2)
    said = capsys.readouterr()
    assert "comes back when its lease ends" in said.err + said.out


async def test_a_turn_of_a_loop_that_does_not_end_is_broken_off() -> None:
    ended = asyncio.Event()

    async def once() -> float:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return 0.0

    loop = Loop("test", once)
    loop.start()
    await asyncio.sleep(0.05)
    await loop.stop(0.05)
    assert ended.is_set()
