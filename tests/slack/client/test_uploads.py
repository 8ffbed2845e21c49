"""Files to the local Slack: in their thread, once, whatever breaks between."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import aiohttp
import pytest

from bot.domain.delivery.kinds import Operation
from bot.playground import LocalSlack
from bot.ports.chat import Posting
from bot.ports.errors import ChatAuthRejected, ChatOutcomeUnknown, ChatRejected, ChatUnavailable
from bot.ports.files import build_postmortem_upload
from bot.slack.client import uploads
from bot.slack.client.chat import SlackChat, build_web_client
from tests.slack.client.chat_support import ToldClock, post


@pytest.fixture
async def slack() -> AsyncIterator[LocalSlack]:
    async with await LocalSlack.start() as running:
        yield running


@pytest.fixture
def chat(slack: LocalSlack) -> SlackChat:
    return SlackChat(build_web_client(slack.bot_token, slack.api_url), ToldClock(), deadline_s=2.0)


def picture(thread: str | None, content: bytes = b"\x89PNG bytes") -> Posting:
    extra = {"name": "digest.png", "title": "A digest", "alt": "in words"}
    return Posting(Operation.UPLOAD, "C0ALERTS", "chart/1", ts=thread, extra=extra, content=content)


async def test_a_file_stands_in_the_thread_is_found_again_and_deleted(slack: LocalSlack, chat: SlackChat) -> None:
    ts = await chat.deliver(post())
    assert ts is not None
    assert await chat.find_delivered(picture(ts)) is None
    file_id = await chat.deliver(picture(ts))
    (reply,) = slack.replies("C0ALERTS", ts)
    (file,) = reply["files"]
    assert (file["id"], file["name"], file["title"], file["alt_txt"]) == (file_id, "digest.png", "A digest", "in words")
    async with aiohttp.ClientSession() as page, page.get(file["url_private"]) as got:
        assert (got.content_type, await got.read()) == ("image/png", b"\x89PNG bytes")
    assert await chat.find_delivered(picture(ts)) == file_id
    gone = Posting(Operation.DELETE_FILE, "C0ALERTS", "chart/1/purge", ts=file_id)
    await chat.deliver(gone)
    assert slack.replies("C0ALERTS", ts) == []
    assert await chat.deliver(gone) is None


async def test_a_text_file_has_a_comment_and_a_preview(slack: LocalSlack, chat: SlackChat) -> None:
    ts = await chat.deliver(post())
    assert ts is not None
    posting = build_postmortem_upload("C0ALERTS", "pm/1", "pm.md", ts, "INC-1", "U0BOB")
    await chat.deliver(replace(posting, content=b"# INC-1"))
    (reply,) = slack.replies("C0ALERTS", ts)
    assert reply["text"] == "Post-mortem, asked for by <@U0BOB>"
    assert (reply["files"][0]["preview"], reply["thread_ts"]) == ("# INC-1", ts)


async def test_an_answer_that_is_lost_leaves_the_file_to_be_found(slack: LocalSlack, chat: SlackChat) -> None:
    ts = await chat.deliver(post())
    await slack.lose_answers(1, "files.completeUploadExternal")
    with pytest.raises(ChatOutcomeUnknown):
        await chat.deliver(picture(ts))
    assert await chat.find_delivered(picture(ts)) is not None


async def test_without_the_scope_that_is_said(slack: LocalSlack, chat: SlackChat) -> None:
    await slack.refuse_scope("files:write")
    with pytest.raises(ChatAuthRejected, match="files:write") as refused:
        await chat.deliver(picture(None))
    assert refused.value.code == "missing_scope"


async def test_the_store_of_bytes_refuses_or_cannot_be_reached(slack: LocalSlack, chat: SlackChat) -> None:
    base = slack.api_url.removesuffix("/api/")
    with pytest.raises(ChatRejected, match="404"):
        await uploads.put(chat.client, f"{base}/upload/F1/wrong", b"x")
    placed = await uploads.request_upload_url(chat.client, picture(None, b"four"))
    with pytest.raises(ChatRejected, match="400"):
        await uploads.put(chat.client, placed["upload_url"], b"five!")
    with pytest.raises(ChatUnavailable, match="cannot be reached"):
        await uploads.put(chat.client, "http://127.0.0.1:9/", b"x")


@pytest.mark.parametrize(
    ("method", "args", "error"),
    [
        ("files.getUploadURLExternal", {"filename": "a.png", "length": "0"}, "invalid_arguments"),
        (
            "files.getUploadURLExternal",
            {"filename": "a.png", "length": "1", "alt_txt": "x" * 1001},
            "invalid_arguments",
        ),
        ("files.completeUploadExternal", {"files": "[]"}, "invalid_arguments"),
        ("files.completeUploadExternal", {"files": '[{"id": "F404"}]'}, "file_not_found"),
        ("files.completeUploadExternal", {"files": '["F404"]'}, "file_not_found"),
    ],
)
async def test_the_local_slack_refuses_what_slack_refuses(
    slack: LocalSlack, method: str, args: dict[str, str], error: str
) -> None:
    headers = {"Authorization": f"Bearer {slack.bot_token}"}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{slack.api_url}{method}", data=args, headers=headers) as answer,
    ):
        assert (await answer.json())["error"] == error
