"""What is kept of what Slack tells."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from bot.domain.alerts.alert import Alert, AlertState, NotAlert
from bot.records.alert_json import read_stored_alert, write_alert
from bot.slack.inbound.events import OwnIdentity, build_natural_key, read_reply, receive

US = OwnIdentity("BUS", "UUS")


def read(event: Mapping[str, Any]) -> Alert | NotAlert:
    inner = event.get("message") or event
    is_alert = "FIRING" in json.dumps(inner)
    return Alert("test", AlertState.FIRING, "f") if is_alert else NotAlert("chatter", "talk")


def body(event_id: str = "Ev1", **event: Any) -> dict[str, Any]:
    facts = {"type": "message", "channel": "C1", "ts": "1.1", "user": "U1", "text": "hi"}
    return {"type": "event_callback", "event_id": event_id, "team_id": "T1", "event": facts | event}


def test_an_alert_is_kept_with_its_event() -> None:
    told = body(text="[FIRING] x", subtype="bot_message", bot_id="B2")
    kept = receive(told, read, US)
    assert kept is not None
    assert (kept.event_id, kept.kind, kept.natural_key) == ("Ev1", "message", "message/T1/C1/1.1")
    facts = {k: v for k, v in told["event"].items() if k != "text"}
    assert kept.body == {
        "event": facts | {"alert": write_alert(Alert("test", AlertState.FIRING, "f"))},
        "team_id": "T1",
    }


@pytest.mark.parametrize(
    "event",
    [
        {"text": "my password is hunter2"},
        {"text": "a reply", "thread_ts": "1.0"},
        {"text": "bot talk", "bot_id": "B2"},
        {"subtype": "channel_join", "text": "<@UUS> has joined"},
        {"subtype": "message_deleted", "deleted_ts": "1.0", "previous_message": {"text": "secret", "ts": "1.0"}},
        {"subtype": "message_changed", "message": {"text": "secret", "ts": "1.0", "user": "U1"}},
        {"type": "reaction_added", "reaction": "eyes"},
        {"type": "member_joined_channel", "user": "U7"},
        {"type": "app_home_opened", "user": "U7", "tab": "messages"},
        {"type": "something_new"},
        {"type": "app_mention", "text": "<@UUS> secret", "bot_id": "B2"},
        {"type": "app_mention", "text": "<@UUS> secret", "subtype": "channel_topic"},
    ],
)
def test_what_is_not_for_the_bot_leaves_only_its_id(event: dict[str, Any]) -> None:
    kept = receive(body(**event), read, US)
    assert kept is not None
    assert kept.body is None
    assert "secret" not in repr(kept)


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ({"text": "<@UUS> help"}, "app_mention"),
        ({"type": "app_mention", "text": "<@UUS> help"}, "app_mention"),
        ({"text": "help", "channel_type": "im", "channel": "D1"}, "app_mention"),
        ({"type": "app_mention", "text": "<@UUS> [FIRING] x"}, "message"),
        ({"text": "<@UUS> [FIRING] x"}, "message"),
        ({"text": "[FIRING] x", "thread_ts": "1.0"}, "message"),
        ({"type": "member_joined_channel", "user": "UUS"}, "joined"),
        ({"type": "app_home_opened", "user": "U7", "tab": "home"}, "home"),
    ],
)
def test_what_is_for_the_bot_is_kept(event: dict[str, Any], kind: str) -> None:
    kept = receive(body(**event), read, US)
    assert kept is not None
    assert (kept.kind, kept.body is not None) == (kind, True)


@pytest.mark.parametrize(
    "event",
    [
        {"bot_id": "BUS", "text": "[FIRING] quoted"},
        {"user": "UUS"},
        {"subtype": "message_changed", "message": {"bot_id": "BUS", "text": "[FIRING]", "ts": "1.0"}},
        {"subtype": "message_deleted", "previous_message": {"bot_id": "BUS", "ts": "1.0"}},
    ],
)
def test_our_own_posts_and_edits_are_dropped(event: dict[str, Any]) -> None:
    assert receive(body(**event), read, US) is None


def test_without_knowing_us_slacks_authorizations_do() -> None:
    told = body(text="<@UUS> help") | {"authorizations": [{"is_bot": True, "user_id": "UUS"}]}
    kept = receive(told, read)
    assert kept is not None
    assert kept.kind == "app_mention"
    assert receive(body(), read) is not None


def test_one_post_told_twice_is_one_fact() -> None:
    said = body("Ev1", text="<@UUS> x")
    mentioned = body("Ev2", type="app_mention", text="<@UUS> x")
    assert build_natural_key(said) == build_natural_key(mentioned)


def test_each_edit_is_a_fact_of_its_content() -> None:
    def edit(event_id: str, text: str) -> str:
        message = {"ts": "1.1", "text": text, "edited": {"ts": event_id}}
        return build_natural_key(body(event_id, subtype="message_changed", ts=event_id, message=message))

    assert edit("2.1", "[FIRING] a") == edit("2.1", "[FIRING] a")
    assert edit("2.1", "[FIRING] a") != edit("2.2", "[FIRING] a")
    assert len({edit("2.1", "a"), edit("2.2", "b"), build_natural_key(body()), build_natural_key(body(ts="1.2"))}) == 4
    assert build_natural_key(body(subtype="message_deleted", deleted_ts="1.1")) == "message/T1/C1/1.1/deleted"


def test_other_events_are_facts_of_their_own_id() -> None:
    one, two = body("Ev1", type="app_home_opened"), body("Ev2", type="app_home_opened")
    assert build_natural_key(one) != build_natural_key(two)
    bare = {"type": "event_callback", "event": {"type": "x"}}
    kept = receive(bare, read, US)
    assert kept is not None
    assert kept.event_id == kept.natural_key == build_natural_key(bare)


def test_no_word_of_a_message_is_written_down_only_what_was_read() -> None:
    secret = "hunter2" + "secret"
    told = body(
        subtype="bot_message", bot_id="B2", text=f"[FIRING] {secret}", attachments=[{"title": secret}], username=secret
    )
    kept = receive(told, lambda _event: Alert("t", AlertState.FIRING, "f", title="what was read"), US)
    assert kept is not None
    assert kept.body is not None
    assert secret not in json.dumps(kept.body)
    assert kept.body["event"]["ts"] == "1.1"
    assert read_stored_alert(kept.body["event"]) == Alert("t", AlertState.FIRING, "f", title="what was read")
    assert kept.order_key == "alert/f"


def test_a_question_is_kept_without_its_words() -> None:
    kept = receive(body(text="<@UUS> the password is hunter2"), read, US)
    assert kept is not None
    assert "hunter2" not in json.dumps(kept.body)


def test_an_edit_back_to_what_it_said_before_is_a_fact_of_its_own() -> None:
    def edit(at: str) -> dict[str, object]:
        message = {"ts": "1.1", "text": "firing", "bot_id": "B1"}
        event = {"type": "message", "subtype": "message_changed", "channel": "C1", "event_ts": at, "message": message}
        return {"team_id": "T1", "event": event}

    assert build_natural_key(edit("2.0")) != build_natural_key(edit("3.0"))
    assert build_natural_key(edit("2.0")) == build_natural_key(edit("2.0"))


@pytest.mark.parametrize(
    ("event", "is_reply"),
    [
        ({"text": "the second", "thread_ts": "1.0"}, True),
        ({"text": "the second"}, False),
        ({"text": "the second", "thread_ts": "1.1"}, False),
        ({"text": "<@U7> look", "thread_ts": "1.0"}, False),
        ({"text": "beep", "thread_ts": "1.0", "bot_id": "B2"}, False),
        ({"text": "x", "thread_ts": "1.0", "subtype": "message_changed"}, False),
        ({"text": "x", "thread_ts": "1.0", "type": "reaction_added"}, False),
        ({"text": "x", "thread_ts": {"a": 1}}, False),
        ({"text": "x", "thread_ts": "1.0", "user": None}, False),
    ],
)
def test_what_may_answer_the_bots_own_question_is_a_persons_reply_to_nobody_else(
    event: dict[str, Any], is_reply: bool
) -> None:
    facts = read_reply(body(**event))
    assert (facts is not None) == is_reply
    assert "second" not in json.dumps(facts)
    assert read_reply({"event": 5}) is None
