"""The listeners on a local Slack: what people press, type and post, and what they get."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from slack_bolt.request.async_request import AsyncBoltRequest

from bot.domain.incidents.record import VerificationStatus
from bot.ports.errors import ChatUnavailable, IncidentNotFound, StoreUnavailable
from bot.slack import ids
from bot.slack.app import build_app, build_correlation_id
from bot.slack.payload import decode, encode
from tests.slack.conftest import Desk, listening, replaced, wait
from tests.slack.listeners.listeners_support import BASE, dispatch

SAID = {"outcome": "recovered", "fix": "Flush the ledger cache\nRestart the worker", "failed_checks": "DNS, 10"}


async def test_an_alert_is_answered_once_in_its_thread_and_people_are_left_alone(desk: Desk) -> None:
    await desk.seed()
    await desk.slack.duplicate(2)
    ts = await desk.alert()
    await desk.slack.post("alerts", "lunch?", user="bob")
    await desk.work()
    (brief,) = desk.slack.replies("C0ALERTS", ts)
    assert "RESOLUTION STEPS" in json.dumps(brief["blocks"])
    assert [r.body for r in desk.inbox.kept if r.kind == "message"][-1] is None


async def test_this_fixed_it_is_recorded_once_in_the_persons_name(desk: Desk) -> None:
    await desk.seed()
    ts = await desk.alert()
    brief = desk.brief(ts)
    for _ in range(2):
        assert (await desk.slack.click("alerts", brief["ts"], ids.FIXED, user="bob")).acked
        await wait()
    for _ in range(50):  # the listener goes on after its acknowledgement
        await desk.work()
        replies = desk.slack.replies("C0ALERTS", ts)
        if len(replies) > 1:
            break
        await wait()
    await desk.work()
    assert len(desk.slack.replies("C0ALERTS", ts)) == 2
    assert "recorded by <@U0BOB>" in json.dumps(replies[1]["blocks"])
    buttons = [e["action_id"] for b in replies[0]["blocks"] if b["type"] == "actions" for e in b["elements"]]
    assert buttons == [ids.RECORD, ids.DETAILS, ids.MORE]
    incident_id = await desk.memory.incidents.find_incident("C0ALERTS", ts)
    record = await desk.memory.incidents.read_record(incident_id or "")
    (attempt,) = record.attempts
    assert (attempt.status, attempt.by, attempt.suggested) == (VerificationStatus.VERIFIED, "U0BOB", True)


async def test_a_changed_recommendation_is_not_confirmed_unseen(office: Desk) -> None:
    await office.seed()
    ts = await office.alert()
    brief = office.brief(ts)
    value = next(e["value"] for b in brief["blocks"] if b["type"] == "actions" for e in b["elements"])
    other = decode(value) | {"f": "another"}
    blocks = json.loads(json.dumps(brief["blocks"]).replace(json.dumps(value), json.dumps(encode(other))))
    await office.slack.edit("alerts", brief["ts"], blocks=blocks)
    await office.slack.click("alerts", brief["ts"], ids.FIXED, user="alice")
    assert "recommendation has changed" in await office.whisper()


async def test_the_modal_records_and_the_next_alert_knows(desk: Desk) -> None:
    ts = await desk.alert("unknown-ledger-drift")
    brief = desk.brief(ts)
    assert "INSUFFICIENT_MEMORY" in json.dumps(brief["blocks"])
    assert (await desk.slack.click("alerts", brief["ts"], ids.RECORD, user="alice")).acked
    await desk.slack.wait_until(lambda: desk.slack.view("alice"))
    done = await desk.slack.submit_view(SAID, user="alice")
    assert (done.acked, done.errors, desk.slack.view("alice")) == (True, {}, None)
    await desk.work()
    assert "Flush the ledger cache" in json.dumps(desk.slack.replies("C0ALERTS", ts)[-1]["blocks"])
    again = await desk.alert("unknown-ledger-drift")
    text = json.dumps(desk.brief(again)["blocks"])
    assert "1. Flush the ledger cache" in text
    assert "MEDIUM" in text


async def test_errors_stand_in_the_modal_and_the_text_stays(desk: Desk) -> None:
    ts = await desk.alert("unknown-ledger-drift")
    await desk.slack.click("alerts", desk.brief(ts)["ts"], ids.RECORD, user="alice")
    await desk.slack.wait_until(lambda: desk.slack.view("alice"))
    refused = await desk.slack.submit_view({"outcome": "recovered"}, user="alice")
    assert refused.errors == {"fix": "Say what was done, or choose “cleared by itself”."}
    refused = await desk.slack.submit_view({"fix": "x", "failed_checks": "y" * 300}, user="alice")
    assert set(refused.errors) == {"failed_checks"}
    assert (await desk.slack.submit_view({"failed_checks": ""}, user="alice")).errors == {}


class Down:
    """A part that fails in a given way, whatever is asked of it."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __getattr__(self, name: str) -> Any:
        async def fail(*_: Any, **__: Any) -> Any:
            raise self.error

        return fail

    async def __call__(self, *_: Any, **__: Any) -> Any:
        raise self.error


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (StoreUnavailable("the disk is full."), "Not saved: the disk is full. Your text is still here: try again."),
        (IncidentNotFound("x"), "There is no incident INC-1 that you may see from here."),
        (RuntimeError("secret detail"), "Something went wrong here; nothing was saved."),
    ],
)
async def test_a_failure_answers_inside_the_modal(unconnected: Desk, error: Exception, says: str) -> None:
    desk = unconnected
    async with listening(desk.slack, desk.app):
        ts = await desk.alert("unknown-ledger-drift")
        await desk.slack.click("alerts", desk.brief(ts)["ts"], ids.RECORD, user="alice")
        await desk.slack.wait_until(lambda: desk.slack.view("alice"))
    async with listening(desk.slack, replaced(desk, access=replace(desk.deps.access, store=Down(error)))):
        refused = await desk.slack.submit_view(SAID, user="alice")
    (said,) = refused.errors.values()
    assert said.startswith(says)
    assert "secret" not in said
    view = desk.slack.view("alice")
    assert view is not None
    assert view["state"]["values"]["fix"][ids.INPUT]["value"] == SAID["fix"]


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (StoreUnavailable("the disk is full."), "Not saved: the disk is full."),
        (ChatUnavailable("Slack asks to wait."), "Slack asks to wait."),
        (TimeoutError(), "nothing was changed"),
        (RuntimeError("secret detail"), "reference"),
    ],
)
async def test_a_failing_button_tells_the_one_who_pressed_it(
    unconnected: Desk, logged: list[Any], error: Exception, says: str
) -> None:
    desk = unconnected
    await desk.seed()
    async with listening(desk.slack, desk.app):
        ts = await desk.alert()
    async with listening(desk.slack, replaced(desk, access=replace(desk.deps.access, store=Down(error)))):
        assert (await desk.slack.click("alerts", desk.brief(ts)["ts"], ids.FIXED, user="alice")).acked
        said = await desk.whisper()
    assert says in said
    assert "secret" not in said
    assert "Traceback" not in said
    assert [line["event"] for line in logged] == (["listener failed"] if says == "reference" else [])


async def test_an_event_that_could_not_be_kept_is_not_acknowledged_and_comes_again(desk: Desk) -> None:
    desk.inbox.down = 2
    ts = await desk.alert("unknown-ledger-drift")
    assert len(desk.slack.replies("C0ALERTS", ts)) == 1
    first = [d for d in desk.slack.deliveries("message") if d["payload"]["event"]["ts"] == ts]
    assert len(first) == 3


async def test_an_event_is_kept_even_where_slack_does_not_say_who_we_are(desk: Desk) -> None:
    await desk.slack.fail("internal_error", "auth.test")
    ts = await desk.alert("unknown-ledger-drift")
    assert len(desk.slack.replies("C0ALERTS", ts)) == 1


@pytest.mark.parametrize("secret", ["another secret", None])
async def test_a_request_with_a_wrong_signature_is_refused_and_nothing_is_kept(
    unconnected: Desk, secret: str | None
) -> None:
    app = build_app(unconnected.app.client, secret, unconnected.deps)
    body = json.dumps({"type": "event_callback", "event_id": "Ev1", "event": {"type": "message"}})
    stamp = str(int(time.time()))
    key = hmac.new(b"", f"v0:{stamp}:{body}".encode(), hashlib.sha256).hexdigest()
    headers: dict[str, str | Sequence[str]] = {
        "content-type": ["application/json"],
        "x-slack-signature": [f"v0={key}"],
        "x-slack-request-timestamp": [stamp],
    }
    assert (await app.async_dispatch(AsyncBoltRequest(body=body, headers=headers))).status == 401
    assert unconnected.inbox.kept == []


async def test_every_event_type_is_acknowledged(desk: Desk) -> None:
    posted = await desk.slack.post("alerts", "hello", user="bob")
    await desk.slack.react("alerts", posted["ts"], "eyes", user="bob")
    await desk.slack.edit("alerts", posted["ts"], text="hello again")
    await desk.slack.delete("alerts", posted["ts"])
    await desk.slack.idle()
    assert all(not d["reason"] for d in desk.slack.deliveries("message"))
    assert all(r.body is None for r in desk.inbox.kept)


async def test_the_picker_leads_to_the_modal(desk: Desk) -> None:
    ts = await desk.alert("unknown-ledger-drift")
    assert (await desk.slack.slash("alerts", "/resolve", user="alice")).acked
    await desk.slack.wait_until(lambda: desk.slack.view("alice"))
    incident_id = await desk.memory.incidents.find_incident("C0ALERTS", ts)
    picked = await desk.slack.submit_view({ids.INCIDENT: incident_id}, user="alice")
    assert picked.errors == {}
    view = desk.slack.view("alice")
    assert view is not None
    assert view["callback_id"] == ids.RESOLVE_VIEW
    assert (await desk.slack.submit_view(SAID, user="alice")).errors == {}
    await desk.work()
    assert len(desk.slack.replies("C0ALERTS", ts)) == 2


@pytest.mark.parametrize("form", ["{id}", "{number}", "{link}", "<{link}>"])
async def test_resolve_takes_an_id_or_a_link(office: Desk, form: str) -> None:
    ts = await office.alert("unknown-ledger-drift")
    incident_id = await office.memory.incidents.find_incident("C0ALERTS", ts) or ""
    link = f"https://playground.slack.com/archives/C0ALERTS/p{ts.replace('.', '')}?thread_ts={ts}&cid=C0ALERTS"
    said = form.format(id=incident_id.lower(), number=incident_id.split("-")[1], link=link)
    await office.slack.slash("alerts", "/resolve", said, user="alice")
    view = await office.slack.wait_until(lambda: office.slack.view("alice"))
    assert view is not None
    assert incident_id in json.dumps(view)


@pytest.mark.parametrize(
    "said", ["INC-999", "nonsense <!channel>", "https://x.slack.com/archives/C9/p1790000000000100"]
)
async def test_resolve_of_something_unknown_says_so(office: Desk, said: str) -> None:
    await office.slack.slash("alerts", "/resolve", said, user="alice")
    told = await office.whisper()
    assert "no incident" in told
    assert "<!channel>" not in told


async def test_private_incidents_are_acted_on_only_from_their_channel(office: Desk) -> None:
    ts = await office.alert("unknown-ledger-drift", "C0SECRET")
    incident_id = await office.memory.incidents.find_incident("C0SECRET", ts) or ""
    await office.slack.slash("alerts", "/resolve", incident_id, user="alice")
    assert "no incident" in await office.whisper()
    await office.slack.slash("alerts", "/incidents", user="bob")
    assert incident_id not in await office.whisper("bob")
    await office.slack.slash("sec-incidents", "/incidents", user="alice")
    await office.slack.wait_until(lambda: len(office.slack.ephemerals("alice")) == 2)
    assert incident_id in await office.whisper()


async def test_a_message_without_an_incident_becomes_one(desk: Desk) -> None:
    posted = await desk.slack.post("alerts", "checkout is *slow* since &lt;noon&gt;", user="bob")
    await desk.slack.shortcut(ids.RESOLVE_FROM_MESSAGE, "alerts", posted["ts"], user="alice")
    await desk.slack.wait_until(lambda: desk.slack.view("alice"))
    assert (await desk.slack.submit_view(SAID, user="alice")).errors == {}
    await desk.work()
    incident_id = await desk.memory.incidents.find_incident("C0ALERTS", posted["ts"])
    record = await desk.memory.incidents.read_record(incident_id or "")
    assert record.title == "checkout is *slow* since <noon>"
    assert record.source.url == f"https://playground.slack.com/archives/C0ALERTS/p{posted['ts'].replace('.', '')}"
    assert len(desk.slack.replies("C0ALERTS", posted["ts"])) == 1


async def test_an_alert_that_was_never_answered_keeps_its_identity(office: Desk) -> None:
    desk = office
    await desk.slack.leave("alerts")
    ts = await desk.alert("unknown-ledger-drift")
    await desk.slack.invite("alerts", inviter="alice")
    assert desk.slack.replies("C0ALERTS", ts) == []
    await desk.slack.shortcut(ids.RESOLVE_FROM_MESSAGE, "alerts", ts, user="alice")
    await desk.slack.wait_until(lambda: desk.slack.view("alice"))
    assert (await desk.slack.submit_view(SAID, user="alice")).errors == {}
    again = await desk.alert("unknown-ledger-drift")
    assert "1. Flush the ledger cache" in json.dumps(desk.brief(again)["blocks"])


async def test_a_message_where_the_bot_is_no_member_asks_for_an_invitation(office: Desk) -> None:
    await office.slack.fail("channel_not_found", "conversations.info")
    posted = await office.slack.post("alerts", "slow", user="bob")
    await office.slack.shortcut(ids.RESOLVE_FROM_MESSAGE, "alerts", posted["ts"], user="alice")
    assert "Invite me to this channel first" in await office.whisper()


async def test_the_shortcut_on_a_brief_opens_its_incident(office: Desk) -> None:
    ts = await office.alert("unknown-ledger-drift")
    incident_id = await office.memory.incidents.find_incident("C0ALERTS", ts) or ""
    await office.slack.shortcut(ids.RESOLVE_FROM_MESSAGE, "alerts", office.brief(ts)["ts"], user="alice")
    view = await office.slack.wait_until(lambda: office.slack.view("alice"))
    assert view is not None
    assert decode(view["private_metadata"]) == {"i": incident_id, "c": "C0ALERTS", "ts": ts}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("payment gateway 504 timeout vendor:razorpay", "You asked: payment gateway 504 timeout vendor:razorpay"),
        ("", "Say what is happening"),
        ("504 limit:99", "a number from 1 to 10"),
        ("504 since:yesterday", "12h, 30d, 2w or a date"),
        ("504 since:2026-01-01 limit:2", "You asked: 504 since:2026-01-01 limit:2"),
    ],
)
async def test_recall_answers_the_asker_alone(office: Desk, said: str, expected: str) -> None:
    await office.seed()
    await office.slack.slash("alerts", "/recall", said, user="alice")
    assert expected in await office.whisper()
    assert office.slack.messages("C0ALERTS") == []


async def test_recall_of_a_message_leaves_out_its_own_incident(office: Desk) -> None:
    await office.seed()
    ts = await office.alert()
    await office.slack.click("alerts", office.brief(ts)["ts"], ids.FIXED, user="bob")
    await wait()
    await office.work()
    own = await office.memory.incidents.find_incident("C0ALERTS", ts) or ""
    await office.slack.shortcut(ids.RECALL_FROM_MESSAGE, "alerts", ts, user="alice")
    told = await office.whisper()
    assert "RESOLUTION STEPS" in told
    assert f"{own} " not in told


async def test_recall_of_talk_and_of_nothing(office: Desk) -> None:
    await office.seed()
    talk = await office.slack.post("alerts", "razorpay payments answer 504", user="bob")
    await office.slack.shortcut(ids.RECALL_FROM_MESSAGE, "alerts", talk["ts"], user="alice")
    assert "You asked: razorpay payments answer 504" in await office.whisper()
    nothing = await office.slack.post("alerts", "<@U0BOB>", user="bob")
    await office.slack.shortcut(ids.RECALL_FROM_MESSAGE, "alerts", nothing["ts"], user="alice")
    await office.slack.wait_until(lambda: len(office.slack.ephemerals("alice")) == 2)
    assert "no text to recall by" in await office.whisper()


@pytest.mark.parametrize(
    ("command", "said", "expected"),
    [
        ("/digest", "", "the last 7d"),
        ("/digest", "30D", "the last 30d"),
        ("/digest", "forever", "Say for how long"),
        ("/digest", "12h", "Say for how long"),
        ("/digest", "999w", "Say for how long"),
        ("/incidents", "", "No open incidents"),
        ("/precedent", "", "/recall"),
        ("/precedent", "status", "writable"),
        ("/precedent", "frobnicate now", "I do not know “frobnicate”"),
    ],
)
async def test_commands_answer(office: Desk, command: str, said: str, expected: str) -> None:
    await office.slack.slash("alerts", command, said, user="alice")
    assert expected in await office.whisper()


async def test_home_hello_and_mentions(desk: Desk) -> None:
    await desk.alert("unknown-ledger-drift")
    await desk.slack.open_home(user="alice")
    await desk.slack.invite("random", inviter="alice")
    posted = await desk.slack.post("alerts", f"<@{desk.slack.bot_user}> what can you do?", user="bob")
    await desk.work()
    assert "Open incidents" in json.dumps(desk.slack.home("alice"))
    assert "in their thread" in json.dumps(desk.slack.messages("C0RANDOM"))
    (reply,) = desk.slack.replies("C0ALERTS", posted["ts"])
    assert "/precedent help" in json.dumps(reply["blocks"])


async def test_what_is_not_known_any_more_is_acknowledged_and_explained(unconnected: Desk) -> None:
    """Even where the explanation cannot be delivered."""
    action = {
        "type": "block_actions",
        "channel": {"id": "C0ALERTS"},
        "actions": [{"type": "button", "action_id": "old"}],
    }
    linked = action | {"actions": [{"type": "button", "action_id": "link", "url": "https://x.example"}]}
    view = {"type": "view_submission", "view": {"type": "modal", "callback_id": "old", "id": "V1"}}
    shortcut = {"type": "message_action", "callback_id": "old", "channel": {"id": "C0ALERTS"}, "message": {"ts": "1.1"}}
    for payload in (action, linked, view, shortcut):
        assert (await dispatch(unconnected, BASE | payload)).status == 200


async def test_an_unknown_command_gets_the_help(unconnected: Desk) -> None:
    url = f"{unconnected.slack.url}/response/none"
    command = {"response_url": url} | {
        "command": "/unknown",
        "text": "",
        "team_id": "T0",
        "channel_id": "C1",
        "user_id": "U1",
        "trigger_id": "1",
    }
    assert (await dispatch(unconnected, command)).status == 200


async def test_a_late_trigger_asks_to_try_again(office: Desk) -> None:
    await office.slack.fail("expired_trigger_id", "views.open")
    await office.slack.slash("alerts", "/resolve", user="alice")
    assert "took longer than Slack waits" in await office.whisper()


async def test_a_modal_about_nothing_is_refused(unconnected: Desk) -> None:
    view: dict[str, Any] = {
        "type": "modal",
        "callback_id": ids.RESOLVE_VIEW,
        "id": "V1",
        "private_metadata": "{}",
        "blocks": [],
    }
    answer = await dispatch(unconnected, BASE | {"type": "view_submission", "view": view})
    assert "about no incident I know" in answer.body
    view = view | {"callback_id": ids.PICK_VIEW, "state": {"values": {}}}
    answer = await dispatch(unconnected, BASE | {"type": "view_submission", "view": view})
    assert "Choose an incident" in answer.body


def test_everything_about_a_request_is_logged_under_one_id() -> None:
    assert build_correlation_id({"event_id": "Ev1"}) == "Ev1"
    assert build_correlation_id({"a": 1}) == build_correlation_id({"a": 1}) != build_correlation_id({"a": 2})
