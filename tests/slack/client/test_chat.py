"""The chat port on the Web API of the local Slack, with everything that can go wrong there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.delivery.kinds import Operation, read_operation
from bot.playground import LocalSlack
from bot.ports.chat import Channel, Posting
from bot.ports.errors import ChatAuthRejected, ChatOutcomeUnknown, ChatRejected, ChatUnavailable
from bot.slack.client.chat import (
    MEMBER_PAGE,
    SlackChat,
    build_chat_error,
    build_web_client,
    parse_channel,
    read_error_code,
)
from tests.slack.client.chat_support import BLOCKS, ToldClock, post


@pytest.fixture
async def slack() -> AsyncIterator[LocalSlack]:
    async with await LocalSlack.start() as running:
        yield running


@pytest.fixture
def clock() -> ToldClock:
    return ToldClock()


@pytest.fixture
def chat(slack: LocalSlack, clock: ToldClock) -> SlackChat:
    return SlackChat(build_web_client(slack.bot_token, slack.api_url), clock, deadline_s=2.0)


async def test_a_post_carries_its_delivery_and_unfurls_nothing(slack: LocalSlack, chat: SlackChat) -> None:
    ts = await chat.deliver(post())
    assert ts is not None
    assert slack.message("C0ALERTS", ts)["metadata"] == {
        "event_type": "precedent",
        "event_payload": {"delivery_id": "d1", "incident_id": "INC-1"},
    }
    (call,) = slack.calls("chat.postMessage")
    assert str(call["args"]["unfurl_links"]).lower() in {"false", "0"}
    assert not {"parse", "link_names"} & set(call["args"])


async def test_it_finds_what_it_posted_in_channel_and_thread_even_after_an_edit(
    slack: LocalSlack, chat: SlackChat
) -> None:
    root = await chat.deliver(post("root"))
    reply = await chat.deliver(post("reply", thread_ts=root))
    assert await chat.deliver(Posting(Operation.UPDATE, "C0ALERTS", "reply/edit", "new", BLOCKS, ts=reply)) == reply
    assert await chat.find_delivered(post("root")) == root
    assert await chat.find_delivered(post("reply", thread_ts=root)) == reply
    assert await chat.find_delivered(post("never", thread_ts=root)) is None


async def test_deleting_editing_and_reacting_twice_are_fine(slack: LocalSlack, chat: SlackChat) -> None:
    ts = await chat.deliver(post())
    react = Posting(Operation.REACT, "C0ALERTS", "r", ts=ts, reaction="eyes")
    assert await chat.deliver(react) is None
    assert await chat.deliver(react) is None
    await chat.deliver(Posting(Operation.DELETE, "C0ALERTS", "x", ts=ts))
    assert await chat.deliver(Posting(Operation.DELETE, "C0ALERTS", "x", ts=ts)) is None
    assert await chat.deliver(Posting(Operation.UPDATE, "C0ALERTS", "u", "t", BLOCKS, ts=ts)) is None
    assert await chat.get_permalink("C0ALERTS", ts or "") is None


async def test_ephemeral_and_home(slack: LocalSlack, chat: SlackChat) -> None:
    await chat.deliver(Posting(Operation.EPHEMERAL, "C0ALERTS", "e", "psst", user="U0ALICE"))
    await chat.deliver(Posting(Operation.HOME, "U0ALICE", "h", "home", BLOCKS, user="U0ALICE"))
    assert [m["text"] for m in slack.ephemerals("alice")] == ["psst"]
    home = slack.home("alice")
    assert home is not None
    assert home["blocks"][0]["text"]["text"] == "hello"


async def test_an_unknown_operation_is_refused(chat: SlackChat) -> None:
    with pytest.raises(ChatRejected):
        await chat.deliver(Posting(read_operation("sing"), "C0ALERTS", "s"))


async def test_who_it_is(slack: LocalSlack, chat: SlackChat) -> None:
    us = await chat.fetch_identity()
    assert (us.user_id, us.bot_id, us.team_id) == (slack.bot_user, slack.bot_id, slack.team_id)
    assert {"chat:write", "channels:history"} <= await chat.fetch_scopes()


async def test_channels_are_told_apart_and_kept_for_a_minute(
    slack: LocalSlack, chat: SlackChat, clock: ToldClock
) -> None:
    public, secret = await chat.read_channel("C0ALERTS"), await chat.read_channel("C0SECRET")
    direct, shared = await chat.read_channel(slack.dm("alice")), await chat.read_channel("C0PARTNERS")
    assert (public.visibility, public.is_shared, public.name) == ("public", False, "alerts")
    assert secret.visibility == "private:C0SECRET"
    assert direct.is_private
    assert shared.is_shared
    await chat.read_channel("C0ALERTS")
    assert len(slack.calls("conversations.info")) == 4
    clock.at += timedelta(minutes=1)
    await chat.read_channel("C0ALERTS")
    assert len(slack.calls("conversations.info")) == 5


async def test_who_reads_a_channel_can_be_asked_anew(slack: LocalSlack, chat: SlackChat, clock: ToldClock) -> None:
    await chat.read_channel("C0ALERTS")
    alerts = slack.core.workspace.channel("alerts")
    alerts.is_private = True
    clock.at += timedelta(seconds=9)
    assert not (await chat.read_channel("C0ALERTS", within_s=10)).is_private
    clock.at += timedelta(seconds=1)
    assert not (await chat.read_channel("C0ALERTS")).is_private
    assert (await chat.read_channel("C0ALERTS", within_s=10)).is_private
    assert (await chat.read_channel("C0ALERTS")).is_private  # what was asked anew is what is known from then on
    alerts.is_archived = True
    for _ in range(2):  # and what cannot be used is not kept: it may be mended any moment
        assert (await chat.read_channel("C0ALERTS", within_s=0)).is_archived
        alerts.is_archived = not alerts.is_archived
        assert (await chat.read_channel("C0ALERTS")).is_archived is alerts.is_archived
        alerts.is_archived = True
    await chat.read_channel("C0PARTNERS")
    del slack.core.workspace.channels["C0PARTNERS"]
    with pytest.raises(ChatRejected):
        await chat.read_channel("C0PARTNERS", within_s=0)
    with pytest.raises(ChatRejected):
        await chat.read_channel("C0PARTNERS")


@pytest.mark.parametrize(
    "answer", [{}, {"channel": None}, {"channel": {}}, {"channel": {"name": "x"}}, {"channel": "C1"}]
)
async def test_an_answer_that_names_no_channel_is_no_public_channel(answer: dict[str, Any], clock: ToldClock) -> None:
    class Empty(AsyncWebClient):
        async def conversations_info(self, **_: Any) -> Any:
            return SimpleNamespace(data={"ok": True, **answer})

    with pytest.raises(ChatUnavailable, match=r"does not say|is not Slack"):
        await SlackChat(Empty(), clock).read_channel("C1")


async def test_a_permalink(slack: LocalSlack, chat: SlackChat) -> None:
    ts = await chat.deliver(post())
    assert ts is not None
    link = await chat.get_permalink("C0ALERTS", ts)
    assert link is not None
    assert ts.replace(".", "") in link


async def test_being_limited_says_how_long_to_wait(slack: LocalSlack, chat: SlackChat) -> None:
    await slack.limit(1, "chat.postMessage", retry_after_s=7)
    with pytest.raises(ChatUnavailable) as waited:
        await chat.deliver(post())
    assert (waited.value.retry_after_s, isinstance(waited.value, ChatOutcomeUnknown)) == (7.0, False)


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("channel_not_found", ChatRejected), ("not_in_channel", ChatRejected), ("is_archived", ChatRejected),
        ("invalid_blocks", ChatRejected), ("msg_too_long", ChatRejected), ("restricted_action", ChatRejected),
        ("invalid_auth", ChatAuthRejected), ("account_inactive", ChatAuthRejected),
        ("token_revoked", ChatAuthRejected), ("ratelimited", ChatUnavailable), ("service_unavailable", ChatUnavailable),
        ("fatal_error", ChatOutcomeUnknown), ("internal_error", ChatOutcomeUnknown), ("http_500", ChatOutcomeUnknown),
    ],
)  # fmt: skip
async def test_refusals_are_told_apart(slack: LocalSlack, chat: SlackChat, code: str, error: type[Exception]) -> None:
    await slack.fail(code, "chat.postMessage")
    with pytest.raises(error) as refusal:
        await chat.deliver(post())
    assert type(refusal.value) is error
    assert await chat.deliver(post()) is not None


async def test_a_missing_scope_says_which_and_what_to_do(slack: LocalSlack, chat: SlackChat) -> None:
    await slack.refuse_scope("reactions:write")
    with pytest.raises(ChatAuthRejected) as refusal:
        await chat.deliver(Posting(Operation.REACT, "C0ALERTS", "r", ts="1.1", reaction="eyes"))
    assert "reactions:write" in str(refusal.value)
    assert "reinstall" in str(refusal.value)


async def test_a_lost_answer_is_an_unknown_outcome_and_is_not_repeated(slack: LocalSlack, chat: SlackChat) -> None:
    await slack.lose_answers(1, "chat.postMessage")
    with pytest.raises(ChatOutcomeUnknown):
        await chat.deliver(post())
    assert len([m for m in slack.messages("C0ALERTS") if m["text"] == "hello"]) == 1
    assert await chat.find_delivered(post()) is not None


async def test_silence_beyond_the_deadline_is_an_unknown_outcome(slack: LocalSlack, chat: SlackChat) -> None:
    chat.deadline_s = 0.05
    await slack.slow(0.3, "chat.postMessage")
    with pytest.raises(ChatOutcomeUnknown):
        await chat.deliver(post())


async def test_what_was_never_sent_is_plainly_unavailable(clock: ToldClock) -> None:
    chat = SlackChat(build_web_client("xoxb-x", "http://127.0.0.1:9/api/"), clock)
    with pytest.raises(ChatUnavailable) as refusal:
        await chat.deliver(post())
    assert not isinstance(refusal.value, ChatOutcomeUnknown)


class Refusing(AsyncWebClient):
    """A client that refuses a call before it is made."""

    async def api_call(self, api_method: str, **_: Any) -> Any:
        raise SlackClientError(f"cannot call {api_method}")


async def test_what_the_client_refuses_is_rejected(clock: ToldClock) -> None:
    with pytest.raises(ChatRejected, match="cannot call"):
        await SlackChat(Refusing(), clock).deliver(post())


class Odd:
    """An answer that is none of Slack's API."""

    status = 502
    headers = {"Retry-After": "soon"}  # noqa: RUF012  # as slack_sdk hands it over
    data = b"<html>"


def test_answers_of_something_else_than_slack() -> None:
    problem = SlackApiError("odd", Odd())
    assert read_error_code(problem) == "http_502"
    assert isinstance(build_chat_error("post", problem), ChatOutcomeUnknown)
    waiting = Odd()
    waiting.status = 429
    found = build_chat_error("post", SlackApiError("wait", waiting))
    assert isinstance(found, ChatUnavailable)
    assert found.retry_after_s is None


def test_channels_within_one_organisation_are_not_shared_with_another() -> None:
    assert parse_channel("C1", {"is_shared": True, "is_org_shared": True}) == Channel("C1")
    assert parse_channel("C1", {"is_shared": True}).is_shared
    assert parse_channel("G1", {"is_mpim": True}).is_private


async def test_membership_is_looked_up_through_all_pages_and_a_yes_is_kept_for_a_minute(
    slack: LocalSlack, chat: SlackChat, clock: ToldClock
) -> None:
    members = slack.core.workspace.channel("sec-incidents").members
    members[:] = [*(f"U{n}" for n in range(2 * MEMBER_PAGE)), "U0ALICE", slack.bot_user]
    assert await chat.is_member("C0SECRET", "U0ALICE")
    assert len(slack.calls("conversations.members")) == 3
    assert not await chat.is_member("C0SECRET", "U0BOB")
    members[:] = ["U0BOB", slack.bot_user]
    assert await chat.is_member("C0SECRET", "U0BOB")
    assert await chat.is_member("C0SECRET", "U0ALICE")
    clock.at += timedelta(seconds=61)
    assert not await chat.is_member("C0SECRET", "U0ALICE")
    with pytest.raises(ChatRejected):
        await chat.is_member("C0NOSUCH", "U0ALICE")
