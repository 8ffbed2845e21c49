"""Who is answered, with what, and what happens where Slack, the model or the brief is not there."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bot.adapters.store.delivery.delivery_log import SqlDeliveryLog
from bot.bootstrap.wiring.recall import build_show_details
from bot.domain.assistant.hypothesis import TriedFix
from bot.domain.assistant.intents import PERSON_A_MINUTE
from bot.domain.brief.decide import Brief
from bot.domain.incidents.record import Attempt, Boundary, Incident, Source, VerificationStatus
from bot.ports.chat import Channel, ChatMessage, ThreadMessage
from bot.ports.errors import ChatAuthRejected, ChatRejected, ChatUnavailable, IncidentNotFound
from bot.ports.unit_of_work import Changes
from bot.slack.views.assistant_reply import SlackReplySurfaces
from bot.workflows.assistant.converse import BUSY, Converse
from tests.fakes import FakeChat
from tests.workflows.world import START, World, format_ts, world

VERIFIED = VerificationStatus.VERIFIED
HARD = "is the resolver of the bank involved?"


@dataclass
class ScriptedAnalyst:
    """Says that it was asked; waits where it is told to."""

    reason: str | None = None
    asked: list[tuple[str, Sequence[TriedFix]]] = field(default_factory=list)
    go: asyncio.Event = field(default_factory=asyncio.Event)
    both: asyncio.Event = field(default_factory=asyncio.Event)

    async def explain_refusal(self, channel: Channel) -> str | None:
        return self.reason

    async def ask(
        self, brief: Brief, channel: Channel, by: str, attempts: Sequence[TriedFix], question: str
    ) -> ChatMessage:
        self.asked.append((question, attempts))
        if len(self.asked) == 2:
            self.both.set()
        await self.go.wait()
        return ChatMessage(f"hypothesis {len(self.asked)}")

    async def compare(self, brief: Brief, channel: Channel, by: str, attempts: Sequence[TriedFix]) -> ChatMessage:
        self.asked.append(("both", attempts))
        return ChatMessage("both")


@dataclass
class FailingChat(FakeChat):
    """Slack's facts, or the error that it is told to raise for one of them."""

    fails: dict[str, Exception] = field(default_factory=dict)

    async def read_channel(self, channel_id: str, *, within_s: float | None = None) -> Channel:
        self._fail("channel")
        return await super().read_channel(channel_id)

    async def read_message(self, channel_id: str, ts: str) -> ThreadMessage | None:
        self._fail("said")
        return await super().read_message(channel_id, ts)

    async def read_thread(self, channel_id: str, root_ts: str) -> tuple[ThreadMessage, ...]:
        self._fail("thread")
        return await super().read_thread(channel_id, root_ts)

    def _fail(self, what: str) -> None:
        if what in self.fails:
            raise self.fails[what]


@dataclass
class Conversation:
    """A world with somebody to talk to."""

    w: World
    chat: FailingChat
    analyst: ScriptedAnalyst
    converse: Converse
    root: str
    said: int = 0
    names: dict[str, str] = field(default_factory=dict)

    async def ask(self, text: str, user: str = "U1", root: str | None = None, **event: Any) -> list[str]:
        """Work one question off; the texts that are owed then."""
        await self.converse(await self.row(text, user, root, **event))
        return [str(row.entry.payload.get("text")) for row in await self.w.drain_outbox()]

    async def row(self, text: str, user: str = "U1", root: str | None = None, **event: Any) -> Any:
        self.said += 1
        root = root or self.root
        ts = f"{int(START.timestamp()) + 5}.{self.said:06d}"
        before = self.chat.threads.get(("C1", root), ())
        self.chat.threads["C1", root] = (*before, ThreadMessage(user, ts, text, root))
        return await self.w.row({"channel": "C1", "ts": ts, "thread_ts": root, "user": user} | event)


@pytest.fixture
async def talking(tmp_path: Path) -> AsyncIterator[Conversation]:
    async with world(tmp_path) as w:
        past = Incident(
            "INC-7", "Gateway times out", service="payments-api", boundary=Boundary.VENDOR, root_cause="Their edge", started_at=START,
            attempts=(Attempt("Open the breaker", VERIFIED, by="U0ALICE1"),), source=Source(),
        )  # fmt: skip
        await w.memory.incidents.commit(Changes(records=(past,), recallable=frozenset({"INC-7"})))
        root = await w.post(service="payments-api", severity="critical", title="Gateway times out")
        await w.drain_outbox()
        chat, analyst, names = FailingChat(), ScriptedAnalyst(), {"U0ALICE1": "Alice"}
        made: list[Exception] = []

        async def named(ids: Sequence[str]) -> Mapping[str, str]:
            if made:
                raise made[0]
            return names

        store, deliveries = w.memory.incidents, SqlDeliveryLog(w.memory.store.database)
        converse = Converse(
            store=store,
            chat=chat,
            deliveries=deliveries,
            clock=w.clock,
            talk=SlackReplySurfaces(),
            brief=build_show_details(w.memory, w.clock).read_brief,
            names=named,
            analyst=analyst,
        )
        told = Conversation(w, chat, analyst, converse, root, names=names)
        told.chat.fails = {}
        told.names_fail = made  # type: ignore[attr-defined]  # how a test makes the look-up of names fail
        yield told


async def test_a_question_outside_of_incidents_gets_help_and_thanks_nothing(talking: Conversation) -> None:
    (help_,) = await talking.ask("what now", root="1.1")
    assert help_ == "How to ask Precedent"
    assert await talking.ask("what now", root="1.1", answers=True) == []
    assert await talking.ask("thank you", root="1.1") == []
    assert await talking.ask("thank you") == []
    assert await talking.ask("what now", user="") == []


@pytest.mark.parametrize("part", ["channel", "said"])
async def test_what_slack_does_not_show_is_left(talking: Conversation, part: str) -> None:
    talking.chat.fails[part] = ChatRejected("not there", "channel_not_found")
    assert await talking.ask("what now") == []
    for problem in (ChatAuthRejected("no token"), ChatUnavailable("later")):
        talking.chat.fails[part] = problem
        with pytest.raises(type(problem)):
            await talking.ask("what now")


async def test_a_message_that_is_gone_or_anothers_is_left(talking: Conversation) -> None:
    row = await talking.row("what now")
    talking.chat.threads.clear()
    await talking.converse(row)
    assert await talking.w.drain_outbox() == []


async def test_a_thread_that_cannot_be_read_is_answered_without_what_was_said_in_it(talking: Conversation) -> None:
    await talking.row("restarted the proxy, no effect", "U2")
    assert "did not work" not in str(await talking.ask("what was tried?"))
    talking.chat.fails["thread"] = ChatRejected("no", "missing")
    assert await talking.ask("what was tried?") == [
        "Nothing is recorded for this incident, and nobody says in this thread that they tried something."
    ]
    talking.chat.fails["thread"] = ChatAuthRejected("no token")
    with pytest.raises(ChatAuthRejected):
        await talking.ask("what was tried?")


async def test_who_fixed_it_is_told_by_name_and_without_slack_too(talking: Conversation) -> None:
    row = await talking.row("who fixed it last time?")
    await talking.converse(row)
    (owed,) = await talking.w.drain_outbox()
    assert "Alice" in json.dumps(owed.entry.payload)
    talking.names_fail.append(ChatUnavailable("later"))  # type: ignore[attr-defined]  # see the fixture
    await talking.converse(await talking.row("who fixed it last time?"))
    (owed,) = await talking.w.drain_outbox()
    assert "somebody whose name Slack does not tell" in json.dumps(owed.entry.payload)


async def test_an_incident_without_a_brief_here_says_so(talking: Conversation) -> None:
    async def none(*_: Any) -> Brief:
        raise IncidentNotFound("none")

    talking.converse.brief = none
    assert "no brief in this channel" in str(await talking.ask("what now"))
    with pytest.raises(IncidentNotFound):
        await talking.converse.compare("INC-99", Channel("C1"), "U1")


async def test_what_the_bot_asks_back_may_be_answered_by_that_person_soon_in_that_thread(talking: Conversation) -> None:
    talking.analyst.reason = "No model."
    awaits, later = talking.converse.is_awaited, format_ts(talking.w.clock.now().replace(minute=1))
    assert not await awaits("C1", talking.root, "U1", later)
    (asks,) = await talking.ask(HARD)
    assert asks.startswith("The record does not answer that.")
    assert await awaits("C1", talking.root, "U1", later)
    assert not await awaits("C1", talking.root, "U2", later)
    assert not await awaits("C1", "1.1", "U1", later)
    assert not await awaits("C1", talking.root, "U1", format_ts(talking.w.clock.now().replace(minute=11)))
    (left,) = await talking.ask("hm, the resolver?", answers=True)
    assert left == "I leave it at that. Name me to ask again."
    assert not await awaits("C1", talking.root, "U1", later)
    (compared,) = await talking.ask("compare")
    assert compared.startswith("No model. “Compare without memory”")
    long = "what changed in the way that the proxy keeps its connections since somebody looked at the pool of it"
    assert (await talking.ask(long))[0].startswith("I see no source of deploys")


async def test_two_questions_at_once_are_with_the_model_and_not_three(talking: Conversation) -> None:
    rows = [await talking.row(HARD, f"U{n}") for n in range(3)]
    tasks = [asyncio.ensure_future(talking.converse(row)) for row in rows[:2]]
    await asyncio.wait_for(talking.analyst.both.wait(), 20)
    assert [str(r.entry.payload["text"])[:22] for r in await talking.w.drain_outbox()] == [":hourglass_flowing_san"] * 2
    await talking.converse(rows[2])
    (busy,) = await talking.w.drain_outbox()
    assert BUSY in json.dumps(busy.entry.payload)
    talking.analyst.go.set()
    await asyncio.gather(*tasks)
    assert sorted(str(row.entry.payload["text"]) for row in await talking.w.drain_outbox()) == [
        "hypothesis 2",
        "hypothesis 2",
    ]


async def test_who_was_told_to_wait_is_not_asked_back_when_the_model_is_gone(talking: Conversation) -> None:
    row = await talking.row(HARD)
    question = await talking.converse._read_question(row)
    assert question is not None
    await talking.converse._announce(question, talking.converse.talk.render_thinking(), "say")
    await talking.w.drain_outbox()
    talking.analyst.reason = "No model."
    await talking.converse(row)
    (answer,) = await talking.w.drain_outbox()
    assert answer.entry.delivery_id == question.build_delivery_id()
    assert answer.own_result is not None


async def test_compare_for_one_person_has_a_limit_of_its_own(talking: Conversation) -> None:
    incident_id = await talking.w.memory.incidents.find_incident("C1", talking.root) or ""
    got = [(await talking.converse.compare(incident_id, Channel("C1"), "U1")).text for _ in range(PERSON_A_MINUTE + 1)]
    assert got[:-1] == ["both"] * PERSON_A_MINUTE
    assert got[-1].startswith("That were many questions")
    talking.analyst.reason = "No model."
    assert (await talking.converse.compare(incident_id, Channel("C1"), "U2")).text == "No model."
