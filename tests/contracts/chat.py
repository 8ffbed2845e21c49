"""What every `Chat` does: Slack's, and the one of the tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

import pytest

from bot.domain.delivery.kinds import Operation
from bot.playground import LocalSlack
from bot.ports.chat import Channel, Chat, Posting, ThreadMessage
from bot.ports.errors import ChatRejected
from bot.slack.client.chat import SlackChat, build_web_client
from tests.fakes import FakeChat, FakeClock

PUBLIC, PRIVATE = "C0ALERTS", "C0SECRET"


class Workspace(Protocol):
    """A workspace with a public channel, a private one in which alice is and bob is not, and people who write."""

    @property
    def chat(self) -> Chat: ...

    async def say(self, text: str, user: str, thread_ts: str | None = None) -> str:
        """Write in the public channel; the ts."""
        ...


@dataclass
class FakeWorkspace:
    """The chat of the tests."""

    chat: FakeChat
    written: int = 0

    async def say(self, text: str, user: str, thread_ts: str | None = None) -> str:
        self.written += 1
        ts = f"1800000000.{self.written:06}"
        place = (PUBLIC, thread_ts or ts)
        self.chat.threads[place] = (*self.chat.threads.get(place, ()), ThreadMessage(user, ts, text, thread_ts))
        return ts


@dataclass
class LocalWorkspace:
    """Slack's chat on the local Slack."""

    slack: LocalSlack
    chat: SlackChat

    async def say(self, text: str, user: str, thread_ts: str | None = None) -> str:
        posted = await self.slack.post(PUBLIC, text, user=user, thread_ts=thread_ts)
        return str(posted["ts"])


@asynccontextmanager
async def open_fake_workspace() -> AsyncIterator[Workspace]:
    """The workspace of the fake."""
    channels = {PRIVATE: Channel(PRIVATE, is_private=True)}
    members = {PRIVATE: frozenset({"U0ALICE"})}
    yield FakeWorkspace(FakeChat(channels=channels, gone={"C0NOWHERE"}, members=members))


@asynccontextmanager
async def open_local_workspace() -> AsyncIterator[Workspace]:
    """The workspace of the local Slack."""
    async with await LocalSlack.start() as slack:
        client = build_web_client(slack.bot_token, slack.api_url)
        yield LocalWorkspace(slack, SlackChat(client, FakeClock()))


class ChatContract:
    """To be subclassed with a fixture `workspace`."""

    async def test_what_was_posted_is_found_by_its_delivery(self, workspace: Workspace) -> None:
        posting = Posting(Operation.POST, PUBLIC, "d/1", "hello")
        ts = await workspace.chat.deliver(posting)
        assert ts is not None
        assert await workspace.chat.find_delivered(posting) == ts
        assert await workspace.chat.find_delivered(Posting(Operation.POST, PUBLIC, "d/2", "hello")) is None
        link = await workspace.chat.get_permalink(PUBLIC, ts)
        assert link is not None
        assert link.endswith(f"/archives/{PUBLIC}/p{ts.replace('.', '')}")

    async def test_an_update_keeps_the_message_and_its_delivery(self, workspace: Workspace) -> None:
        posting = Posting(Operation.POST, PUBLIC, "d/1", "hello")
        ts = await workspace.chat.deliver(posting)
        assert await workspace.chat.deliver(Posting(Operation.UPDATE, PUBLIC, "d/1/edit", "bye", ts=ts)) == ts
        assert await workspace.chat.find_delivered(posting) == ts

    async def test_channels_are_public_private_or_refused(self, workspace: Workspace) -> None:
        public = await workspace.chat.read_channel(PUBLIC)
        private = await workspace.chat.read_channel(PRIVATE)
        assert (public.id, public.is_private, public.is_silent) == (PUBLIC, False, False)
        assert (private.is_private, private.visibility) == (True, f"private:{PRIVATE}")
        assert await workspace.chat.is_member(PRIVATE, "U0ALICE")
        assert not await workspace.chat.is_member(PRIVATE, "U0BOB")
        with pytest.raises(ChatRejected) as refused:
            await workspace.chat.read_channel("C0NOWHERE")
        assert refused.value.code == "channel_not_found"

    async def test_a_thread_holds_what_people_wrote_in_order(self, workspace: Workspace) -> None:
        root = await workspace.say("disk full", "U0ALICE")
        reply = await workspace.say("resized it", "U0BOB", root)
        messages = await workspace.chat.read_thread(PUBLIC, root)
        assert [(m.user, m.ts, m.text) for m in messages] == [
            ("U0ALICE", root, "disk full"),
            ("U0BOB", reply, "resized it"),
        ]
        found = await workspace.chat.read_message(PUBLIC, reply)
        assert found is not None
        assert (found.text, found.thread_ts) == ("resized it", root)
        assert await workspace.chat.read_message(PUBLIC, "1.000001") is None

    async def test_a_person_has_one_conversation_with_the_bot(self, workspace: Workspace) -> None:
        first = await workspace.chat.open_direct_message("U0ALICE")
        assert first == await workspace.chat.open_direct_message("U0ALICE")
        assert first != await workspace.chat.open_direct_message("U0BOB")
