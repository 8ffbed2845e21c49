"""What stands between the bot and Slack and answers in its place, and answers that Slack itself would never give."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.domain.delivery.kinds import Operation
from bot.ports.channel_history import HistoryPage
from bot.ports.chat import Channel, Posting
from bot.ports.errors import ChatAuthRejected, ChatRejected, ChatUnavailable
from bot.slack.app import format_error
from bot.slack.client import app_info
from bot.slack.client.chat import SlackChat, build_web_client
from bot.slack.client.first_events import find_channel_by_name, open_connection
from bot.slack.client.history import SlackHistory
from bot.slack.client.people import SlackPeople
from bot.slack.client.threads import SlackThreads
from bot.workflows.delivery.policy import RetryLater, decide_after_failure
from bot.workflows.operations.preview import LATER, PreviewChannel
from tests.fakes import FakeClock
from tests.slack.between import PAGE, Between, is_json, stands_between

Call = Callable[[SlackChat, str], Awaitable[object]]
OWN = app_info.AppIdentity("U0BOT", "B0BOT", "precedent", "T1", "Kestrel")


@pytest.fixture
async def between() -> AsyncIterator[Between]:
    async with stands_between() as found:
        yield found


def chat_of(between: Between) -> SlackChat:
    return SlackChat(build_web_client("xoxb-1", between.url), FakeClock())


def posting(operation: str) -> Posting:
    return Posting(Operation(operation), "C1", "d1", "x", ts="1.1", user="U1", content=b"png", extra={"name": "f.png"})


ODD: dict[str, dict[str, Any]] = {
    "a login page": {"body": PAGE, "content_type": "text/html"},
    "a login page, refusing": {"body": PAGE, "content_type": "text/html", "status": 403},
    "a gateway": {"body": PAGE, "content_type": "text/html", "status": 502},
    "plain words": {"text": "please log in"},
    "plain words, refusing": {"text": "blocked", "status": 451},
    "nothing": {"body": b""},
    "nothing, of JSON": {"body": b"", "content_type": "application/json"},
    "an archive": {"body": b"\x1f\x8b", "content_type": "application/gzip"},
    "a list": is_json([1, 2]),
    "a number": is_json(5),
    "null": is_json(None),
    "no JSON": {"text": "{", "content_type": "application/json"},
    "no text": {"body": b'{"ok": "\xff"}', "content_type": "application/json"},
    "nested without end": {"text": "[" * 100_000, "content_type": "application/json"},
    "no ok": is_json({"error": "forbidden"}, status=403),
    "not ok, without a word": is_json({"ok": False}),
    "an error that is no word": is_json({"ok": False, "error": {"code": 7}}),
    "metadata of another shape": is_json({"ok": True, "response_metadata": "x"}),
}
CALLS: dict[str, Call] = {
    **{
        name: lambda chat, _, name=name: chat.deliver(posting(name))  # type: ignore[misc]  # mypy cannot infer a lambda with a default
        for name in ("post", "update", "delete", "react", "ephemeral", "home", "upload", "delete_file")
    },
    "find": lambda chat, _: chat.find_delivered(posting(Operation.POST)),
    "channel": lambda chat, _: chat.read_channel("C1"),
    "member": lambda chat, _: chat.is_member("C1", "U1"),
    "permalink": lambda chat, _: chat.get_permalink("C1", "1.1"),
    "thread": lambda chat, _: chat.read_thread("C1", "1.1"),
    "said": lambda chat, _: chat.read_message("C1", "1.1"),
    "direct": lambda chat, _: chat.open_direct_message("U1"),
    "identity": lambda chat, _: chat.fetch_identity(),
    "scopes": lambda chat, _: chat.fetch_scopes(),
    "introduce": lambda chat, _: app_info.fetch_app_identity(chat),
    "socket": lambda chat, url: app_info.fetch_socket_warning(chat, "xapp-1", url),
    "joined": lambda chat, _: app_info.list_joined_channels(chat),
    "place": lambda chat, _: app_info.find_channel_by_id(chat, "C1"),
    "posts": lambda chat, _: app_info.list_posts(chat, "C1", "0", OWN),
    "person there": lambda chat, _: app_info.is_person(chat, "U1"),
    "groups": lambda chat, _: app_info.list_group_ids(chat),
    "connection": lambda _, url: open_connection("xapp-1", url, FakeClock()),
    "channel by name": lambda chat, _: find_channel_by_name(chat, "alerts"),
    "channels": lambda chat, _: SlackHistory(chat).list_channels(""),
    "page": lambda chat, _: SlackHistory(chat).read_page("C1", "0", ""),
    "between": lambda chat, _: SlackHistory(chat).read_range("C1", "0", "9", ""),
    "replies": lambda chat, _: SlackHistory(chat).read_thread_page("C1", "1.1", ""),
    "person": lambda chat, _: SlackPeople(chat, FakeClock()).read_person("U1"),
    "sayings": lambda chat, _: SlackThreads(chat).read_messages("C1", "1.1"),
    "names": lambda chat, _: SlackThreads(chat).read_names(["U1"]),
}


@pytest.mark.parametrize("odd", ODD)
async def test_an_answer_that_is_none_of_slacks_is_no_refusal_whatever_was_asked(between: Between, odd: str) -> None:
    between.given, chat = ODD[odd], chat_of(between)
    for name, call in CALLS.items():
        with pytest.raises(ChatUnavailable) as problem:
            await call(chat, between.url)
        decision = decide_after_failure(problem.value, 1, 0.5, uncertain=False)
        assert isinstance(decision, RetryLater), name
        assert str(problem.value).isprintable(), name
    assert len(between.calls) == len(CALLS), "nothing is asked twice, or not at all"


STRANGE: dict[str, tuple[str, dict[str, object]]] = {
    "page": ("messages", {"messages": {"a": 1}}),
    "find": ("messages", {"messages": "x"}),
    "channels": ("channels", {"channels": "x"}),
    "channel": ("channel", {"channel": []}),
    "direct": ("channel", {"channel": "D1"}),
    "place": ("channel", {"channel": "C1"}),
    "person": ("user", {"user": ["U1"]}),
    "member": ("members", {"members": 5}),
    "groups": ("usergroups", {"usergroups": {"a": 1}}),
    "upload": ("file_id", {"file_id": 7, "upload_url": "http://127.0.0.1:9/"}),
    "connection": ("url", {"url": 5}),
}


@pytest.mark.parametrize("name", STRANGE)
async def test_a_field_of_another_kind_is_none_of_slacks(between: Between, name: str) -> None:
    what, body = STRANGE[name]
    between.given = is_json({"ok": True} | body)
    with pytest.raises(ChatUnavailable, match=f"{what} is of another kind"):
        await CALLS[name](chat_of(between), between.url)


async def test_odd_entries_of_a_list_do_not_hide_the_others(between: Between) -> None:
    said = {"ts": "1.1", "user": "U1", "text": "hello"}
    ours = {"ts": "2.2", "metadata": {"event_payload": {"delivery_id": "d1"}}, "files": [{"name": "f.png", "id": "F1"}]}
    between.given = is_json({"ok": True, "messages": [None, 5, [1], {"metadata": "x", "files": 3}, said, ours]})
    chat = chat_of(between)
    assert await chat.find_delivered(posting(Operation.POST)) == "2.2"
    assert await chat.find_delivered(posting(Operation.UPLOAD)) == "F1"
    assert [one.text for one in await chat.read_thread("C1", "1.1")] == ["hello"]
    assert len((await SlackHistory(chat).read_page("C1", "0", "")).messages) == 3


async def test_a_login_page_in_answer_to_a_button_is_told_like_any_failure(between: Between) -> None:
    for odd in ("a login page", "plain words, refusing", "no JSON"):
        between.given = ODD[odd]
        with pytest.raises(SlackApiError) as problem:
            await AsyncWebClient("xoxb-1", between.url).views_open(trigger_id="1", view={})
        assert "nothing was saved" in format_error(problem.value, "R-1")


async def test_a_preview_of_pages_in_a_circle_says_that_it_cannot_read() -> None:
    class Circling:
        async def read_range(self, *_: str) -> HistoryPage:
            return HistoryPage((), "same")

    nothing: Any = None
    preview = PreviewChannel(
        history=Circling(),  # type: ignore[arg-type]  # of Slack's history only this is asked
        reader=nothing,
        channels=nothing,
        store=nothing,
        brief=nothing,
        clock=FakeClock(),
        default=nothing,
    )
    assert await preview(Channel("C1")) == LATER


async def test_what_slack_itself_refuses_stays_refused(between: Between) -> None:
    chat = chat_of(between)
    for status in (200, 403):
        between.given = is_json({"ok": False, "error": "is_archived"}, status=status)
        with pytest.raises(ChatRejected, match="archived") as refusal:
            await chat.deliver(posting(Operation.POST))
        assert refusal.value.code == "is_archived"
    between.given = is_json({"ok": False, "error": "token_revoked"})
    with pytest.raises(ChatAuthRejected):
        await chat.deliver(posting(Operation.POST))


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ({"body": PAGE, "content_type": "text/html"}, ChatUnavailable),
        ({"body": PAGE, "content_type": "text/html", "status": 403}, ChatUnavailable),
        ({"text": "", "status": 407}, ChatUnavailable),
        ({"text": "too large", "status": 413}, ChatRejected),
    ],
)
async def test_a_login_page_in_the_place_of_the_file_store(
    between: Between, answer: dict[str, Any], error: type[Exception]
) -> None:
    between.given = is_json({"ok": True, "file_id": "F1", "upload_url": f"{between.url}put"})
    between.by_method["put"] = answer
    with pytest.raises(error):
        await chat_of(between).deliver(posting(Operation.UPLOAD))
    assert "files.completeUploadExternal" not in between.calls


CIRCLES = ("find", "member", "thread", "joined", "channel by name")


@pytest.mark.parametrize("name", CIRCLES)
async def test_pages_that_go_round_in_a_circle_end_with_a_sentence(between: Between, name: str) -> None:
    between.given = is_json({"ok": True, "response_metadata": {"next_cursor": "same"}})
    with pytest.raises(ChatUnavailable, match="names a page that was read already"):
        await CALLS[name](chat_of(between), between.url)
    assert len(between.calls) == 2


@pytest.mark.parametrize(
    ("said", "wait_s"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        ("99999999", 3600.0),
        *((odd, None) for odd in ("0", "-5", "nan", "inf", "1e999", "abc", "")),
    ],
)
async def test_a_wish_to_wait_counts_where_it_is_a_time(between: Between, said: str, wait_s: float | None) -> None:
    between.given = is_json({"ok": False, "error": "ratelimited"}, status=429, headers={"Retry-After": said})
    with pytest.raises(ChatUnavailable, match="asks to wait") as waited:
        await chat_of(between).deliver(posting(Operation.POST))
    assert waited.value.retry_after_s == wait_s
    between.given = is_json({"ok": False, "error": "service_unavailable"})
    with pytest.raises(ChatUnavailable, match="now \\(service_unavailable") as away:
        await chat_of(between).deliver(posting(Operation.POST))
    assert away.value.retry_after_s is None
