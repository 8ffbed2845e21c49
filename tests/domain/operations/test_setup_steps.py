"""The order of the walk, and what an event or its absence means."""

from __future__ import annotations

import pytest

from bot.domain.operations.setup_steps import (
    Proof,
    ProvenEvent,
    SetupStep,
    SilenceFacts,
    SlackConnection,
    explain_silence,
    find_next_step,
    infer_connection,
    list_steps,
    read_connection,
    read_proof,
    read_yes,
)


def test_each_way_asks_for_its_own_secret_alone() -> None:
    assert SetupStep.SIGNING_SECRET not in list_steps(None)
    assert set(list_steps(SlackConnection.HTTP)) ^ set(list_steps(SlackConnection.SOCKET)) == {
        SetupStep.APP_TOKEN,
        SetupStep.SIGNING_SECRET,
    }


def test_the_first_step_that_is_left_is_next() -> None:
    done: set[SetupStep] = set()
    order = []
    while step := find_next_step(SlackConnection.HTTP, frozenset(done)):
        order.append(step)
        done.add(step)
    assert order == list(list_steps(SlackConnection.HTTP))
    assert find_next_step(None, frozenset()) is SetupStep.WAY
    assert find_next_step(SlackConnection.SOCKET, frozenset({SetupStep.WAY, SetupStep.BOT_TOKEN})) is SetupStep.APP


def test_settings_tell_the_way() -> None:
    told = [infer_connection(has_app_token=a, has_signing_secret=s) for a in (True, False) for s in (True, False)]
    assert told == [SlackConnection.SOCKET, SlackConnection.SOCKET, SlackConnection.HTTP, None]


@pytest.mark.parametrize(
    ("answer", "way"),
    [
        ("", SlackConnection.SOCKET),
        (" 1 ", SlackConnection.SOCKET),
        ("Socket", SlackConnection.SOCKET),
        ("2", SlackConnection.HTTP),
        ("HTTP", SlackConnection.HTTP),
        ("3", None),
    ],
)
def test_a_way_is_read(answer: str, way: SlackConnection | None) -> None:
    assert read_connection(answer) is way


def test_yes_and_no_are_read() -> None:
    said = [read_yes(a, default=True) for a in ("", "y", "YES", "n", "no", "maybe")]
    assert said == [True, True, True, False, False, None]
    assert read_yes(" ", default=False) is False


JOINED = {"type": "member_joined_channel", "user": "U0BOT", "channel": "C1"}


@pytest.mark.parametrize(
    ("event", "channel", "proof"),
    [
        (JOINED, None, ProvenEvent(Proof.INVITED, "C1")),
        (JOINED | {"user": "U0ELSE"}, "C1", None),
        ({"type": "message", "channel": "C1"}, "C1", ProvenEvent(Proof.MESSAGE, "C1")),
        ({"type": "message", "channel": "C2"}, "C1", None),
        ({"type": "message"}, None, None),
        ({"type": "reaction_added", "channel": "C1"}, "C1", None),
    ],
)
def test_an_event_proves_what_it_says(event: dict[str, str], channel: str | None, proof: ProvenEvent | None) -> None:
    assert read_proof(event, "U0BOT", channel) == proof


def test_silence_has_its_reasons() -> None:
    (unseen,) = explain_silence(SilenceFacts(is_member=None), "x", 60)
    (outside,) = explain_silence(SilenceFacts(is_member=False), "x", 60)
    (deaf,) = explain_silence(SilenceFacts(is_member=True), "x", 0.5)
    (other,) = explain_silence(SilenceFacts(is_member=True, connections=2), "x", 0.5)
    assert explain_silence(SilenceFacts(is_member=False, connections=2), "x", 0.5)[1:] == (outside,)
    assert "sees no channel #x" in unseen
    assert "is not in #x: type /invite" in outside
    assert "2 connections open" in other
    assert "within 0.5 s" in deaf
    assert "Event Subscriptions" in deaf
