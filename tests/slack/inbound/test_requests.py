"""JSON of any shape where Slack's is expected: it is read or refused, and never an error of ours."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.parsers import read
from bot.ports.errors import RecordRejected
from bot.slack import ids
from bot.slack.inbound.events import OwnIdentity, receive
from bot.slack.inbound.requests import build_bolt_request, sanitize_body
from bot.slack.listeners.resolve import unpack_alert
from bot.slack.payload import read_text
from bot.slack.views import resolve_modal
from bot.workflows.resolutions.resolve import Resolution

KEYS = st.sampled_from([
    "type", "subtype", "channel", "ts", "text", "user", "message", "previous_message", "bot_id", "thread_ts", "blocks",
    "attachments", "event_ts", "channel_type", "deleted_ts", "tab", "metadata", "root", "files", "id", "fields",
])  # fmt: skip
WORDS = st.sampled_from([
    "message", "app_mention", "message_changed", "message_deleted", "bot_message", "member_joined_channel", "C1", "1.1",
    "app_home_opened", "[FIRING:1] X (prod critical)", "\ud800", "\x00", "<@UUS>", "im", "value", "recovered", "",
])  # fmt: skip
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | WORDS | st.text(max_size=8)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS | st.text(max_size=4), inner),
    max_leaves=12,
)
EVENTS = st.dictionaries(KEYS, JSON) | JSON
QUICK = settings(max_examples=150, deadline=None, derandomize=True)


@QUICK
@given(EVENTS, JSON, JSON, st.booleans())
def test_any_event_is_kept_or_dropped(event: Any, event_id: Any, authorizations: Any, known: bool) -> None:
    body = {"type": "event_callback", "event_id": event_id, "authorizations": authorizations, "event": event}
    kept = receive(body, read, OwnIdentity("BUS", "UUS") if known else None)
    if kept is not None:
        for name in (kept.event_id, kept.natural_key, kept.kind):
            assert name.isascii()
            assert name.isprintable()
        if kept.body is not None and kept.kind in {"message", "app_mention", "joined"}:
            assert isinstance(kept.body["event"]["channel"], str)


BLOCKS = st.sampled_from([ids.OUTCOME, ids.FIX, ids.BOUNDARY, ids.FAILED_CHECKS, ids.KNOWN_FIX, "x"])
INPUTS = st.dictionaries(st.just(ids.INPUT), st.fixed_dictionaries({"value": JSON, "selected_option": JSON}) | JSON)
VIEWS = st.fixed_dictionaries(
    {},
    optional={
        "state": JSON | st.fixed_dictionaries({"values": st.dictionaries(BLOCKS, INPUTS | JSON) | JSON}),
        "private_metadata": JSON | st.sampled_from(['{"i":5}', '{"i":"INC-1"}', "[1]", "[" * 3000]),
        "blocks": JSON | st.lists(st.fixed_dictionaries({"type": st.just("input"), "block_id": JSON}), max_size=3),
    },
)


@QUICK
@given(VIEWS)
def test_any_view_is_a_resolution_or_is_refused(view: dict[str, Any]) -> None:
    problem: Exception | None = None
    try:
        assert isinstance(resolve_modal.read_submission(view), Resolution)
    except RecordRejected as refused:
        problem = refused
    field = problem.field if isinstance(problem, RecordRejected) else ""
    assert isinstance(resolve_modal.find_block(field, view), str)


@QUICK
@given(st.dictionaries(st.sampled_from(["tool", "fingerprint", "severity", "labels", "title", "text"]), JSON))
def test_any_packed_alert_is_an_alert_or_left_out(values: dict[str, Any]) -> None:
    found = unpack_alert(values)
    assert (found is None) == (not read_text(values, "tool") or not read_text(values, "fingerprint"))


@QUICK
@given(st.dictionaries(KEYS | st.sampled_from(["event", "view", "actions", "team", "authorizations"]), JSON) | JSON)
def test_any_body_is_a_request_or_none(body: Any) -> None:
    request = build_bolt_request(body)
    assert (request is not None) == isinstance(body, dict)


def test_what_slack_documents_stays_as_it_is() -> None:
    body = {
        "event_id": "Ev1",
        "event": {"type": "message", "channel": "C1", "user": "U1", "text": "hi", "blocks": [{"type": "x", "text": 5}]},
        "authorizations": [{"user_id": "U1", "is_bot": True}],
        "actions": [{"action_id": "a", "value": "{}"}],
        "channel": {"id": "C1"},
        "is_ext_shared_channel": None,
    }
    assert sanitize_body(body) == body


def test_forged_values_are_no_alert() -> None:
    alert = unpack_alert({"tool": "t", "fingerprint": "f", "severity": {"a": 1}, "labels": [1]})
    assert alert is not None
    assert (alert.severity, alert.labels) == (None, {})
