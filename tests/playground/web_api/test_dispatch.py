"""The Web API as Slack's SDK sees it: forms of calls, answers, refusals, pages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.playground import LocalSlack
from bot.playground.workspace.messages import TEXT_LIMIT

ALERTS, RANDOM, SECRET = "C0ALERTS", "C0RANDOM", "C0SECRET"


@pytest.fixture
async def http(slack: LocalSlack) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(slack.api_url, headers={"Authorization": f"Bearer {slack.bot_token}"}) as session:
        yield session


async def refused(call: Any) -> dict[str, Any]:
    with pytest.raises(SlackApiError) as error:
        await call
    data = error.value.response.data
    assert isinstance(data, dict)
    return data


async def test_every_form_of_call_is_read(http: aiohttp.ClientSession) -> None:
    args = {"channel": ALERTS, "text": "hi"}
    calls = [
        http.get("chat.postMessage", params=args),
        http.post("chat.postMessage", data=args),
        http.post("chat.postMessage", params={"channel": ALERTS}, data={"text": "hi"}),
        http.post("chat.postMessage", json=args),
    ]
    for call in calls:
        async with call as response:
            assert (await response.json())["message"]["text"] == "hi"


async def test_a_token_may_be_an_argument_and_must_be_right(slack: LocalSlack) -> None:
    async with aiohttp.ClientSession(slack.api_url) as session:
        for token, error in (
            ("", "not_authed"),
            ("xoxb-wrong", "invalid_auth"),
            (slack.app_token, "not_allowed_token_type"),
        ):
            async with session.post("auth.test", data={"token": token} if token else {}) as response:
                assert response.status == 200
                assert await response.json() == {"ok": False, "error": error}
        async with session.post("auth.test", data={"token": slack.bot_token}) as response:
            assert (await response.json())["bot_id"] == slack.bot_id


async def test_broken_json_bodies_are_read_as_no_arguments(http: aiohttp.ClientSession) -> None:
    for body in ("[1]", "{", ""):
        async with http.post("chat.postMessage", data=body, headers={"Content-Type": "application/json"}) as response:
            assert (await response.json())["error"] == "invalid_arguments"


async def test_an_unknown_method_is_refused(client: AsyncWebClient) -> None:
    assert (await refused(client.api_call("chat.shout")))["error"] == "unknown_method"


@pytest.mark.parametrize(
    ("args", "error"),
    [
        ({"channel": "C0NOWHERE", "text": "x"}, "channel_not_found"),
        ({"channel": RANDOM, "text": "x"}, "not_in_channel"),
        ({"channel": ALERTS}, "no_text"),
        ({"channel": ALERTS, "text": "x", "thread_ts": "1.000001"}, "thread_not_found"),
        ({"channel": ALERTS, "blocks": [{"type": "section"}]}, "invalid_blocks"),
        ({"channel": ALERTS, "blocks": "no json"}, "invalid_blocks_format"),
        ({"channel": ALERTS, "text": "x", "metadata": {"event_type": "x"}}, "invalid_metadata_format"),
    ],
)
async def test_posts_that_are_refused(client: AsyncWebClient, args: dict[str, Any], error: str) -> None:
    answer = await refused(client.api_call("chat.postMessage", json=args))
    assert answer["error"] == error
    if error == "invalid_blocks":
        assert answer["errors"] == ["needs one of text, fields [json-pointer:/blocks/0]"]


async def test_a_private_channel_without_the_bot_does_not_exist_for_it(
    slack: LocalSlack, client: AsyncWebClient
) -> None:
    await slack.leave("sec-incidents")
    for call in (client.chat_postMessage(channel=SECRET, text="x"), client.conversations_info(channel=SECRET)):
        assert (await refused(call))["error"] == "channel_not_found"
    assert (await refused(client.conversations_history(channel=RANDOM)))["error"] == "not_in_channel"


async def test_channels_are_found_by_name_and_users_mean_direct_messages(
    slack: LocalSlack, client: AsyncWebClient
) -> None:
    assert (await client.chat_postMessage(channel="#alerts", text="x"))["channel"] == ALERTS
    direct = (await client.chat_postMessage(channel="U0BOB", text="psst"))["channel"]
    assert direct == slack.dm("bob")
    opened = await client.conversations_open(users="U0BOB", return_im=True)
    assert opened["channel"]["user"] == "U0BOB"
    assert opened["channel"]["id"] == direct
    assert (await client.conversations_open(users=["U0ALICE"]))["channel"].keys() == {"id"}
    for users, error in (
        ("", "users_list_not_supplied"),
        ("U0NO", "user_not_found"),
        ("U0BOB,U0ALICE", "method_not_supported_for_channel_type"),
    ):
        assert (await refused(client.api_call("conversations.open", params={"users": users})))["error"] == error


async def test_metadata_is_handed_out_only_where_asked_for(client: AsyncWebClient) -> None:
    metadata = {"event_type": "brief", "event_payload": {"incident_id": "INC-1"}}
    root = await client.chat_postMessage(channel=ALERTS, text="root", metadata=metadata)
    await client.chat_postMessage(channel=ALERTS, text="reply", thread_ts=root["ts"], metadata=metadata)
    cases: list[tuple[dict[str, Any], list[Any]]] = [
        ({}, [None, None]),
        ({"include_all_metadata": True}, [metadata, metadata]),
    ]
    for more, found in cases:
        replies = await client.conversations_replies(channel=ALERTS, ts=root["ts"], **more)
        assert [m.get("metadata") for m in replies["messages"]] == found
        history = await client.conversations_history(channel=ALERTS, **more)
        assert [m.get("metadata") for m in history["messages"]] == found[:1]


async def test_threads_count_their_replies_and_stay_out_of_the_timeline(
    slack: LocalSlack, client: AsyncWebClient
) -> None:
    root = await slack.post("#alerts", "root", user="alice")
    reply = await client.chat_postMessage(channel=ALERTS, text="reply", thread_ts=root["ts"])
    await client.chat_postMessage(channel=ALERTS, text="loud", thread_ts=root["ts"], reply_broadcast=True)
    shown = slack.message("#alerts", root["ts"])
    assert (shown["reply_count"], shown["thread_ts"], shown["reply_users"]) == (2, root["ts"], [slack.bot_user])
    assert reply["message"]["parent_user_id"] == "U0ALICE"
    assert [m["text"] for m in slack.timeline("#alerts")] == ["root", "loud"]
    assert [m["text"] for m in slack.replies("#alerts", root["ts"])] == ["reply", "loud"]
    answer = await refused(client.chat_postMessage(channel=ALERTS, text="x", thread_ts=reply["ts"]))
    assert answer["error"] == "cannot_reply_to_message"


async def test_deleting_a_root_leaves_a_tombstone_deleting_a_reply_counts_down(
    slack: LocalSlack, client: AsyncWebClient
) -> None:
    root = (await client.chat_postMessage(channel=ALERTS, text="root"))["ts"]
    one, two = [(await client.chat_postMessage(channel=ALERTS, text=t, thread_ts=root))["ts"] for t in ("1", "2")]
    await client.chat_delete(channel=ALERTS, ts=two)
    assert slack.message("#alerts", root)["reply_count"] == 1
    await client.chat_delete(channel=ALERTS, ts=root)
    assert slack.message("#alerts", root)["subtype"] == "tombstone"
    await client.chat_delete(channel=ALERTS, ts=one)
    assert "reply_count" not in slack.message("#alerts", root)
    assert (await refused(client.chat_delete(channel=ALERTS, ts=one)))["error"] == "message_not_found"
    assert (await refused(client.conversations_replies(channel=ALERTS, ts=one)))["error"] == "thread_not_found"


async def test_only_own_messages_can_be_changed(slack: LocalSlack, client: AsyncWebClient) -> None:
    other = (await slack.post("#alerts", "hands off"))["ts"]
    assert (await refused(client.chat_update(channel=ALERTS, ts=other, text="x")))["error"] == "cant_update_message"
    assert (await refused(client.chat_delete(channel=ALERTS, ts=other)))["error"] == "cant_delete_message"


async def test_text_without_blocks_takes_the_blocks_away_attachments_and_metadata_stay(client: AsyncWebClient) -> None:
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": "b"}}]
    metadata = {"event_type": "a", "event_payload": {}}
    ts = (
        await client.chat_postMessage(
            channel=ALERTS, text="t", blocks=blocks, attachments=[{"text": "a"}], metadata=metadata
        )
    )["ts"]
    first = (await client.chat_update(channel=ALERTS, ts=ts, text="u", blocks=blocks))["message"]
    assert "edited" not in first
    assert first["blocks"][0]["text"]["verbatim"] is False
    second = (
        await client.chat_update(channel=ALERTS, ts=ts, text="v", metadata={"event_type": "b", "event_payload": {}})
    )["message"]
    assert "blocks" not in second
    assert second["edited"]["user"]
    assert second["attachments"] == [{"id": 1, "text": "a", "fallback": "[no preview available]"}]
    assert second["metadata"]["event_type"] == "b"
    third = (await client.chat_update(channel=ALERTS, ts=ts, text="w", attachments=[]))["message"]
    assert "attachments" not in third


async def test_long_text_is_cut_with_a_warning(client: AsyncWebClient) -> None:
    posted = await client.api_call("chat.postMessage", json={"channel": ALERTS, "text": "x" * (TEXT_LIMIT + 1)})
    assert posted["warning"] == "message_truncated"
    assert len(posted["message"]["text"]) == TEXT_LIMIT


async def test_a_name_of_its_own_makes_it_a_bot_message(client: AsyncWebClient) -> None:
    message = (await client.chat_postMessage(channel=ALERTS, text="x", username="Digest"))["message"]
    assert (message["subtype"], message["username"], "user" in message) == ("bot_message", "Digest", False)


async def test_ephemerals_are_for_members_and_in_no_history(slack: LocalSlack, client: AsyncWebClient) -> None:
    await client.chat_postEphemeral(channel=ALERTS, user="U0BOB", text="only you")
    assert [m["text"] for m in slack.ephemerals("bob")] == ["only you"]
    assert (await client.conversations_history(channel=ALERTS))["messages"] == []
    answer = await refused(client.chat_postEphemeral(channel=ALERTS, user="U0GINA", text="x"))
    assert answer["error"] == "user_not_in_channel"


async def test_permalinks_name_the_thread(slack: LocalSlack, client: AsyncWebClient) -> None:
    root = (await client.chat_postMessage(channel=ALERTS, text="root"))["ts"]
    reply = (await client.chat_postMessage(channel=ALERTS, text="reply", thread_ts=root))["ts"]
    links = [(await client.chat_getPermalink(channel=ALERTS, message_ts=ts))["permalink"] for ts in (root, reply)]
    assert links[0] == f"{slack.url}/archives/{ALERTS}/p{root.replace('.', '')}"
    assert links[1].endswith(f"?thread_ts={root}&cid={ALERTS}")
    async with aiohttp.ClientSession() as session, session.get(links[0]) as response:
        assert response.status == 200


async def test_reactions_come_once_and_go(slack: LocalSlack, client: AsyncWebClient) -> None:
    ts = (await slack.post("#alerts", "x"))["ts"]
    await client.reactions_add(channel=ALERTS, timestamp=ts, name="eyes")
    await slack.react("#alerts", ts, "eyes", user="bob")
    assert (await refused(client.reactions_add(channel=ALERTS, timestamp=ts, name="eyes")))[
        "error"
    ] == "already_reacted"
    assert slack.message("#alerts", ts)["reactions"] == [
        {"name": "eyes", "users": [slack.bot_user, "U0BOB"], "count": 2}
    ]
    await client.reactions_remove(channel=ALERTS, timestamp=ts, name="eyes")
    assert (await refused(client.reactions_remove(channel=ALERTS, timestamp=ts, name="eyes")))["error"] == "no_reaction"
    await slack.unreact("#alerts", ts, "eyes", user="bob")
    assert "reactions" not in slack.message("#alerts", ts)
    assert (await refused(client.reactions_add(channel=ALERTS, timestamp="1.1", name="eyes")))[
        "error"
    ] == "message_not_found"
    assert (await refused(client.reactions_add(channel=ALERTS, timestamp=ts, name="e y")))["error"] == "invalid_name"


async def test_history_comes_newest_first_in_pages(client: AsyncWebClient) -> None:
    stamps = [(await client.chat_postMessage(channel=ALERTS, text=str(i)))["ts"] for i in range(5)]
    pages = [
        [m["text"] for m in page["messages"]]
        async for page in await client.conversations_history(channel=ALERTS, limit=2)
    ]
    assert pages == [["4", "3"], ["2", "1"], ["0"]]
    between = await client.conversations_history(channel=ALERTS, oldest=stamps[1], latest=stamps[3])
    assert [m["text"] for m in between["messages"]] == ["2"]
    within = await client.conversations_history(channel=ALERTS, oldest=stamps[1], latest=stamps[3], inclusive=True)
    assert [m["text"] for m in within["messages"]] == ["3", "2", "1"]
    for args, error in (
        ({"limit": 0.5}, "invalid_limit"),
        ({"limit": 1000}, "invalid_limit"),
        ({"limit": "x"}, "invalid_limit"),
        ({"cursor": "bm8="}, "invalid_cursor"),
    ):
        answer = await refused(client.api_call("conversations.history", params={"channel": ALERTS, **args}))
        assert answer["error"] == error


async def test_replies_come_with_the_root_first_in_pages(client: AsyncWebClient) -> None:
    root = (await client.chat_postMessage(channel=ALERTS, text="root"))["ts"]
    for i in range(3):
        await client.chat_postMessage(channel=ALERTS, text=str(i), thread_ts=root)
    pages = [
        [m["text"] for m in page["messages"]]
        async for page in await client.conversations_replies(channel=ALERTS, ts=root, limit=2)
    ]
    assert pages == [["root", "0"], ["1", "2"]]


async def test_channels_members_users_and_bots_are_told(slack: LocalSlack, client: AsyncWebClient) -> None:
    await slack.archive("#random")
    listed = await client.conversations_list(types="public_channel,private_channel", exclude_archived=True)
    assert [c["name"] for c in listed["channels"]] == ["alerts", "sec-incidents", "partners"]
    shared = (await client.conversations_info(channel="C0PARTNERS"))["channel"]
    assert (shared["is_ext_shared"], shared["is_private"], shared["is_member"]) == (True, False, True)
    assert (await client.conversations_members(channel=SECRET))["members"] == ["U0ALICE", slack.bot_user]
    users = {u["name"]: u for u in (await client.users_list())["members"]}
    assert (users["gina"]["is_restricted"], users["alice"]["is_admin"]) == (True, True)
    assert (await client.users_info(user="U0BOB"))["user"]["real_name"] == "Bob Tanaka"
    assert (await refused(client.users_info(user="U0NO")))["error"] == "user_not_found"
    assert (await client.bots_info(bot=slack.bot_id))["bot"]["user_id"] == slack.bot_user
    assert (await refused(client.bots_info(bot="B0NO")))["error"] == "bot_not_found"
    assert (await client.team_info())["team"]["id"] == slack.team_id
    assert (await refused(client.chat_postMessage(channel=RANDOM, text="x")))["error"] == "not_in_channel"


async def test_the_bot_may_join_public_channels_only(slack: LocalSlack, client: AsyncWebClient) -> None:
    slack.hub.ack_timeout_s = 0.01  # nobody listens
    await client.conversations_join(channel=RANDOM)
    assert (await client.conversations_join(channel=RANDOM))["warning"] == "already_in_channel"
    assert (await refused(client.conversations_join(channel=SECRET)))[
        "error"
    ] == "method_not_supported_for_channel_type"
    await slack.idle()
    joined = slack.deliveries("member_joined_channel")[0]["payload"]["event"]
    assert (joined["user"], joined["channel"], joined["channel_type"]) == (slack.bot_user, RANDOM, "C")
    await slack.archive("#random")
    assert (await refused(client.chat_postMessage(channel=RANDOM, text="x")))["error"] == "is_archived"


async def test_scopes_of_the_manifest_are_enforced() -> None:
    manifest = {"oauth_config": {"scopes": {"bot": ["chat:write", "channels:history"]}}}
    async with await LocalSlack.start(manifest=manifest, retry_delays_s=()) as slack:
        client = AsyncWebClient(token=slack.bot_token, base_url=slack.api_url)
        posted = await client.chat_postMessage(channel=ALERTS, text="x")
        assert posted.headers["X-OAuth-Scopes"] == "channels:history,chat:write"
        answer = await refused(client.reactions_add(channel=ALERTS, timestamp=posted["ts"], name="eyes"))
        assert (answer["error"], answer["needed"]) == ("missing_scope", "reactions:write")
        await client.conversations_history(channel=ALERTS)
        answer = await refused(client.conversations_history(channel=SECRET))
        assert answer["needed"] == "groups:history"


async def test_public_posting_needs_no_membership_with_its_scope() -> None:
    manifest = {"oauth_config": {"scopes": {"bot": ["chat:write", "chat:write.public"]}}}
    async with await LocalSlack.start(manifest=manifest) as slack:
        client = AsyncWebClient(token=slack.bot_token, base_url=slack.api_url)
        await client.chat_postMessage(channel=RANDOM, text="x")
        await slack.idle()
        assert slack.deliveries() == []  # posted, but not a member: no event


async def test_faults_come_when_they_are_asked_for(slack: LocalSlack, client: AsyncWebClient) -> None:
    await slack.limit(1, "chat.postMessage", retry_after_s=7)
    with pytest.raises(SlackApiError) as limited:
        await client.chat_postMessage(channel=ALERTS, text="x")
    assert (limited.value.response.status_code, limited.value.response.headers["Retry-After"]) == (429, "7")
    await slack.fail("internal_error", "chat.postMessage")
    assert (await refused(client.chat_postMessage(channel=ALERTS, text="x")))["error"] == "internal_error"
    await slack.fail("http_500")
    with pytest.raises(SlackApiError) as broken:
        await client.auth_test()
    assert broken.value.response.status_code == 500
    await slack.refuse_scope("chat:write")
    assert (await refused(client.chat_postMessage(channel=ALERTS, text="x")))["error"] == "missing_scope"
    await slack.refuse_scope("chat:write", refused=False)
    await client.chat_postMessage(channel=ALERTS, text="x")
    await slack.uninstall()
    assert (await refused(client.auth_test()))["error"] == "token_revoked"
    await slack.heal()
    assert (await client.auth_test())["ok"]
    assert [c["status"] for c in slack.calls("chat.postMessage")] == [429, 200, 200, 200]


async def test_an_answer_can_get_lost_after_the_call_was_carried_out(slack: LocalSlack) -> None:
    client = AsyncWebClient(token=slack.bot_token, base_url=slack.api_url, retry_handlers=[])
    await slack.lose_answers(1, "chat.postMessage")
    with pytest.raises(aiohttp.ClientError):
        await client.chat_postMessage(channel=ALERTS, text="once")
    assert [m["text"] for m in slack.messages("#alerts")] == ["once"]


async def test_calls_can_be_slow(slack: LocalSlack) -> None:
    client = AsyncWebClient(token=slack.bot_token, base_url=slack.api_url, timeout=1, retry_handlers=[])
    await slack.slow(0.05, "auth.test")
    assert (await client.auth_test())["ok"]
    await slack.slow(5, "auth.test")
    with pytest.raises(TimeoutError):
        await client.auth_test()


async def test_a_channel_takes_one_post_a_second_if_wanted() -> None:
    clock = [1_800_000_000.0]
    async with await LocalSlack.start(now=lambda: clock[0], retry_delays_s=()) as slack:
        client = AsyncWebClient(token=slack.bot_token, base_url=slack.api_url)
        await slack.limit_channels()
        await client.chat_postMessage(channel=ALERTS, text="1")
        await client.chat_postMessage(channel=SECRET, text="other channel")
        with pytest.raises(SlackApiError) as limited:
            await client.chat_postMessage(channel=ALERTS, text="2")
        assert limited.value.response.status_code == 429
        clock[0] += 1.0
        await client.chat_postMessage(channel=ALERTS, text="2")
        assert [m["text"] for m in slack.messages("#alerts")] == ["1", "2"]


async def test_the_validator_can_be_switched_off(slack: LocalSlack, client: AsyncWebClient) -> None:
    slack.core.knobs.validate = False
    await client.chat_postMessage(channel=ALERTS, text="x", blocks=[{"type": "section"}])
