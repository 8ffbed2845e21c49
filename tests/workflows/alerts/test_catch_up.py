"""Reading back what was missed: from where, how far, at Slack's pace, and nothing twice."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bot.domain.delivery.kinds import Operation
from bot.ports.channel_history import HistoryPage
from bot.ports.delivery.inbox import ReceivedEvent
from bot.ports.errors import ChatAuthRejected, ChatRejected, ChatUnavailable
from bot.slack.inbound.events import OwnIdentity, read_back, receive
from bot.workflows.alerts.catch_up import CatchUpChannels, WatchConnection
from tests.workflows.world import START, World, format_ts, read_event, world

OWN = OwnIdentity("BBOT", "UBOT")


@dataclass
class ScriptedHistory:
    """Channels as they are told; pages of two. `problems` are raised one by one before an answer."""

    messages: dict[str, list[Mapping[str, Any]]] = field(default_factory=dict)
    problems: list[Exception] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)

    async def list_channels(self, cursor: str) -> tuple[Sequence[str], str]:
        names = sorted(self.messages)
        at = int(cursor or 0)
        return names[at : at + 1], str(at + 1) if at + 1 < len(names) else ""

    async def read_page(self, channel: str, oldest: str, cursor: str) -> HistoryPage:
        self.asked.append((channel, oldest))
        if self.problems:
            raise self.problems.pop(0)
        found = [m for m in self.messages[channel] if m["ts"] > oldest][::-1]
        at = int(cursor or 0)
        return HistoryPage(found[at : at + 2], str(at + 2) if at + 2 < len(found) else "")

    def post(self, minute: float, channel: str = "C1", **fields: Any) -> str:
        ts = format_ts(START + timedelta(minutes=minute))
        alert = {"fingerprint": f"fp{minute}"}
        self.messages.setdefault(channel, []).append({"ts": ts, "bot_id": "B9", "alert": alert, **fields})
        return ts


@pytest.fixture
async def w(tmp_path: Path) -> AsyncIterator[World]:
    async with world(tmp_path) as made:
        yield made


def catch_up(w: World, history: ScriptedHistory, slept: list[float] | None = None) -> CatchUpChannels:
    async def sleep(seconds: float) -> None:
        if slept is not None:
            slept.append(seconds)
        w.clock.advance(seconds=seconds)

    read = partial(_read, w)
    inbox = w.memory.store.inbox
    return CatchUpChannels(history=history, inbox=inbox, backlog=inbox, clock=w.clock, read=read, sleep=sleep)


def _read(_w: World, channel: str, message: Mapping[str, Any]) -> ReceivedEvent | None:
    return read_back(channel, message, "T1", read_event, OWN)


async def taken(w: World) -> list[Mapping[str, Any]]:
    return [row.body["event"] for row in await w.memory.inbox.claim(99)]


def minutes(number: float) -> datetime:
    return START + timedelta(minutes=number)


async def test_what_was_missed_is_received_in_order_and_marked(w: World) -> None:
    history = ScriptedHistory()
    before, *missed = [history.post(n) for n in (1, 5, 6, 7, 8, 9)]
    other = history.post(6.5, "C2")
    w.clock.at = minutes(30)
    assert await catch_up(w, history)(minutes(3), minutes(30)) == 6
    events = await taken(w)
    assert [e["ts"] for e in events] == [*missed, other]
    assert before not in {e["ts"] for e in events}
    assert all(e["read_back"] for e in events)


async def test_a_post_that_came_as_an_event_is_not_taken_twice_whichever_came_first(w: World) -> None:
    history = ScriptedHistory()
    ts = history.post(5)
    later = history.post(6)
    event = {"type": "message", "channel": "C1", **history.messages["C1"][0]}
    told = receive({"event": event, "team_id": "T1", "event_id": "Ev1"}, read_event, OWN)
    assert told is not None
    assert await w.memory.inbox.receive(told)
    again = catch_up(w, history)
    w.clock.at = minutes(10)
    assert await again(minutes(3), minutes(10)) == 1
    assert await again(minutes(3), minutes(10)) == 0
    late = receive(
        {"event": {**event, **history.messages["C1"][1]}, "team_id": "T1", "event_id": "Ev2"}, read_event, OWN
    )
    assert late is not None
    assert not await w.memory.inbox.receive(late)
    assert [e["ts"] for e in await taken(w)] == [ts, later]


async def test_own_posts_and_chatter_are_not_kept(w: World) -> None:
    history = ScriptedHistory()
    history.post(5, bot_id="BBOT")
    history.post(6, alert=None, text="what a night")
    w.clock.at = minutes(10)
    assert await catch_up(w, history)(minutes(3), minutes(10)) == 0
    assert await taken(w) == []


async def test_a_first_start_reads_nothing(w: World) -> None:
    history = ScriptedHistory()
    history.post(5)
    assert await catch_up(w, history)(None, minutes(10)) == 0
    assert history.asked == []


async def test_at_most_six_hours_are_read(w: World) -> None:
    history = ScriptedHistory()
    history.post(5)
    kept = history.post(7 * 60)
    w.clock.at = minutes(12 * 60)
    assert await catch_up(w, history)(minutes(1), minutes(12 * 60)) == 1
    assert [e["ts"] for e in await taken(w)] == [kept]
    assert history.asked == [("C1", format_ts(minutes(6 * 60)))]


async def test_a_connection_that_was_dead_without_a_sign_is_read_from_the_newest_event(w: World) -> None:
    history = ScriptedHistory()
    for n in (1, 2, 3):
        history.post(n)
    w.clock.at = minutes(1)
    read = catch_up(w, history).read("C1", history.messages["C1"][0])
    assert read is not None
    assert await w.memory.inbox.receive(read)
    w.clock.at = minutes(30)
    assert await catch_up(w, history)(minutes(29), minutes(30)) == 2
    assert {oldest for _, oldest in history.asked} == {format_ts(minutes(1))}


async def test_an_event_of_the_new_connection_does_not_hide_the_gap_before_it(w: World) -> None:
    history = ScriptedHistory()
    history.post(5)
    history.post(10.5)
    w.clock.at = minutes(10.5)
    live = catch_up(w, history).read("C1", history.messages["C1"][1])
    assert live is not None
    assert await w.memory.inbox.receive(live)
    assert await catch_up(w, history)(minutes(3), minutes(10)) == 1


async def test_slack_names_the_pace_and_a_refused_channel_costs_only_itself(w: World) -> None:
    history = ScriptedHistory(
        problems=[ChatUnavailable("wait", 30.0), ChatUnavailable("down"), ChatRejected("no", "x")]
    )
    history.post(5)
    history.post(5, "C2")
    slept: list[float] = []
    w.clock.at = minutes(10)
    assert await catch_up(w, history, slept)(minutes(3), minutes(10)) == 1
    assert slept == [30.0, 5.0]
    assert [e["channel"] for e in await taken(w)] == ["C2"]


async def test_it_ends_at_its_deadline_and_stops_where_the_token_is_refused(w: World) -> None:
    history = ScriptedHistory(problems=[ChatUnavailable("wait", 60.0)] * 99)
    history.post(5)
    w.clock.at = minutes(10)
    assert await catch_up(w, history)(minutes(3), minutes(10)) == 0
    assert w.clock.at == minutes(25)
    history.problems = [ChatAuthRejected("revoked", "token_revoked")]
    with pytest.raises(ChatAuthRejected):
        await catch_up(w, history)(minutes(3), minutes(25))
    assert await taken(w) == []


async def test_each_connection_is_followed_by_a_look_and_what_is_heard_is_noted_after_it(w: World) -> None:
    history, heard, up = ScriptedHistory(), w.memory.store.watermark, [True]

    async def is_connected() -> bool:
        return up[0]

    stay = WatchConnection(heard=heard, catch_up=catch_up(w, history), clock=w.clock, is_connected=is_connected)
    history.post(-5)
    await stay()
    assert await heard.read() is None, "no connection was greeted yet"
    stay.connections.append(w.clock.now())
    await stay()
    assert (await heard.read(), await taken(w)) == (START, [])
    up[0] = False
    w.clock.at = minutes(20)
    await stay()
    up[0] = True
    await stay()
    assert await heard.read() == START, "connected again, and not greeted"
    missed = history.post(10)
    stay.connections.append(minutes(20))
    await stay()
    assert [e["ts"] for e in await taken(w)] == [missed]
    assert await heard.read() == minutes(20)
    w.clock.advance(seconds=5)
    await stay()
    assert await heard.read() == minutes(20), "noted now and then only"
    w.clock.advance(seconds=5)
    await stay()
    assert await heard.read() == minutes(20) + timedelta(seconds=10)


async def test_a_brief_says_that_it_is_late(w: World) -> None:
    w.clock.at = minutes(141)
    await w.answer(await w.row({"channel": "C1", "ts": format_ts(START), "alert": {}, "read_back": True}))
    (row,) = [r for r in await w.drain_outbox() if r.entry.operation == Operation.POST]
    text = str(row.entry.payload["blocks"])
    assert "*late*: posted " in text
    assert "2026-11-29 03:00 UTC" in text
    assert "2026-11-29 05:21 UTC" in text
    assert " after a gap" in text


async def test_a_brief_in_time_says_nothing_of_it(w: World) -> None:
    await w.post()
    (row,) = await w.drain_outbox()
    assert "late" not in str(row.entry.payload["blocks"])


async def test_pages_that_go_round_in_a_circle_end_and_what_was_read_is_taken(w: World) -> None:
    class Circling(ScriptedHistory):
        async def list_channels(self, cursor: str) -> tuple[Sequence[str], str]:
            return ["C1"], "same"

        async def read_page(self, channel: str, oldest: str, cursor: str) -> HistoryPage:
            return HistoryPage((await super().read_page(channel, oldest, "")).messages, "same")

    history = Circling()
    history.post(5)
    assert await catch_up(w, history)(minutes(3), minutes(10)) == 1
    assert len(history.asked) == 2
